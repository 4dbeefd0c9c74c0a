package push

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/hubclient/wire"
)

const (
	// gathering is how long nothing has to change before a push: what changes in
	// a burst goes together.
	gathering = 100 * time.Millisecond

	// reread is how long files that cannot be pushed are left alone at most.
	reread = 2 * time.Second

	// Between two attempts at a hub that is away.
	firstRetry = time.Second
	maxRetry   = 15 * time.Second
)

// Watch pushes, and then pushes the base files at each change of them, until ctx
// ends or a push fails for a reason that time does not mend. Each push, and each
// failure that may pass, is told to each.
func Watch(ctx context.Context, o Options, each func(*Result, error)) (*flow.Aborted, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fault.At(flow.StageRead, err)
	}
	defer watcher.Close()
	w := &watch{Options: o, watcher: watcher, watched: map[string]bool{}, each: each}
	p, no, err := run(ctx, o)
	if err != nil || no != nil {
		return no, err
	}
	each(p.result, nil)
	w.What, w.IfRevision, w.NoClobber, w.Confirm = FilesOnly, "", false, nil
	w.ConfirmIgnored = nil
	if err = w.follow(ctx, p); ctx.Err() != nil {
		err = p.fail(err) // tells what was done before
	}
	return nil, err
}

// watch is a watching push.
type watch struct {
	Options
	watcher *fsnotify.Watcher
	watched map[string]bool
	each    func(*Result, error)
}

// follow pushes at each change after the push p.
func (w *watch) follow(ctx context.Context, p *push) error {
	w.add(p.files)
	retry, told := firstRetry, ""
	for again := true; ; { // what changed before it was watched is not known
		if !again {
			if err := w.change(ctx, nil); err != nil {
				return err
			}
		}
		p, _, err := run(ctx, w.Options)
		switch {
		case flow.IsInterrupted(err):
			return err // which knows whether the hub may have taken it
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			retry, told = firstRetry, ""
			again = w.add(p.files)
			if p.result.changed() {
				w.each(p.result, nil)
			}
		case passes(err):
			w.each(nil, err)
			if err := w.change(ctx, time.After(retry)); err != nil {
				return err
			}
			retry, again = min(2*retry, maxRetry), true
		case fault.From(err).Stage == flow.StageRead: // until the files are mended
			if err.Error() != told {
				w.each(nil, err)
				told = err.Error()
			}
			// It may be the directories that are gone: nobody tells when they are back.
			if err := w.change(ctx, time.After(reread)); err != nil {
				return err
			}
			again = true
		default:
			return err
		}
	}
}

func (r *Result) changed() bool {
	return r.FilesResult != nil && r.Added+r.Changed+r.Removed > 0
}

// passes reports whether a failure is of a hub that may come back.
func passes(err error) bool {
	switch fault.From(err).Code {
	case wire.CodeUnreachable, wire.CodeTimeout, wire.CodeUnavailable, wire.CodeRateLimited, wire.CodeInternal:
		return true
	}
	return false
}

// add watches the directories that the files were chosen from, and reports
// whether one of them is new.
func (w *watch) add(files *flow.Files) (grown bool) {
	for _, dir := range files.Dirs() {
		if !w.watched[dir] && w.watcher.Add(dir) == nil {
			w.watched[dir], grown = true, true
		}
	}
	return grown
}

// change returns once something has changed and then nothing for a while, or when
// the time is over. A nil channel never is.
func (w *watch) change(ctx context.Context, over <-chan time.Time) error {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		case <-quiet:
			return nil
		case e := <-w.watcher.Events:
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				delete(w.watched, e.Name) // a directory that comes back is another
			}
			quiet = time.After(gathering)
		case <-w.watcher.Errors: // too many events at once: some of them were lost
			quiet = time.After(gathering)
		}
	}
}
