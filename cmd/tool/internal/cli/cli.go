// Package cli turns command lines into flows: one file a command, which parses
// flags, fills in what is missing, runs one flow and reports its result.
//
// It is the only package that sees flows, prompts and views together, and
// report.go the only file that prints results and failures and knows exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/tui/escape"
)

// Version is set at build time.
var Version = ""

// app is what every command works with.
type app struct {
	term.Streams
	lookupEnv func(string) (string, bool)

	// Flags of every command.
	json, noInput, verbose bool
	dir                    string
	timeout                time.Duration

	// Flags of the commands that call the hub.
	token, origin optional

	commands *cobra.Command        // all of them
	command  string                // the running one, without the program's name
	drawing  bool                  // a view is on the terminal, which lines of ours would tear
	acting   bool                  // an action of the home view runs, from which one can go back
	ended    func() syscall.Signal // by which signal, 0 for none
	heeded   func()                // returns when signals are

	loaded *identity.Logins
	id     *identity.Identity
}

// Main runs one command line and returns its exit code.
func Main(args []string, lookupEnv func(string) (string, bool), streams term.Streams) int {
	a := &app{Streams: streams, lookupEnv: lookupEnv, ended: func() syscall.Signal { return 0 }, heeded: func() {}}
	if slices.Equal(args, []string{"--version"}) { // the one question that needs no command tree
		fmt.Fprintln(streams.Out, "tool", cmdline.Version(Version))
		return exitDone
	}
	collectSeldom()
	root := a.root()
	a.commands = root
	root.SetArgs(args)
	root.SetIn(streams.In)
	out := &checked{w: streams.Out}
	root.SetOut(out)
	root.SetErr(&checked{w: streams.Err})
	c, err := root.ExecuteContextC(context.Background())
	a.command = commandOf(c)
	if err == nil && out.err != nil {
		err = &runError{failure.Doing(out.err, "", "write to stdout")}
	}
	return a.exit(err, a.ended())
}

// checked escapes what cobra writes, such as help and completions, and remembers
// that it could not be written.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	_, err := io.WriteString(c.w, escape.Text(string(p)))
	if c.err == nil {
		c.err = err
	}
	return len(p), err
}

// Tree returns the command tree, for what is made of it: man pages and completion
// scripts.
func Tree() *cobra.Command { return (&app{lookupEnv: os.LookupEnv}).root() }

// commandOf returns a command without the program's name.
func commandOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "tool"), " ")
}

// withSignals returns a context that ends with the first signal that asks the
// program to end, and a function that tells which it was, 0 for none. To begin
// heeding signals takes as long as looking at hundreds of files, and goes on
// beside: heeded waits for it. Until then a signal ends the program at once, as
// suits one that has done nothing but read.
func withSignals() (ctx context.Context, ended func() syscall.Signal, heeded func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	begun := make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 1)
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
			if !signal.Ignored(s) { // as nohup has it
				signal.Notify(signals, s)
			}
		}
		close(begun)
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals) // a second one ends the program at once
		cancel(signalled(s))
	}()
	ended = func() syscall.Signal {
		var s signalled
		errors.As(context.Cause(ctx), &s)
		return syscall.Signal(s)
	}
	return ctx, ended, func() { <-begun }
}

// signalled is the signal that ended a context.
type signalled syscall.Signal

func (s signalled) Error() string { return "ended by " + syscall.Signal(s).String() }

func (a *app) getenv(name string) string {
	value, _ := a.lookupEnv(name)
	return value
}

// strict reports that nothing may be asked and nothing may move.
func (a *app) strict() bool { return a.json || a.noInput || a.inCI() || !a.Interactive() }

// inCI reports that CI says that no person is there, whatever stdin is connected to.
func (a *app) inCI() bool {
	switch strings.ToLower(a.getenv("CI")) {
	case "", "0", "false":
		return false
	}
	return true
}

// A command ends before its garbage is worth collecting, but for large transfers.
const (
	gcPercent   = 800
	memoryLimit = 96 << 20 // bytes
)

// collectSeldom is to be called while nothing else runs: what it sets stops all that
// does. The limit therefore waits for the first collection, which most commands do
// not live to see.
func collectSeldom() {
	debug.SetGCPercent(gcPercent)
	runtime.AddCleanup(new([32]byte), func(struct{}) { debug.SetMemoryLimit(memoryLimit) }, struct{}{})
}

type command = func(ctx context.Context, args []string) error

// run wraps what a command does, so that its failures can be told from a command
// line that makes no sense. What only a command needs is settled here: help comes
// sooner without it.
func (a *app) run(f command) func(*cobra.Command, []string) error {
	return a.runReading(func(ctx context.Context, args []string) error {
		a.heeded()
		return f(ctx, args)
	})
}

// runReading is run for a command that, where nobody is asked, reads files before it
// calls the hub, and writes nothing but caches. Signals are heeded from the call on.
func (a *app) runReading(f command) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		var ctx context.Context
		ctx, a.ended, a.heeded = withSignals()
		if !a.strict() {
			a.heeded()
		}
		err := f(ctx, args)
		var usage *cmdline.UsageError
		if err == nil || errors.As(err, &usage) {
			return err
		}
		return &runError{err}
	}
}

// runError is a failure of a command that was understood.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }

// workspace returns the workspace that the command works in.
func (a *app) workspace() (*workspace.Workspace, error) {
	ws, err := workspace.Find(a.dir)
	return ws, failure.At("read", err)
}

// place returns where a path leads that was typed where the command works. The
// directory of -C is one to go to: what is above it is above where a link leads.
func (a *app) place(typed string) (string, error) {
	if filepath.IsAbs(typed) {
		return filepath.Clean(typed), nil
	}
	dir, err := filepath.Abs(a.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return filepath.Join(dir, typed), err
}

// local returns the local project called name, or the only one when no name was
// given. Of several a person chooses; elsewhere the failure says the command line
// to type, which names one of them.
func (a *app) local(ctx context.Context, name string, line func(local string) cmdline.Line) (*workspace.Project, error) {
	ws, err := a.workspace()
	if err != nil {
		return nil, err
	}
	if name != "" {
		p, err := ws.Project(name)
		return p, failure.At("read", err)
	}
	names, err := ws.Projects()
	if err != nil {
		return nil, failure.At("read", err)
	}
	switch {
	case len(names) == 0:
		return nil, failure.At("read", failure.New(failure.CodeNoLocalProject, "there is no local project under %s", filepath.Join(ws.Dir, ".tool")).
			Try(cmdline.Tool("init")))
	case len(names) == 1:
		name = names[0]
	case a.strict():
		return nil, cmdline.Usagef("there are several local projects: %s", strings.Join(names, ", ")).
			Try(line(names[0]))
	default:
		if name, err = a.chooseLocal(ctx, ws, names); err != nil {
			return nil, err
		}
	}
	p, err := ws.Project(name)
	return p, failure.At("read", err)
}

// line is the running command, without arguments and flags.
func (a *app) line() cmdline.Line { return cmdline.Tool(strings.Fields(a.command)...) }

// itself is the running command for a local project.
func (a *app) itself(local string) cmdline.Line { return a.line().With(local) }

// from returns the running command for name, whose --from is the local project.
func (a *app) from(name string) func(local string) cmdline.Line {
	return func(local string) cmdline.Line { return a.line().With(name).Flag("--from", local) }
}

// resolve settles the identity, once. The login file is read only where it is used: a
// damaged one does not stop a pipeline that has its token. Where nothing can be stored,
// as in a container without a home, nobody is logged in.
func (a *app) resolve() (*identity.Identity, error) {
	if a.id != nil {
		return a.id, nil
	}
	o := identity.Options{Token: a.token.value, Origin: a.origin.value, LookupEnv: a.lookupEnv, Logins: &identity.Logins{}}
	if _, err := a.configDir(); err == nil && !o.TokenGiven() {
		if o.Logins, err = a.logins(); err != nil {
			return nil, err
		}
	}
	var err error
	a.id, err = identity.Resolve(o)
	return a.id, err
}

func (a *app) configDir() (string, error) { return a.directory("TOOL_CONFIG_DIR", os.UserConfigDir) }

// logins reads the login file, once.
func (a *app) logins() (*identity.Logins, error) {
	if a.loaded != nil {
		return a.loaded, nil
	}
	dir, err := a.configDir()
	if err != nil {
		return nil, err
	}
	if a.loaded, err = identity.LoadLogins(dir); err != nil {
		return nil, err
	}
	if warning := a.loaded.Warning(); warning != "" {
		a.warn(warning)
	}
	return a.loaded, nil
}

// directory returns the program's own directory of one kind: that of a variable,
// else tool in the user's.
func (a *app) directory(variable string, users func() (string, error)) (string, error) {
	if dir := a.getenv(variable); dir != "" {
		return dir, nil
	}
	dir, err := users()
	if err != nil {
		return "", failure.New(failure.CodeInvalidFile, "no directory for the program's own files: %w", err).
			WithHint("set %s", variable)
	}
	return filepath.Join(dir, "tool"), nil
}

// cache returns the directory for what can be made again, "" when there is none.
func (a *app) cache(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tool", name)
}

// kept returns where what a push or a pull replaced is kept.
func (a *app) kept() *state.History {
	dir, err := a.directory("TOOL_STATE_DIR", userStateDir)
	if err != nil {
		dir = "" // keeping fails, and says so
	}
	return state.NewHistory(dir)
}

// userStateDir returns the user's directory for what is to last but need not be
// taken along, as the platform has it.
func userStateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows", "darwin", "ios":
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

func (a *app) revisions() *state.Sync { return state.NewSync(a.cache("revisions")) }

// connect returns the hub, for a command that needs a token.
func (a *app) connect() (*identity.Hub, error) {
	id, err := a.resolve()
	if err != nil {
		return nil, err
	}
	if err := id.NeedToken(); err != nil {
		return nil, err
	}
	return a.reach(id)
}

// connectAnyway returns the hub for a command that does without a token too.
func (a *app) connectAnyway() (*identity.Hub, error) {
	id, err := a.resolve()
	if err != nil {
		return nil, err
	}
	return a.reach(id)
}

func (a *app) reach(id *identity.Identity) (*identity.Hub, error) {
	roots, err := a.roots()
	if err != nil {
		return nil, err
	}
	opts := hubclient.Options{
		UserAgent: "tool/" + cmdline.Version(Version), Timeout: a.timeout, Roots: roots, AllowHTTP: a.getenv("TOOL_ALLOW_HTTP") == "1",
		Before: a.heeded,
	}
	if a.verbose {
		opts.Trace = a.trace
	}
	if !a.json {
		opts.Waiting = a.waiting
	}
	return id.Connect(opts)
}

// waiting tells whoever waits why nothing happens.
func (a *app) waiting(err *hubclient.Error, until time.Time) {
	if !a.drawing {
		a.warn(fmt.Sprintf("%v; trying again until %s", err, until.Format(time.TimeOnly)))
	}
}

// needsLocal is the usage error of the running command without a local project. It
// advises one that exists, or to create one.
func (a *app) needsLocal() error {
	e := cmdline.Usagef("tool %s needs <project>: a directory under .tool", a.command)
	ws, err := a.workspace()
	if err != nil {
		return e.Try(cmdline.Tool("init"))
	}
	names, err := ws.Projects()
	switch {
	case err != nil:
		return e
	case len(names) == 0:
		return e.Try(cmdline.Tool("init"))
	}
	return e.Try(a.itself(names[0]))
}
