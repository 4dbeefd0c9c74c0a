package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// handleSignals returns a context that ends with the first signal that asks the
// program to end, and a function that returns which it was, 0 for none.
func handleSignals() (ctx context.Context, ended func() syscall.Signal) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(signals, s)
		}
	}
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals) // a second one ends the program at once
		cancel(signalled(s))
	}()
	ended = func() syscall.Signal {
		var s signalled
		errors.As(context.Cause(ctx), &s)
		return syscall.Signal(s)
	}
	return ctx, ended
}

// signalled is the signal that ended a context.
type signalled syscall.Signal

func (s signalled) Error() string { return "ended by " + syscall.Signal(s).String() }
