package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

// version is set at build time.
var version = ""

// defaultDB is the database if --db and HUB_DB are not given.
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
	blobs    string // "": in the database
	json     bool
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
	var usage *cmdline.UsageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		for _, line := range cmdline.UsageLines(err, c.CommandPath(), cmdline.Line.String) {
			fmt.Fprintln(errOut, line)
		}
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailed
	}
	a.fail(err)
	return exitFailed
}

// escaping escapes control characters and redacts tokens. The token that hub token
// create prints goes to stdout.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	_, err := io.WriteString(e.w, escape.Text(string(p)))
	return len(p), err
}

// errReported is a failure that the command has printed.
var errReported = errors.New("what failed is printed")

// hintedError is a failure with a hint and a recipe.
type hintedError struct {
	err          error
	hint, recipe string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// hinted adds to a failure a hint, and the command to type next.
func (a *app) hinted(err error, hint string, l cmdline.Line) error {
	return &hintedError{err: err, hint: hint, recipe: a.line(l).String()}
}

// needEnabled fails if an account is disabled.
func (a *app) needEnabled(ctx context.Context, tx *store.Tx, account string) error {
	if found, err := tx.Account(ctx, account); err != nil || found.DisabledAt == 0 {
		return nil // that there is none is noticed later
	}
	return a.hinted(fmt.Errorf("account %s is disabled", account), "enable it", cmdline.Hub("account", "enable").With(account))
}

// line returns a command line with the database that this command was given.
func (a *app) line(l cmdline.Line) cmdline.Line {
	if a.db == defaultDB || store.Path(a.db) == "" && a.db == a.getenv("HUB_DB") {
		return l
	}
	return l.Flag("--db", a.shownDB())
}

// shownDB returns the address of the database. One that holds a password is not shown: the
// reader has to type it again.
func (a *app) shownDB() string {
	if path := store.Path(a.db); path != "" {
		return "sqlite:" + path
	}
	u, err := url.Parse(a.db)
	if err != nil {
		return hiddenDB
	}
	_, secret := u.User.Password()
	for parameter := range u.Query() {
		secret = secret || strings.Contains(strings.ToLower(parameter), "password")
	}
	if secret {
		return hiddenDB
	}
	return a.db
}

// hiddenDB stands for an address that is not shown.
const hiddenDB = "postgres://…"

// again returns the command line that was given, to which flags may be added.
func (a *app) again(c *cobra.Command) cmdline.Line {
	l := cmdline.Of(c)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch values, repeatable := f.Value.(pflag.SliceValue); {
		case !f.Changed:
		case repeatable:
			for _, value := range values.GetSlice() {
				l = l.Flag("--"+f.Name, value)
			}
		default:
			l = l.Flag("--"+f.Name, f.Value.String())
		}
	})
	return a.line(l)
}

func (a *app) fail(err error) {
	hint, recipe := "", ""
	var hinted *hintedError
	var missing *store.MissingError
	var noAccount *store.NoAccountError
	var other *store.OtherObjectsError
	switch {
	case errors.As(err, &hinted):
		hint, recipe = hinted.hint, hinted.recipe
	case errors.As(err, &missing):
		hint = "create it with hub serve or hub migrate, or give its address with --db or HUB_DB"
	case errors.Is(err, store.ErrSchemaRights):
		hint = "run hub migrate of this release with a role that owns the tables, then start this hub again"
	case errors.As(err, &other):
		hint = otherObjectsHint(other)
	case errors.Is(err, store.ErrInUse):
		hint = "stop it first, or give another database with --db or HUB_DB"
	case errors.As(err, &noAccount):
		hint, recipe = "list all accounts, or create one with hub account create", a.line(cmdline.Hub("account", "list")).String()
	case errors.Is(err, store.ErrSchemaOld):
		hint, recipe = "update it", a.line(cmdline.Hub("migrate")).String()
	case errors.Is(err, store.ErrRights):
		hint = "give the role its rights, which cmd/hub/README.md lists, or use another one"
	case errors.Is(err, store.ErrBackup):
		hint = "give a file that hub backup wrote to its end"
	}
	if a.json {
		failed := map[string]any{"type": "failed", "schema": 1, "reason": pat.Redact(err.Error())}
		if hint != "" {
			failed["hint"] = hint
		}
		if recipe != "" {
			failed["recipe"] = []string{recipe}
		}
		if unwritten := a.print(failed, nil); unwritten == nil {
			return
		}
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
		Long: "hub stores projects with their configs and base files, stacks, API descriptions,\naccounts and tokens, " +
			"and serves them to tool and to browsers.",
		Example:           "  hub serve\n  hub account create alice\n  hub token create --user alice --name laptop --scope write:catalog",
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
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	root.SetFlagErrorFunc(cmdline.FlagError)
	root.PersistentFlags().StringVar(&a.db, "db", defaultDB, "use this `DATABASE`: sqlite:PATH or postgres://… (HUB_DB)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document")
	root.AddCommand(a.addBlobs(a.serveCommand()), a.migrateCommand(), a.addBlobs(a.gcCommand()), a.addBlobs(a.backupCommand()), a.addBlobs(a.restoreCommand()), a.addBlobs(a.fsckCommand()), a.auditCommand(), a.accountCommand(), a.memberCommand(), a.tokenCommand(), a.botCommand(), a.stackCommand())
	return root
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
	fmt.Fprintln(out, escape.JSON(string(encoded)))
	return out.err
}

// checked remembers the first write that failed.
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
		return nil, malformedAddress(a.db, err)
	}
	switch path := store.Path(a.db); {
	case err == nil:
		return s, nil
	case path == "":
		return nil, &hintedError{err: err, hint: "check that PostgreSQL runs and has this database and role, and that --db or HUB_DB has its address"}
	case !strings.Contains(err.Error(), path):
		return nil, &hintedError{err: fmt.Errorf("database %s: %w", path, err), hint: "check the file, its rights and its disk; hub restore fills a new database from a backup"}
	}
	return nil, err // which names the file, and has its hint
}

// malformedAddress returns the usage error for db. A path is probably meant as that of
// a SQLite file. What may hold a password is not quoted, as that of libpq's form
// host=… password=….
func malformedAddress(db string, err error) error {
	e := cmdline.Usagef("--db: %w", err)
	if db != "" && !strings.ContainsAny(db, ":=") {
		return e.WithHint("for the SQLite file %s, give --db %s", db, cmdline.Quote("sqlite:"+db))
	}
	return e
}

// withStore runs f with the database, which must exist and be up to date.
func (a *app) withStore(ctx context.Context, f func(*store.Store) error) error {
	return a.with(ctx, store.Options{}, f)
}

func (a *app) with(ctx context.Context, o store.Options, f func(*store.Store) error) error {
	s, err := a.open(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}
	return f(s)
}

// read runs f on a view of the database.
func (a *app) read(ctx context.Context, f func(*store.View) error) error {
	return a.withStore(ctx, func(s *store.Store) error { return s.Read(ctx, f) })
}

// write runs f in a transaction, together with the audit row for it.
func (a *app) write(ctx context.Context, row store.AuditRow, f func(*store.Tx) error) error {
	return a.change(ctx, row, func(tx *store.Tx) (bool, error) { return true, f(tx) })
}

// change is write for an f that may change nothing, for which no audit row is written.
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
