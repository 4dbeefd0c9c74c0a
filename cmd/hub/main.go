// Command hub serves projects, stacks and APIs to tool, and looks after the
// database behind them: accounts, members and tokens.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent lets a hub, which holds little, collect less often. Like Go's own, GOGC
// is the word of who runs it.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, end := context.WithCancel(context.Background())
	context.AfterFunc(signalled, func() {
		stop() // the second signal ends a process that takes its time
		end()
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
