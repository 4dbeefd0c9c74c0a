package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
)

// root returns the whole command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tool",
		Short: "Create, push, pull and publish projects on a hub",
		Long: `tool keeps a project's settings in your repository and brings them to a hub,
where others edit them on a web page and apps are generated from them.

Alone in a terminal it shows how the local projects stand, and what can be done.`,
		Example: `  tool login --origin https://hub.example.com
  tool init web
  tool publish web
  tool project create web
  tool push web`,
		Version:           cmdline.Version(Version),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              cmdline.NoCommand,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.json:
				return cmdline.Usagef("tool needs a command").Try(cmdline.Tool("status").Flag("--json"))
			case a.strict():
				return c.Help()
			}
			return a.run(func(ctx context.Context, _ []string) error { return a.home(ctx) })(c, args)
		},
		PersistentPreRunE: a.begin,
	}
	root.SetVersionTemplate("tool {{.Version}}\n")
	root.SetFlagErrorFunc(cmdline.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetUsageFunc(func(c *cobra.Command) error { return writeUsage(c.OutOrStderr(), c) })
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(c.OutOrStdout(), c) })
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&a.json, "json", false, "print one JSON document and ask nothing")
	f.BoolVar(&a.noInput, "no-input", false, "ask nothing")
	f.StringVarP(&a.dir, "directory", "C", ".", "work in `DIR` instead of the current directory")
	f.Lookup("directory").DefValue = "" // the text says it
	root.RegisterFlagCompletionFunc("directory", directories)
	f.DurationVar(&a.timeout, "timeout", hubclient.DefaultTimeout, "give up after `TIME` without a byte moving")
	f.BoolVar(&a.verbose, "verbose", false, "show every call to the hub on stderr")
	f.BoolP("help", "h", false, "show this help")
	root.Flags().Bool("version", false, "show the version")
	root.AddGroup(
		&cobra.Group{ID: "start", Title: "Start:"},
		&cobra.Group{ID: "work", Title: "Work on a project:"},
		&cobra.Group{ID: "other", Title: "Other:"},
	)
	add := func(id string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	add("start", a.loginCommand(), a.logoutCommand(), a.initCommand())
	add("work", a.statusCommand(), a.publishCommand(), a.projectCommand(), a.pushCommand(), a.pullCommand())
	add("other", a.completionCommand(), a.versionCommand())
	root.AddCommand(topics()...)
	root.SetHelpCommand(helpCommand(root))
	return root
}

// begin runs before every command.
func (a *app) begin(c *cobra.Command, _ []string) error {
	a.command = commandOf(c)
	if a.timeout <= 0 {
		return cmdline.Usagef("--timeout is a time above nothing, such as 30s or 2m")
	}
	if err := checkDirectory(a.dir); err != nil {
		return &runError{failure.Doing(failure.At(flow.StageRead, err), "", "%s", a.command)}
	}
	if a.origin.value != nil {
		if _, err := hubclient.ParseOrigin(*a.origin.value); err != nil {
			return cmdline.Usagef("--origin: %v", err)
		}
	}
	return nil
}

// checkDirectory wants the directory of -C to be one.
func checkDirectory(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return failure.New(failure.CodeNoWorkspace, "the directory %s cannot be worked in: %w", dir, failure.Cause(err))
	}
	return nil
}

// hubFlags adds the flags of a command that calls the hub.
func (a *app) hubFlags(c *cobra.Command) *cobra.Command {
	c.Flags().Var(&a.origin, "origin", "hub's `ADDRESS`, scheme://host[:port] ("+identity.OriginVariable+")")
	c.RegisterFlagCompletionFunc("origin", a.origins)
	c.Flags().Var(&a.token, "token", "personal access `TOKEN` ("+identity.TokenVariable+")")
	return c
}

// optional is a text flag that knows whether it was given.
type optional struct{ value *string }

func (o *optional) Set(s string) error { o.value = &s; return nil }
func (o *optional) Type() string       { return "string" }
func (o *optional) given() bool        { return o.value != nil }
func (o *optional) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

// maybeLocal allows the name of a local project. An empty one is a variable that
// was not set, and means nobody's project.
func maybeLocal(c *cobra.Command, args []string) error {
	if len(args) > 0 && args[0] == "" {
		return emptyLocal("<project>")
	}
	return cmdline.AtMost("<project>")(c, args)
}

func emptyLocal(what string) error {
	return cmdline.Usagef("%s is empty: it is a directory under .tool", what)
}

// roots returns the certificates to trust: the system's and those of TOOL_CA_FILE.
func (a *app) roots() (*x509.CertPool, error) {
	file := a.getenv("TOOL_CA_FILE")
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, failure.New(failure.CodeInvalidFile, "TOOL_CA_FILE: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, failure.New(failure.CodeInvalidFile, "TOOL_CA_FILE: %s holds no certificate in PEM form", file)
	}
	return pool, nil
}

// trace shows one call to the hub, never a header or a body.
func (a *app) trace(t hubclient.Attempt) {
	status := "no answer"
	if t.Status != 0 {
		status = fmt.Sprint(t.Status)
	}
	a.diagnose("%s %s %s %v %s", t.Method, t.Path, status, t.Took.Round(time.Millisecond), t.RequestID)
}
