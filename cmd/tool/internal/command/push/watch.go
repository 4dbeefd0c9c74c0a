package push

import (
	"context"
	"path/filepath"
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
	first    *push // before the first change
	watcher  *watcher.Watcher
	reported string // the failure that was printed last

	pushes, files int // that changed something, and how many files
	bytes         int64
}

// watch pushes, and then pushes the base files at each change of them, until ctx ends
// or a push fails for a reason that does not pass.
func (p *push) watch(ctx context.Context) error {
	w := &watch{first: p, watcher: watcher.New(p.app.Warn)}
	defer w.watcher.Close()
	r, err := p.push(ctx)
	p.transfer.Hide()
	if err != nil {
		return p.doing(err, "push")
	}
	w.count(r)
	err = w.print(func(out *app.Printer) {
		r.text(out)
		out.Line("  watching; ctrl-c ends it")
	})
	if err == nil {
		err = w.follow(ctx)
	}
	p.transfer.Hide()
	switch {
	case p.app.EndedBy() == syscall.SIGINT:
		return w.end(err)
	case ctx.Err() != nil:
		err = p.fail(err) // says what was done before
	}
	return p.doing(err, "push")
}

// next returns a push of the base files alone, as one more of them changed.
func (w *watch) next() *push {
	p := w.first
	return &push{
		app: p.app, local: p.local, transfer: p.transfer,
		opts: Options{
			Project: p.opts.Project, NoRecord: p.opts.NoRecord, FilesOnly: true,
			AllowEmpty: p.opts.AllowEmpty, AllowSecrets: p.opts.AllowSecrets,
		},
	}
}

// sent is what a push has sent, or would send, and to where.
type sent struct {
	to     ref.Ref
	digest string
}

// follow pushes at each change after the first push.
func (w *watch) follow(ctx context.Context) error {
	last := sent{w.first.destination, w.first.files.Digest}
	for retry := firstRetry; ; {
		now, grown, err := w.look(ctx)
		switch {
		case err == nil && now == last:
			w.reported = ""
			w.first.transfer.Hide()
			if grown { // what changed before it was watched is not known
				continue
			}
			if err := w.watcher.Wait(ctx, nil); err != nil {
				return err
			}
			continue
		case err == nil:
			p := w.next()
			var r *Result
			if r, err = p.push(ctx); err == nil {
				last, retry, w.reported = sent{p.destination, p.files.Digest}, firstRetry, ""
				if err := w.pushed(r); err != nil {
					return err
				}
				continue
			}
		}
		switch stage := failure.Of(err).Stage; {
		case app.IsInterrupted(err):
			return err // which knows whether the hub may have taken it
		case ctx.Err() != nil:
			return ctx.Err()
		case passes(err):
			w.report(err)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(retry):
			}
			retry = min(2*retry, maxRetry)
		case stage == app.StageRead || stage == app.StageDestination: // until the files are corrected
			w.report(err)
			// It may be the directories that are gone: nothing reports when they are back.
			if err := w.watcher.Wait(ctx, time.After(reread)); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// look finds out what would be pushed, without the hub, and watches the directories
// that it is in and that of the local project. grown reports that one of them is new.
func (w *watch) look(ctx context.Context) (now sent, grown bool, err error) {
	local := w.first.local
	client, err := local.Client()
	if err != nil {
		return now, false, failure.At(app.StageRead, err)
	}
	if now.to, err = app.Destination(local, client, w.first.opts.Project.Value); err != nil {
		return now, false, failure.At(app.StageDestination, err)
	}
	o := w.first.fileOptions()
	o.ListSkipped = true
	files, err := w.first.app.ChooseFiles(ctx, local, client, o)
	if err != nil {
		return now, false, failure.At(app.StageRead, err)
	}
	now.digest = files.Digest
	dir := filepath.Dir(local.Workspace.Path(local.ClientPath()))
	w.watcher.Ignore = watcher.AnyOf(files.Excluded(), dir, "client.json", filepath.Base(local.ClientPath()),
		"manifest.json")
	return now, w.watcher.Add(append(files.Dirs(), dir)...), nil
}

// passes reports whether a failure is of a hub that may come back.
func passes(err error) bool {
	switch failure.Of(err).Code {
	case hubclient.CodeUnreachable, hubclient.CodeTimeout, wire.CodeUnavailable, wire.CodeRateLimited, wire.CodeInternal:
		return true
	}
	return false
}

// pushed prints a push after the first one, unless it changed nothing.
func (w *watch) pushed(r *Result) error {
	w.first.transfer.Hide()
	if !w.count(r) {
		return nil
	}
	return w.print(func(out *app.Printer) {
		out.Line("%s pushed: %d added, %d changed, %d removed; %s sent",
			time.Now().Format(time.TimeOnly), r.Added, r.Changed, r.Removed, app.Bytes(r.Bytes))
	})
}

// count counts what a push did, and reports whether it changed anything.
func (w *watch) count(r *Result) bool {
	changed := r.Added + r.Changed + r.Removed
	w.files += changed
	w.bytes += r.Bytes
	if changed == 0 && !r.ConfigChanged {
		return false
	}
	w.pushes++
	return true
}

// report prints a failure that may pass, once.
func (w *watch) report(err error) {
	w.first.transfer.Hide()
	if err.Error() != w.reported {
		w.reported = err.Error()
		w.first.app.Diagnose("%s not pushed: %v", time.Now().Format(time.TimeOnly), err)
	}
}

// end prints what a watch did that ctrl-c has ended.
func (w *watch) end(err error) error {
	out := w.first.app.Printer()
	out.Line("Stopped watching: %s, %s, %s sent", app.Count(w.pushes, "push", "pushes"),
		app.Count(w.files, "file changed", "files changed"), app.Bytes(w.bytes))
	if hubclient.Unsettled(err) {
		out.Notes([]string{"what was being sent may have been applied"})
	}
	return out.Err()
}

// print prints a result. The failure is that of stdout.
func (w *watch) print(text func(*app.Printer)) error {
	out := w.first.app.Printer()
	text(out)
	return app.PrintFailed("pushed", out.Err())
}
