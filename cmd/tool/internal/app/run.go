package app

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/tui/escape"
)

// Version is set at build time.
var Version = ""

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

// commandOf returns a command without the program's name.
func commandOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "tool"), " ")
}

// Operation is what a command does once its arguments are understood.
type Operation = func(ctx context.Context, args []string) error

// Run wraps what a command does, so that its failures can be told from a malformed
// command line. Signals end its context.
func (a *App) Run(f Operation) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		var ctx context.Context
		ctx, a.ended = handleSignals()
		err := a.Settle(f(ctx, args))
		a.warnOfExpiry()
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

// Begin checks the flags of every command, before it runs.
func (a *App) Begin(c *cobra.Command, _ []string) error {
	a.Command = commandOf(c)
	if a.Timeout <= 0 {
		return cmdline.Usagef("--timeout is a positive duration, such as 30s or 2m")
	}
	if err := checkDirectory(a.Dir); err != nil {
		return &runError{failure.Doing(failure.At(StageRead, err), "", "%s", a.Command)}
	}
	if a.Origin.Value != nil {
		if _, err := hubclient.ParseOrigin(*a.Origin.Value); err != nil {
			return cmdline.Usagef("--origin: %v", err)
		}
	}
	return a.readEnv(c)
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

// A command ends before its garbage is worth collecting, but for large transfers.
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

// Execute runs a command line and returns its exit code.
func (a *App) Execute(root *cobra.Command, args []string) int {
	setGC()
	a.commands = root
	root.SetArgs(args)
	root.SetIn(a.Streams.In)
	out := &checked{w: a.Streams.Out}
	root.SetOut(out)
	root.SetErr(&checked{w: a.Streams.Err})
	c, err := root.ExecuteContextC(context.Background())
	a.Command = commandOf(c)
	if err == nil && out.err != nil {
		err = &runError{failure.Doing(out.err, "", "write to stdout")}
	}
	return a.exit(err, a.ended())
}

// GlobalFlags adds the flags of every command.
func (a *App) GlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&a.JSON, "json", false, "print one JSON document and ask nothing")
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
