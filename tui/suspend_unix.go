//go:build unix

package tui

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const canSuspend = true

// ignored is how long a stop may take. Without a shell that controls jobs the
// system ignores the signal, and the program goes on.
const ignored = 200 * time.Millisecond

// suspend stops the program and those that it runs with, as ctrl-z does, until it
// is continued. It does not use the signal of ctrl-z: Go does not give that its default
// action back once [onSuspend] has asked for it. SIGTTIN, too, is ignored where nothing
// would continue the program.
func suspend() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGTTIN); err != nil {
		return err
	}
	select {
	case <-continued:
	case <-time.After(ignored):
	}
	return nil
}

// pressed is what ctrl-z does now in place of stopping the program.
var pressed struct {
	sync.Mutex
	listen sync.Once
	do     func()
}

// onSuspend calls do in place of stopping the program at each ctrl-z, until forget is
// called. From then on ctrl-z stops the program again.
func onSuspend(do func()) (forget func()) {
	set := func(do func()) {
		pressed.Lock()
		defer pressed.Unlock()
		pressed.do = do
	}
	set(do)
	pressed.listen.Do(func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTSTP)
		go func() {
			for range signals {
				pressed.Lock()
				do := pressed.do
				pressed.Unlock()
				do()
			}
		}()
	})
	return func() { set(func() { _ = suspend() }) } // without job control the program goes on
}
