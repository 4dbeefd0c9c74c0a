package cli

import (
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/tui"
)

// plainInterval is how often a long transfer is mentioned where nothing moves.
const plainInterval = 30 * time.Second

// progress lets a flow report to whoever watches: a redrawn line on a terminal, a
// plain line now and then in a pipeline, nobody with --json. The function that it
// returns takes the line away, at the end and before a question.
func (a *app) progress(report *flow.Report) (hide func()) {
	switch {
	case a.json:
		return func() {}
	case !a.strict() && a.ErrTTY && !a.terminal().Plain:
		line := tui.NewTransfer(a.Err)
		*report = func(p flow.Progress) { line.Update(shown(p)) }
		return line.Hide
	}
	var last atomic.Pointer[flow.Progress]
	*report = func(p flow.Progress) { last.Store(&p) }
	ticker, done := time.NewTicker(plainInterval), make(chan struct{})
	start := time.Now()
	go func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if p := last.Load(); p != nil {
					a.diagnose("%s", tui.Line(shown(*p), time.Since(start)))
				}
			}
		}
	}()
	return sync.OnceFunc(func() {
		ticker.Stop()
		close(done)
	})
}

func shown(p flow.Progress) tui.Progress {
	return tui.Progress{
		Phase: string(p.Phase), Files: p.Files, TotalFiles: p.TotalFiles, Bytes: p.Bytes, TotalBytes: p.TotalBytes,
	}
}
