package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// Version is set at build time.
var Version = ""

// Exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitDiffers   = 3
	exitSignalled = 128 // and the number of the signal, as in a shell
)

// ErrDiffers ends a command whose --exit-code was given with exit code 3. Nothing is
// reported: the result is printed.
var ErrDiffers = errors.New("the two sides differ")

// GlobalFlags adds the flags of every command.
func (a *App) GlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&a.JSON, "json", false, "print one JSON document and ask nothing")
	f.Func("jq", "print what this jq `EXPRESSION` selects of the JSON document", a.setJQ)
	f.BoolVar(&a.NoInput, "no-input", false, "ask nothing")
	f.StringVarP(&a.Dir, "directory", "C", ".", "work in `DIR` instead of the current directory")
	f.Lookup("directory").DefValue = "" // the text says it
	root.RegisterFlagCompletionFunc("directory", Directories)
	f.DurationVar(&a.Timeout, "timeout", hubclient.DefaultTimeout, "fail after this `DURATION` without network progress")
	f.Lookup("timeout").DefValue = "1m"
	f.BoolVar(&a.Verbose, "verbose", false, "print every call to the hub on stderr")
	f.BoolP("help", "h", false, "show this help")
	root.SetFlagErrorFunc(cmdline.FlagError)
}

// HubFlags adds the flags of a command that calls the hub.
func (a *App) HubFlags(c *cobra.Command) *cobra.Command {
	c.Flags().Var(&a.Origin, "origin", "use the hub at `ADDRESS`, scheme://host[:port] ("+identity.OriginVariable+")")
	c.RegisterFlagCompletionFunc("origin", a.CompleteOrigin)
	c.Flags().Var(&a.Token, "token", "use this personal access `TOKEN` ("+identity.TokenVariable+")")
	return c
}

// Execute runs a command line and returns its exit code.
func (a *App) Execute(root *cobra.Command, args []string) int {
	setGC()
	a.commands = root
	root.SetArgs(args)
	root.SetIn(a.Streams.In)
	var help, errs strings.Builder // what cobra writes: help and completions
	root.SetOut(&help)
	root.SetErr(&errs)
	c, err := root.ExecuteContextC(context.Background())
	a.Command = commandOf(c)
	_, _ = io.WriteString(a.Streams.Err, escape.Text(errs.String()))
	write := a.print
	if a.Command == "help" { // the help of a command, by --help, is not paged
		write = a.page
	}
	if unprinted := write(escape.Text(help.String())); err == nil && unprinted != nil {
		err = &runError{failure.Doing(unprinted, "", "write to stdout")}
	}
	return a.exit(err)
}

// Most commands end before it is worth collecting their garbage. Large transfers do not.
const (
	gcPercent   = 800
	memoryLimit = 96 << 20 // bytes
)

// setGC must be called before anything else runs, because each setting stops the world.
// The memory limit is set at the first collection, which most commands never reach.
func setGC() {
	debug.SetGCPercent(gcPercent)
	runtime.AddCleanup(new([32]byte), func(struct{}) { debug.SetMemoryLimit(memoryLimit) }, struct{}{})
}

// commandOf returns a command without the program's name.
func commandOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "tool"), " ")
}

// Begin checks the flags of every command, before it runs.
func (a *App) Begin(c *cobra.Command, _ []string) error {
	a.Command, a.running = commandOf(c), c
	if a.Timeout <= 0 {
		return cmdline.Usagef("--timeout is a positive duration, such as 30s or 2m")
	}
	info, err := os.Stat(a.Dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return &runError{failure.New(failure.CodeNoWorkspace,
			"cannot use directory %s: %w", a.Dir, failure.Cause(err)).At(StageRead)}
	}
	if a.Origin.Given() {
		if _, err := hubclient.ParseOrigin(a.Origin.String()); err != nil {
			e := cmdline.Usagef("--origin: %v", err)
			if origin, ok := hubclient.GuessOrigin(a.Origin.String()); ok {
				e = e.WithHint("did you mean %s?", origin)
			}
			return e
		}
	}
	return a.readEnv(c)
}

// Run wraps what a command does once its arguments are understood, so that its failures can be
// distinguished from a malformed command line. Signals end its context.
func (a *App) Run(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		var ctx context.Context
		ctx, a.ended = handleSignals()
		err := a.Settle(f(ctx, args))
		a.warnOfExpiry()
		a.noticeUpdate()
		if err == nil {
			return nil
		}
		if _, isUsage := errors.AsType[*cmdline.UsageError](err); isUsage {
			return err
		}
		return &runError{err}
	}
}

// runError is a failure of a command that was understood.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }

func (e *runError) Unwrap() error { return e.err }

// handleSignals returns a context that ends with the first signal that asks the
// program to end, and a function that returns which it was, 0 for none.
func handleSignals() (ctx context.Context, ended func() syscall.Signal) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup ignores SIGHUP
			signal.Notify(signals, s)
		}
	}
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals) // a second one ends the program at once
		cancel(signalled(s))
	}()
	ended = func() syscall.Signal {
		s, _ := errors.AsType[signalled](context.Cause(ctx))
		return syscall.Signal(s)
	}
	return ctx, ended
}

// signalled is the signal that ended a context.
type signalled syscall.Signal

func (s signalled) Error() string { return "ended by " + syscall.Signal(s).String() }

// Settle prints that nothing was changed, if err says that a person declined it, and
// returns any other error.
func (a *App) Settle(err error) error {
	if !errors.Is(err, ErrDeclined) {
		return err
	}
	f := failure.Of(err)
	return a.Show(&aborted{ProjectName: f.Local, Project: f.Project, Origin: f.Origin, Done: f.Hint})
}

// exit reports what is left to report and returns the exit code.
func (a *App) exit(err error) int {
	a.releaseWarnings()
	if err == nil {
		return exitDone
	}
	if errors.Is(err, ErrDiffers) {
		return exitDiffers
	}
	if _, understood := errors.AsType[*runError](err); !understood {
		lines := cmdline.UsageLines(err, strings.TrimSpace("tool "+a.Command), a.CommandText)
		a.diagnose(tui.Warned, "%s", lines[0])
		for _, line := range lines[1:] {
			a.Diagnose("%s", line)
		}
		return exitUsage
	}
	// A terminal that is gone ends the command even before SIGHUP arrives, unless nohup ignores it.
	hungUp := a.Streams.HungUp() && !signal.Ignored(syscall.SIGHUP)
	interrupted := IsInterrupted(err) || a.EndedBy() != 0 || hungUp
	if !interrupted {
		a.ReportFailure(err)
		return exitFailed
	}
	a.reportInterrupt(err)
	ended := a.EndedBy()
	if ended == 0 && a.Streams.HungUp() { // no signal yet
		ended = syscall.SIGHUP
	}
	return exitSignalled + int(cmp.Or(ended, syscall.SIGINT))
}
