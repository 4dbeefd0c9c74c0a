//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

const canSuspend = true

// ignored is how long a stop may take. Without a shell that controls jobs the
// system ignores the signal, and the program goes on.
const ignored = 200 * time.Millisecond

// suspend stops the program and those that it runs with, as ctrl-z does, until it
// is continued.
func suspend() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-continued:
	case <-time.After(ignored):
	}
	return nil
}

// onSuspend calls do in place of stopping the program at each ctrl-z, until forget is
// called.
func onSuspend(do func()) (forget func()) {
	pressed, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(pressed, syscall.SIGTSTP)
	go func() {
		for {
			select {
			case <-over:
				return
			case <-pressed:
				signal.Stop(pressed)
				signal.Reset(syscall.SIGTSTP) // or it would not stop
				do()
				signal.Notify(pressed, syscall.SIGTSTP)
			}
		}
	}()
	return func() {
		signal.Stop(pressed)
		close(over)
	}
}
