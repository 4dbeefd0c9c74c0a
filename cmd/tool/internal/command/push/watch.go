package push

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/watcher"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

const (
	// reread is how long files that cannot be pushed are left alone at most.
	reread = 2 * time.Second

	// Between two attempts at a hub that is away.
	firstRetry = time.Second
	maxRetry   = 15 * time.Second
)

// watch is a push that goes on with each change of the base files.
type watch struct {
	*push    // the first one, before the first change
	watcher  *watcher.Watcher
	sent     sent   // by the last push
	reported string // the failure that was printed last; "": there was none since the last push

	pushes  int   // those that changed something
	changed int   // files
	bytes   int64 // sent
}

// sent is what a push has sent, or would send, and to where.
type sent struct {
	to     ref.Ref
	digest string
}

// watch pushes, and then pushes the base files at each change of them, until ctx ends
// or a push fails for a reason that does not pass.
func (p *push) watch(ctx context.Context) error {
	w := &watch{push: p, watcher: watcher.New(p.App.Warn)}
	defer w.watcher.Close()
	r, err := p.push(ctx)
	p.transfer.Hide()
	if err != nil {
		return p.fail(err)
	}
	w.count(r)
	if err := p.App.Show(r); err != nil {
		return err
	}
	if err := p.App.Show(said("  watching; ctrl-c ends it")); err != nil {
		return err
	}
	err = w.follow(ctx)
	p.transfer.Hide()
	if p.App.EndedBy() == syscall.SIGINT {
		return w.end(err)
	}
	return err
}

// next returns a push of the base files alone, as one more of them changed. It asks nothing.
func (w *watch) next() *push {
	p := newPush(w.App, w.Local, Options{
		Project: w.opts.Project, NoRecord: w.opts.NoRecord, FilesOnly: true,
		AllowEmpty: w.opts.AllowEmpty, AllowSecrets: w.opts.AllowSecrets,
	})
	p.asks = false
	return p
}

// follow pushes at each change after the first push.
func (w *watch) follow(ctx context.Context) error {
	w.sent = sent{w.Project, w.push.files.Digest}
	for retry := firstRetry; ; {
		p, err := w.step(ctx)
		if err == nil {
			retry = firstRetry
			continue
		}
		if p == nil {
			return err
		}
		f := failure.Of(err)
		correctable := f.Stage == app.StageRead || f.Stage == app.StageDestination // in the files
		switch {
		case ctx.Err() != nil:
			return p.fail(err) // not ctx.Err(): err may know whether the hub has taken it
		case slices.Contains(passing, f.Code):
			w.report(err)
			select {
			case <-ctx.Done():
				return p.fail(ctx.Err())
			case <-time.After(retry):
			}
			retry = min(2*retry, maxRetry)
		case correctable:
			w.report(err)
			// It may be the directories that are gone: nothing reports when they are back.
			if err := w.watcher.Wait(ctx, time.After(reread)); err != nil {
				return p.fail(err)
			}
		default:
			return p.fail(err)
		}
	}
}

// step pushes what has changed, or waits for a change. The failure is that of the push p, or of
// stdout where p is nil.
func (w *watch) step(ctx context.Context) (p *push, err error) {
	now, grown, err := w.look(ctx)
	switch {
	case err != nil:
		return w.push, err
	case now == w.sent:
		w.reported = ""
		w.transfer.Hide()
		if grown { // what changed before it was watched is not known
			return w.push, nil
		}
		return w.push, w.watcher.Wait(ctx, nil)
	}
	p = w.next()
	r, err := p.push(ctx)
	p.transfer.Hide()
	if err != nil {
		return p, err
	}
	w.sent, w.reported = sent{p.Project, p.files.Digest}, ""
	if !w.count(r) {
		return p, nil
	}
	return nil, w.App.Show(said(fmt.Sprintf("%s pushed: %s; %s sent",
		time.Now().Format(time.TimeOnly), app.Counts(r.Added, r.Changed, r.Removed), app.Bytes(r.Bytes))))
}

// look finds out what would be pushed, without the hub, and watches the directories
// that it is in and that of the local project. grown reports that one of them is new.
func (w *watch) look(ctx context.Context) (now sent, grown bool, err error) {
	client, err := w.Local.Client()
	if err != nil {
		return now, false, failure.At(app.StageRead, err)
	}
	if now.to, err = w.App.Destination(w.Local, client, w.Given.Value); err != nil {
		return now, false, failure.At(app.StageDestination, err)
	}
	o := w.fileOptions()
	o.ListSkipped = true
	files, err := w.App.ChooseFiles(ctx, w.Local, client, o)
	if err != nil {
		return now, false, failure.At(app.StageRead, err)
	}
	now.digest = files.Digest
	dir := filepath.Dir(w.Local.Workspace.Path(w.Local.ClientPath()))
	w.watcher.Ignore = watcher.AnyOf(files.Excluded(), dir, "client.json", filepath.Base(w.Local.ClientPath()),
		"manifest.json")
	return now, w.watcher.Add(append(files.Dirs(), dir)...), nil
}

// passing are the failures of a hub that may come back.
var passing = []wire.Code{
	hubclient.CodeUnreachable, hubclient.CodeTimeout, wire.CodeUnavailable, wire.CodeRateLimited, wire.CodeInternal,
}

// count counts what a push did, and reports whether it changed anything.
func (w *watch) count(r *Result) bool {
	changed := r.Added + r.Changed + r.Removed
	w.changed += changed
	w.bytes += r.Bytes
	if changed == 0 && !r.ConfigChanged {
		return false
	}
	w.pushes++
	return true
}

// report prints a failure that may pass, once.
func (w *watch) report(err error) {
	w.transfer.Hide()
	if err.Error() != w.reported {
		w.reported = err.Error()
		w.App.Diagnose("%s not pushed: %v", time.Now().Format(time.TimeOnly), err)
	}
}

// end prints what a watch did that ctrl-c has ended.
func (w *watch) end(err error) error {
	out := w.App.Printer()
	out.Line("Stopped watching: %s, %s, %s sent", app.Count(w.pushes, "push", "pushes"),
		app.Count(w.changed, "file changed", "files changed"), app.Bytes(w.bytes))
	if hubclient.Unsettled(err) {
		out.Notes([]string{"what was being sent may have been applied"})
	}
	return out.Err()
}

// said is a line about a push.
type said string

// Kind returns the type of the JSON document, which a watch does not print.
func (said) Kind() string { return "pushed" }

// Effect says what was done.
func (said) Effect() string { return "the push went through" }

// Text prints the line.
func (s said) Text(w *app.Printer) { w.Line("%s", string(s)) }
