package cli

import (
	"context"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
)

func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Example: "  tool version --json",
		Args:    cmdline.AtMost(),
		RunE: a.Run(func(context.Context, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{cmdline.Version(app.Version), runtime.Version(), runtime.GOOS, runtime.GOARCH}
			return a.Print("version", v, func(w *app.Printer) { w.Line("tool %s", v.Version) })
		}),
	}
}

func completionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:       "completion <shell>",
		Short:     "Print a completion script for bash, zsh, fish or powershell",
		Long:      "Print a completion script for a shell. It completes commands, flags, local\nprojects, hub projects and published stack versions. Bash needs the package\nbash-completion.",
		Example:   "  tool completion bash > /etc/bash_completion.d/tool\n  tool completion zsh > ~/.zfunc/_tool\n  tool completion fish > ~/.config/fish/completions/tool.fish\n  tool completion powershell >> $PROFILE",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdline.Usagef("%s needs <shell>", c.CommandPath()).Try(cmdline.Tool("completion", "bash"))
			}
			if err := cmdline.AtMost("<shell>")(c, args); err != nil {
				return err
			}
			return knownShell(args[0])
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.Run(func(context.Context, []string) error {
				return failure.Doing(writeCompletion(c.Root(), args[0], a.Streams.Out), "", "print the script for %s", args[0])
			})(c, args)
		},
	}
}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}

func knownShell(name string) error {
	switch name {
	case "bash", "zsh", "fish", "powershell":
		return nil
	}
	return cmdline.Usagef("there is no completion for %q: bash, zsh, fish and powershell have one", name).Try(cmdline.Tool("completion", "bash"))
}
