package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

// version is set at build time; else it is the module's.
var version = ""

func hubVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "0.0.0-dev"
}

// defaultDB is where a hub keeps everything unless told otherwise.
const defaultDB = "sqlite:hub-data/hub.db"

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

// usageError is a command line that cannot be understood.
type usageError struct {
	err    error
	recipe string // the line that would do
}

func (e *usageError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, getenv func(string) string) int {
	errOut = escaping{errOut}
	a := &app{in: in, out: out, err: errOut, getenv: getenv}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	c, err := root.ExecuteContextC(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "error: %v\n", err)
		if usage.recipe != "" {
			fmt.Fprintf(errOut, "  try: %s\n", usage.recipe)
		}
		fmt.Fprintf(errOut, "  help: %s --help\n", c.CommandPath())
		return exitUsage
	}
	a.fail(err)
	return exitFailed
}

// escaping writes what a terminal would act on as escapes, and no whole token. The
// one that hub token create prints goes to stdout.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	_, err := io.WriteString(e.w, escape.Text(string(p)))
	return len(p), err
}

// hintedError is a failure with what helps.
type hintedError struct {
	err          error
	hint, recipe string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// line returns a command line with the database that this command was given. An
// address may hold a password, which is not shown.
func (a *app) line(l cmdline.Line) cmdline.Line {
	if path := store.Path(a.db); a.db != defaultDB && path != "" {
		return l.Flag("--db", "sqlite:"+path)
	}
	return l
}

func (a *app) fail(err error) {
	hint, recipe := "", ""
	var hinted *hintedError
	var missing *store.MissingError
	var noAccount *store.NoAccountError
	switch {
	case errors.As(err, &hinted):
		hint, recipe = hinted.hint, hinted.recipe
	case errors.As(err, &missing):
		hint = "hub serve and hub migrate create one; --db or HUB_DB says where it is"
	case errors.As(err, &noAccount):
		hint = "hub account list tells which there are, and hub account create makes one"
	}
	if a.json {
		failed := map[string]any{"type": "failed", "schema": 1, "reason": pat.Redact(err.Error())}
		if hint != "" {
			failed["hint"] = hint
		}
		if recipe != "" {
			failed["recipe"] = []string{recipe}
		}
		a.print(failed, nil)
		return
	}
	fmt.Fprintf(a.err, "error: %v\n", err)
	if hint != "" {
		fmt.Fprintln(a.err, "  hint:", hint)
	}
	if recipe != "" {
		fmt.Fprintln(a.err, "  try:", recipe)
	}
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "hub",
		Short: "Serve projects, stacks and APIs to tool",
		Long: "hub keeps projects, their config and base files, the stacks and API descriptions\nthey bind, " +
			"and the accounts and tokens of those who may change them.",
		Example:           "  hub serve\n  hub account create alice\n  hub token create --user alice --name laptop --scope write:catalog",
		Version:           hubVersion(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              noSuchCommand,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.fromEnvironment(c) },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("hub {{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err: flagError(err)} })
	root.PersistentFlags().StringVar(&a.db, "db", defaultDB, "`DATABASE`: sqlite:PATH or postgres://… (HUB_DB)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document")
	root.AddCommand(a.serveCommand(), a.migrateCommand(), a.gcCommand(), a.accountCommand(), a.memberCommand(), a.tokenCommand())
	return root
}

// group returns a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noSuchCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(commands...)
	return c
}

// noSuchCommand refuses an argument where a command was expected.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &usageError{err: fmt.Errorf("%s has no command %q", c.CommandPath(), args[0])}
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		e.err = fmt.Errorf("%w: did you mean %s?", e.err, near[0])
		path := strings.Fields(c.CommandPath())
		e.recipe = cmdline.Hub(append(path[1:], near[0])...).With(args[1:]...).String()
	}
	return e
}

// exactly wants one argument for each name, and says which is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s needs %s", c.CommandPath(), strings.Join(names[len(args):], " and "))
		}
		if len(args) > len(names) {
			return usagef("%s does not take %q", c.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// fromEnvironment sets every flag that was not given from its variable: HUB_ and
// the flag's name in capitals. An empty variable is unset; one for a flag that
// repeats holds several values, separated by commas.
func (a *app) fromEnvironment(c *cobra.Command) error {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := "HUB_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := a.getenv(name)
		if value == "" || f.Changed || err != nil {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if e := c.Flags().Set(f.Name, v); e != nil && err == nil {
				err = usagef("%s: %w", name, flagError(e))
			}
		}
	})
	return err
}

// flagError says which values a flag takes.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	f := invalid.GetFlag()
	takes := map[string]string{"bool": "true or false", "duration": "a time, such as 90m or 24h"}[f.Value.Type()]
	if takes == "" { // the flag itself says it
		return fmt.Errorf("--%s: %w", f.Name, errors.Unwrap(invalid))
	}
	return fmt.Errorf("--%s is %s, not %q", f.Name, takes, invalid.GetValue())
}

// print writes v as JSON, or what text writes.
func (a *app) print(v any, text func(io.Writer)) error {
	out := &checked{w: a.out}
	if !a.json {
		text(out)
		return out.err
	}
	encoded, err := wire.Encode(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", encoded)
	return out.err
}

// checked remembers that something could not be written.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("write to stdout: %w", err)
	}
	return n, err
}

// open opens the database. Its failure names the file, which the driver's does not;
// the address of a server may hold a password.
func (a *app) open(ctx context.Context, o store.Options) (*store.Store, error) {
	s, err := store.Open(ctx, a.db, o)
	if errors.Is(err, store.ErrAddress) {
		return nil, usagef("--db: %w", err)
	}
	if path := store.Path(a.db); err != nil && path != "" && !strings.Contains(err.Error(), path) {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return s, err
}

// withStore runs f with the database, which has to be there and up to date.
func (a *app) withStore(ctx context.Context, f func(*store.Store) error) error {
	s, err := a.open(ctx, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}
	return f(s)
}

// write runs f in a transaction, together with the audit row for it.
func (a *app) write(ctx context.Context, row store.AuditRow, f func(*store.Tx) error) error {
	return a.change(ctx, row, func(tx *store.Tx) (bool, error) { return true, f(tx) })
}

// change is write for an f that may find nothing to do, of which there is no row.
func (a *app) change(ctx context.Context, row store.AuditRow, f func(*store.Tx) (changed bool, err error)) error {
	return a.withStore(ctx, func(s *store.Store) error {
		return s.Write(ctx, func(tx *store.Tx) error {
			if changed, err := f(tx); err != nil || !changed {
				return err
			}
			row.Actor = "hub"
			return tx.Audit(ctx, row)
		})
	})
}
