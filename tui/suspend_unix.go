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
