package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// handleSignals returns a context that ends with the first signal that asks the
// program to end, and a function that returns which it was, 0 for none. To start
// handling signals takes as long as looking at hundreds of files, and happens
// in the background: handled waits for it. Until then a signal ends the program at once, as
// suits one that has done nothing but read.
func handleSignals() (ctx context.Context, ended func() syscall.Signal, handled func()) {
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
