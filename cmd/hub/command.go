package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/hub/guide"
	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

// version is set at build time.
var version = ""

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// app is what every command works with.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	db       string
	json     bool
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, getenv func(string) string) int {
	a := &app{in: in, out: out, err: escaping{errOut}, getenv: getenv}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if _, ok := errors.AsType[*cmdline.UsageError](err); ok {
		for _, line := range cmdline.UsageLines(err, c.CommandPath(), cmdline.Line.String) {
			fmt.Fprintln(a.err, line)
		}
		return exitUsage
	}
	if !errors.Is(err, errProblems) {
		a.fail(err)
	}
	return exitFailed
}

// escaping escapes control characters and redacts tokens. The token that hub token
// create prints goes to stdout.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	_, err := io.WriteString(e.w, escape.Text(string(p)))
	return len(p), err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "hub",
		Short: "Serve projects, stacks and APIs to tool",
		Long: "hub stores projects with their configs and base files, stacks, API descriptions,\naccounts and tokens, " +
			"and serves them to tool and to browsers.",
		Example: "  hub serve\n  hub account create alice\n" +
			"  hub token create --user alice --name laptop --scope write:catalog",
		Version:           cmdline.Version(version),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              cmdline.NoCommand,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return cmdline.FromEnvironment(c, "HUB_", a.getenv) },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("hub {{.Version}}\n")
	cmdline.SetHelp(root, "Exit codes: 0 done, 1 failed, 2 usage")
	root.SetFlagErrorFunc(cmdline.FlagError)
	root.PersistentFlags().StringVar(&a.db, "db", defaultDB, "use this `DATABASE`: sqlite:PATH or postgres://… (HUB_DB)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document")
	root.PersistentFlags().BoolP("help", "h", false, "show this help")
	root.Flags().BoolP("version", "v", false, "show the version")
	cmdline.AddGroup(root, "Start:", a.serveCommand(),
		cmdline.Group("account", "Manage accounts",
			a.accountCreate(), a.accountList(), a.accountLink(), a.accountDisable(), a.accountEnable()),
		cmdline.Group("token", "Manage tokens", a.tokenCreate(), a.tokenList(), a.tokenRevoke()),
	)
	cmdline.AddGroup(root, "Work on the data:", a.migrateCommand(), a.backupCommand(), a.copyCommand(), a.fsckCommand(),
		a.gcCommand())
	cmdline.AddGroup(root, "Other:", a.auditCommand(),
		cmdline.Group("member", "Manage org members", a.memberSet(), a.memberList(), a.memberRemove()),
		cmdline.Group("stack", "Manage stacks", a.stackWithdraw()),
	)
	for _, g := range guide.All {
		root.AddCommand(cmdline.Topic(g.Name, g.Short, g.Text))
	}
	root.SetHelpCommand(cmdline.Help(root))
	return root
}

// result is what a command prints: a document with members as JSON, or a text. Without a kind it prints nothing.
type result struct {
	kind    string
	members any
	text    string
}

// errProblems is the failure of a command whose result says what it found.
var errProblems = errors.New("there are problems")

// command returns a command that runs run, and prints its result unless it fails.
func (a *app) command(
	use, short string, run func(ctx context.Context, args []string) (result, error),
) *cobra.Command {
	return cmdline.Command(use, short, func(c *cobra.Command, args []string) error {
		r, err := run(c.Context(), args)
		if err != nil && !errors.Is(err, errProblems) {
			return err
		}
		return cmp.Or(a.print(r), err)
	})
}

// hintedError is a failure with a hint, and perhaps command lines to type next.
type hintedError struct {
	err    error
	hint   string
	recipe []string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// hint adds to a failure what helps, and command lines to type next.
func hint(err error, text string, recipe ...string) error { return &hintedError{err, text, recipe} }

// fail prints a failure with what to do about it.
func (a *app) fail(err error) {
	switch {
	case errors.As(err, new(*hintedError)):
	case errors.As(err, new(*store.MissingError)):
		err = hint(err, "create it with hub serve or hub migrate, or give its address with --db or HUB_DB")
	case errors.Is(err, store.ErrSchemaRights):
		err = hint(err, "run hub migrate of this release with a role that owns the tables, then start this hub again")
	case errors.Is(err, store.ErrInUse):
		err = hint(err, "stop it first, or give another database with --db or HUB_DB")
	case errors.As(err, new(*store.NoAccountError)):
		err = hint(err, "list all accounts, or create one with hub account create", a.line(cmdline.Hub("account", "list")))
	case errors.Is(err, store.ErrSchemaOld):
		err = hint(err, "update it", a.line(cmdline.Hub("migrate")))
	case errors.Is(err, store.ErrRights):
		err = hint(err, "give the role its rights, or use another one", cmdline.Hub("help", "postgres").String())
	case errors.Is(err, store.ErrDamaged):
		err = hint(err, "list what is damaged, and what to do about it", a.line(cmdline.Hub("fsck")))
	}
	hinted := &hintedError{}
	errors.As(err, &hinted)
	members := struct {
		Reason string   `json:"reason"`
		Hint   string   `json:"hint,omitzero"`
		Recipe []string `json:"recipe,omitzero"`
	}{pat.Redact(err.Error()), hinted.hint, hinted.recipe}
	if a.json && a.print(result{"failed", members, ""}) == nil {
		return
	}
	fmt.Fprintf(a.err, "error: %v\n", err)
	if hinted.hint != "" {
		fmt.Fprintln(a.err, "  hint:", hinted.hint)
	}
	for _, line := range hinted.recipe {
		fmt.Fprintln(a.err, "  try:", line)
	}
}

// print prints a result. In JSON, its type and schema come before its members.
func (a *app) print(r result) error {
	if r.kind == "" {
		return nil
	}
	if a.json {
		members, err := wire.Encode(r.members)
		if err != nil {
			return err
		}
		document, err := wire.Encode(struct {
			Type    string         `json:"type"`
			Schema  int            `json:"schema"`
			Members jsontext.Value `json:",embed"`
		}{r.kind, 1, members})
		if err != nil {
			return err
		}
		r.text = escape.JSON(string(document))
	}
	if _, err := fmt.Fprintln(a.out, r.text); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

// table returns rows of cells in aligned columns, escaped.
func table(head string, rows [][]string) string {
	if len(rows) == 0 {
		return "Nothing found"
	}
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, head)
	for _, row := range rows {
		for i := range row {
			row[i] = escape.Line(row[i])
		}
		fmt.Fprint(t, "\n", strings.Join(row, "\t"))
	}
	_ = t.Flush() // to memory
	return text.String()
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
