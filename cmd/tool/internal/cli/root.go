// Package cli is the command line of tool: the root command, help, completion and the
// home view. It assembles the commands, and is the only package that sees several.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/guide"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/command/admin"
	"example.com/projecthub/cmd/tool/internal/command/api"
	"example.com/projecthub/cmd/tool/internal/command/check"
	"example.com/projecthub/cmd/tool/internal/command/create"
	"example.com/projecthub/cmd/tool/internal/command/diff"
	"example.com/projecthub/cmd/tool/internal/command/history"
	"example.com/projecthub/cmd/tool/internal/command/initialize"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/preview"
	"example.com/projecthub/cmd/tool/internal/command/project"
	"example.com/projecthub/cmd/tool/internal/command/publish"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/cmd/tool/internal/command/status"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/term"
)

// Main runs one command line and returns its exit code.
func Main(args []string, lookupEnv func(string) (string, bool), streams term.Streams) int {
	if slices.Equal(args, []string{"--version"}) { // the one question that needs no command tree
		fmt.Fprintln(streams.Out, "tool", cmdline.Version(app.Version))
		return 0
	}
	a := app.New(lookupEnv, streams)
	return a.Execute(root(a), args)
}

// Tree returns the command tree, for man pages and completion scripts.
func Tree() *cobra.Command { return root(app.New(os.LookupEnv, term.Streams{})) }

// root returns the whole command tree.
func root(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "tool",
		Short: "Create, push, pull and publish projects on a hub",
		Long: `tool keeps a project's settings in your repository and pushes them to a hub,
where others edit them on a web page and apps are generated from them.

Without a command, in a terminal, it shows the status of the local projects and
the available actions.`,
		Example: `  tool login --origin https://hub.example.com
  tool init web
  tool publish web
  tool project create web
  tool push web`,
		Version:           cmdline.Version(app.Version),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              noCommand,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.JSON:
				return cmdline.Usagef("tool needs a command").Try(cmdline.Tool("status").Flag("--json"))
			case a.Strict():
				return c.Help()
			}
			return a.Run(func(ctx context.Context, _ []string) error { return home(ctx, a) })(c, args)
		},
		PersistentPreRunE: a.Begin,
	}
	root.SetVersionTemplate("tool {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	cmdline.SetHelp(root, "Exit codes: 0 done, 1 failed, 2 usage; more in tool help exit-codes")
	a.GlobalFlags(root)
	a.Merge = pull.Merge
	root.Flags().Bool("version", false, "show the version")
	cmdline.AddGroup(root, "Commands:", login.Command(a), initialize.Command(a), publish.Command(a),
		project.Command(a, create.Command(a, publish.Local)),
		status.Command(a), push.Command(a), pull.Command(a), history.LogCommand(a))
	cmdline.AddGroup(root, "Administration:", admin.Member(a), admin.Bot(a), admin.RateLimit(a), admin.Token(a))
	cmdline.AddGroup(root, "More:", diff.Command(a), check.Command(a), preview.Command(a), history.ShowCommand(a),
		history.RestoreCommand(a), api.Command(a), login.LogoutCommand(a), completionCommand(a), versionCommand(a))
	root.AddCommand(topics()...)
	root.SetHelpCommand(cmdline.Help(root))
	return root
}

// version is the version of the program, and what it was built with and for.
type version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (*version) Kind() string          { return "version" }
func (v *version) Text(w *app.Printer) { w.Line("tool %s", v.Version) }

func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Example: "  tool version --json",
		Args:    cmdline.AtMost(),
		RunE: a.Run(func(context.Context, []string) error {
			return a.Show(&version{
				Version: cmdline.Version(app.Version),
				Go:      runtime.Version(),
				OS:      runtime.GOOS,
				Arch:    runtime.GOARCH,
			})
		}),
	}
}

// shells are what writes the completion script of each shell.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

func completionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "completion <shell>",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `Print a completion script for a shell. It completes commands, flags, local
projects, and the hub's projects and APIs. Bash needs the package
bash-completion.`,
		Example: `  tool completion bash > /etc/bash_completion.d/tool
  tool completion zsh > ~/.zfunc/_tool
  tool completion fish > ~/.config/fish/completions/tool.fish
  tool completion powershell >> $PROFILE`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(c *cobra.Command, args []string) error {
			bash := cmdline.Tool("completion", "bash")
			if len(args) == 0 {
				return cmdline.Usagef("%s needs <shell>", c.CommandPath()).Try(bash)
			}
			if shells[args[0]] == nil && len(args) == 1 {
				return cmdline.Usagef("there is no completion for %q: bash, zsh, fish and powershell have one", args[0]).
					Try(bash)
			}
			return cmdline.AtMost("<shell>")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.Run(func(context.Context, []string) error {
				err := shells[args[0]](c.Root(), a.Streams.Out)
				return failure.Doing(err, "", "print the script for %s", args[0])
			})(c, args)
		},
	}
}

// tried maps names of other programs' commands, which people try here, to what does the same.
var tried = map[string]cmdline.Line{
	"whoami":   cmdline.Tool("status"),
	"hosts":    cmdline.Tool("status"),
	"auth":     cmdline.Tool("login"),
	"ls":       cmdline.Tool("project", "list"),
	"new":      cmdline.Tool("project", "create"),
	"delete":   cmdline.Tool("project", "rm"),
	"clone":    cmdline.Tool("pull"),
	"deploy":   cmdline.Tool("push"),
	"history":  cmdline.Tool("log"),
	"open":     cmdline.Tool("project", "view").Flag("--web"),
	"edit":     cmdline.Tool("project", "view").Flag("--web"),
	"rollback": cmdline.Tool("log"), // restore needs one of the revisions that it lists
	"env":      cmdline.Tool("status"),
	"undo":     cmdline.Tool("push").Flag("--undo"),
	"revert":   cmdline.Tool("log"),
	"merge":    cmdline.Tool("pull"),
	"link":     cmdline.Tool("pull"),
	"switch":   cmdline.Tool("login"),
	"invite":   cmdline.Tool("member", "invite"),
	"lint":     cmdline.Tool("check"),
	"validate": cmdline.Tool("check"),
	"dev":      cmdline.Tool("preview").Flag("--local"),
}

const restoreHint = "restore a revision of the log with tool restore, or undo your last push with tool push --undo"

// hints say more about some of them.
var hints = map[string]string{
	"edit":     "edit the settings in .tool/<project>/client.json, or on the project's page",
	"rollback": restoreHint,
	"revert":   restoreHint,
	"switch":   "tool login --origin ADDRESS makes a hub that you are logged in to the current one",
	"env":      "use an environment with --env NAME: tool help environments",
}

// noCommand rejects an argument where a command of tool was expected, and says what to type instead.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		typed := args[0]
		line, ok := tried[args[0]]
		if args[0] == "auth" && len(args) > 1 {
			// As in: gh auth status
			if sub, _, err := c.Find(args[1:]); err == nil && sub.Name() == args[1] && sub.IsAvailableCommand() {
				line = cmdline.Tool(args[1])
			}
			args = args[1:]
		}
		if sub, _, err := c.Find([]string{"project", typed}); err == nil && sub.Name() == typed {
			line, ok = cmdline.Tool("project", typed), true
		}
		if ok {
			e := cmdline.Usagef("tool has no command %q: did you mean %s?", typed, strings.Join(line.Words, " ")).
				Try(line.With(args[1:]...))
			e.Hint = hints[typed]
			return e
		}
	}
	return cmdline.NoCommand(c, args)
}

// topics returns the help that belongs to no command.
func topics() []*cobra.Command {
	var list []*cobra.Command
	for _, g := range guide.All {
		list = append(list, cmdline.Topic(g.Name, g.Short, func() string {
			return strings.ReplaceAll(g.Text(), "DEFAULT_ORIGIN", identity.DefaultOrigin)
		}))
	}
	return list
}
