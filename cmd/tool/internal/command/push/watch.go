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

// watch pushes, and then pushes the base files at each change of them, until ctx ends
// or a push fails for a reason that does not pass.
func (p *push) watch(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &summary{push: p, stop: stop}
	no, err := newWatch(p, s.report).run(ctx)
	p.transfer.Hide()
	switch {
	case no != nil:
		return p.app.Aborted(no)
	case s.unwritten != nil:
		return p.doing(app.PrintFailed("pushed", s.unwritten), "push")
	case s.began && p.app.EndedBy() == syscall.SIGINT:
		return s.end(err)
	case err != nil:
		return p.doing(err, "push")
	}
	return nil
}

// watch is a watching push.
type watch struct {
	first    *push // the push before the first change
	watcher  *watcher.Watcher
	reported string // the failure that was reported last
	each     func(*Result, error)
}

// newWatch returns a watch that calls each with each push, with each new failure that
// may pass, and with neither when it turned out that there is nothing to push.
func newWatch(p *push, each func(*Result, error)) *watch {
	return &watch{first: p, each: each}
}

func (w *watch) run(ctx context.Context) (*app.Aborted, error) {
	w.watcher = watcher.New(w.first.app.Warn)
	defer w.watcher.Close()
	no, err := w.first.push(ctx)
	if err != nil || no != nil {
		return no, err
	}
	w.each(w.first.result, nil)
	if err = w.follow(ctx, w.first); ctx.Err() != nil {
		err = w.first.fail(err) // says what was done before
	}
	return nil, err
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

// follow pushes at each change after the push p.
func (w *watch) follow(ctx context.Context, p *push) error {
	last := sent{p.destination, p.files.Digest}
	for retry := firstRetry; ; {
		now, grown, err := w.look(ctx)
		switch {
		case err == nil && now == last:
			w.reported = ""
			w.each(nil, nil)
			if grown { // what changed before it was watched is not known
				continue
			}
			if err := w.watcher.Wait(ctx, nil); err != nil {
				return err
			}
			continue
		case err == nil:
			p = w.next()
			if _, err = p.push(ctx); err == nil {
				last, retry, w.reported = sent{p.destination, p.files.Digest}, firstRetry, ""
				w.report(p.result)
				continue
			}
		}
		switch stage := failure.Of(err).Stage; {
		case app.IsInterrupted(err):
			return err // which knows whether the hub may have taken it
		case ctx.Err() != nil:
			return ctx.Err()
		case passes(err):
			w.reportFailure(err)
			if err := pause(ctx, retry); err != nil {
				return err
			}
			retry = min(2*retry, maxRetry)
		case stage == app.StageRead || stage == app.StageDestination: // until the files are corrected
			w.reportFailure(err)
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
// that it is in.
func (w *watch) look(ctx context.Context) (now sent, grown bool, err error) {
	client, err := w.first.local.Client()
	if err != nil {
		return now, false, failure.At(app.StageRead, err)
	}
	if now.to, err = app.Destination(w.first.local, client, w.first.opts.Project.Value); err != nil {
		return now, false, failure.At(app.StageDestination, err)
	}
	o := w.first.fileOptions()
	o.ListSkipped = true
	files, err := w.first.app.ChooseFiles(ctx, w.first.local, client, o)
	if err != nil {
		return now, false, failure.At(app.StageRead, err)
	}
	now.digest = files.Digest
	return now, w.add(files), nil
}

// report reports a push, or that it changed nothing.
func (w *watch) report(r *Result) {
	if r.FilesResult != nil && r.Added+r.Changed+r.Removed > 0 {
		w.each(r, nil)
	} else {
		w.each(nil, nil)
	}
}

// reportFailure reports a failure that may pass, once.
func (w *watch) reportFailure(err error) {
	if err.Error() != w.reported {
		w.reported = err.Error()
		w.each(nil, err)
	}
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// passes reports whether a failure is of a hub that may come back.
func passes(err error) bool {
	switch failure.Of(err).Code {
	case hubclient.CodeUnreachable, hubclient.CodeTimeout, wire.CodeUnavailable, wire.CodeRateLimited, wire.CodeInternal:
		return true
	}
	return false
}

// add watches the directories that the files were chosen from and that of the local
// project, and reports whether one of them is new.
func (w *watch) add(files *app.Files) (grown bool) {
	localDir := filepath.Dir(w.first.local.Workspace.Path(w.first.local.ClientPath()))
	w.watcher.Ignore = watcher.AnyOf(files.Excluded(), localDir, "client.json", filepath.Base(w.first.local.ClientPath()), "manifest.json")
	return w.watcher.Add(append(files.Dirs(), localDir)...)
}
