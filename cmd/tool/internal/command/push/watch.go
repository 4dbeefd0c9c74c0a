package push

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/watcher"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

const (
	// maxReread bounds the wait before files that could not be pushed are read again.
	maxReread = 2 * time.Second

	// How long to wait between two attempts while the hub cannot be reached.
	firstRetry = time.Second
	maxRetry   = 15 * time.Second
)

// watch pushes again at each change of the settings or the base files.
type watch struct {
	*push    // the first one, which needs no change
	watcher  *watcher.Watcher
	sent     sent   // by the pushes so far
	refused  sent   // what the hub refused last
	reported string // the failure that was printed last; "": none since the last push

	pushes  int   // those that changed something
	changed int   // files
	bytes   int64 // sent
}

// sent is what pushes have sent, or would send, and where to. What is not pushed is "".
type sent struct {
	to       ref.Ref
	revision string // of the settings
	base     string // revision of the hub's config that they come from
	tree     string // of the base files
}

// refusals are the failures of a push of settings that the user corrects, by an edit or a pull.
var refusals = []wire.Code{
	failure.CodeWouldUndoEdits, wire.CodeRevisionChanged, wire.CodeSettingsInvalid, wire.CodeSecretFound,
	wire.CodeTooLarge,
}

// watch pushes, and then pushes at each change of what was pushed, until ctx ends or a push
// fails for a reason that is neither temporary nor the user's to correct.
func (p *push) watch(ctx context.Context) error {
	w := &watch{push: p, watcher: watcher.New(p.App.Warn)}
	defer w.watcher.Close()
	r, err := p.run(ctx)
	p.transfer.Hide()
	if err != nil {
		return p.fail(err)
	}
	w.count(r)
	if err := p.App.Show(r); err != nil {
		return err
	}
	if err := p.App.Show(said("  watching; press ctrl-c to stop")); err != nil {
		return err
	}
	err = w.follow(ctx)
	p.transfer.Hide()
	if p.App.EndedBy() == syscall.SIGINT {
		return w.end(err)
	}
	return err
}

// next returns a push of the settings alone, or of the base files alone. It asks nothing. One of settings
// never undoes what others wrote.
func (w *watch) next(settings bool) *push {
	o := Options{Project: w.opts.Project, NoRecord: w.opts.NoRecord, NoClobber: settings}
	if !settings {
		o.FilesOnly, o.AllowEmpty, o.AllowSecrets = true, w.opts.AllowEmpty, w.opts.AllowSecrets
	}
	p := newPush(w.App, w.Local, o)
	p.asks = false
	return p
}

// follow pushes at each change after the first push.
func (w *watch) follow(ctx context.Context) error {
	w.sent.to = w.Project
	if w.opts.config() {
		w.sent.revision = w.push.config.Revision()
	}
	if w.opts.files() {
		w.sent.tree = w.push.chosen
	}
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
		correctable := f.Stage == app.StageRead || f.Stage == app.StageDestination // by an edit of the files
		switch {
		case ctx.Err() != nil:
			return p.fail(err) // not ctx.Err(): err may say whether the push was applied
		case slices.Contains(temporary, f.Code):
			w.report(err)
			select {
			case <-ctx.Done():
				return p.fail(ctx.Err())
			case <-time.After(retry):
			}
			retry = min(2*retry, maxRetry)
		case correctable:
			w.report(err)
			// The directories themselves may be gone, and nothing reports when they are back.
			if err := w.watcher.Wait(ctx, time.After(maxReread)); err != nil {
				return p.fail(err)
			}
		default:
			return p.fail(err)
		}
	}
}

// step pushes what has changed, or waits for a change. err is that of the push p or, if p is nil, of writing to
// stdout.
func (w *watch) step(ctx context.Context) (p *push, err error) {
	now, config, grown, err := w.look(ctx)
	if err != nil {
		return w.push, err
	}
	if now.to != w.sent.to {
		w.sent = sent{to: now.to}
		w.refused = sent{}
	}
	wasRefused := now.revision == w.refused.revision && now.base == w.refused.base
	settings := now.revision != w.sent.revision && !wasRefused
	if !settings && now.tree == w.sent.tree {
		w.reported = ""
		w.transfer.Hide()
		if grown { // a change before it was watched was not reported
			return w.push, nil
		}
		return w.push, w.watcher.Wait(ctx, nil)
	}
	p = w.next(settings)
	r, err := p.run(ctx)
	p.transfer.Hide()
	if settings && slices.Contains(refusals, failure.Of(err).Code) {
		w.report(p.fail(err))
		w.refused = now
		return p, nil
	}
	if err != nil {
		return p, err
	}
	w.reported = ""
	line := ""
	if settings {
		line = "pushed settings: " + app.DifferenceSummary(flat.Diff(w.push.config, config))
		w.sent.revision, w.push.config = p.config.Revision(), p.config
	} else {
		line = fmt.Sprintf("pushed: %s; %s sent", app.Counts(r.Added, r.Changed, r.Removed), app.Bytes(r.Bytes))
		w.sent.tree = p.chosen
	}
	if !w.count(r) {
		return p, nil
	}
	return nil, w.App.Show(said(time.Now().Format(time.TimeOnly) + " " + line))
}

// look finds out what would be pushed, without asking the hub, and watches its directories and that
// of the local project. grown reports that one of them was not watched before.
func (w *watch) look(ctx context.Context) (now sent, config flat.Config, grown bool, err error) {
	client, err := w.Local.Client()
	if err == nil && w.opts.config() {
		config, _, err = app.ReadConfig(client)
		now.revision = config.Revision()
		bases, _ := w.Local.Bases() // the push says what is wrong with them
		if base := bases.At(w.Hub.Origin()); base != nil {
			now.base = base.Revision
		}
	}
	if err != nil {
		return now, config, false, failure.At(app.StageRead, err)
	}
	if now.to, err = w.App.Destination(w.Local, client, w.Given.Value); err != nil {
		return now, config, false, failure.At(app.StageDestination, err)
	}
	var excluded []string
	dir := filepath.Dir(w.Local.Workspace.Path(w.Local.ClientPath()))
	dirs := []string{dir}
	if w.opts.files() {
		o := basefiles.Options{AllowEmpty: w.opts.AllowEmpty, ListSkipped: true}
		files, err := w.App.ChooseFiles(ctx, w.Local, client, o, w.transfer.Update)
		if err != nil {
			return now, config, false, failure.At(app.StageRead, err)
		}
		now.tree, excluded = files.Digest, files.Excluded()
		dirs = append(files.Dirs(), dir)
	}
	w.watcher.Ignore = watcher.AnyOf(excluded, dir, "client.json", filepath.Base(w.Local.ClientPath()), "manifest.json",
		"pulled.json")
	return now, config, w.watcher.Add(dirs...), nil
}

// temporary are the failures after which the same push may succeed.
var temporary = []wire.Code{
	hubclient.CodeUnreachable, hubclient.CodeTimeout, wire.CodeUnavailable, wire.CodeRateLimited, wire.CodeInternal,
}

// count counts what a push did, and reports whether it changed anything.
func (w *watch) count(r *result) bool {
	changed := 0
	if f := r.FilesResult; f != nil {
		changed = f.Added + f.Changed + f.Removed
		w.changed += changed
		w.bytes += f.Bytes
	}
	if changed == 0 && !r.ConfigChanged {
		return false
	}
	w.pushes++
	return true
}

// report prints a failure that does not end the watch, once.
func (w *watch) report(err error) {
	w.transfer.Hide()
	if err.Error() != w.reported {
		w.reported = err.Error()
		w.App.Diagnose("%s not pushed: %v", time.Now().Format(time.TimeOnly), err)
		if f := failure.Of(err); f.Code == failure.CodeWouldUndoEdits {
			w.App.Diagnose("  try: %s", w.App.CommandText(w.Line("pull")))
		}
	}
}

// end prints what the watch did until ctrl-c.
func (w *watch) end(err error) error {
	out := w.App.Printer()
	did := app.Count(w.pushes, "push", "pushes")
	if w.opts.files() {
		did += fmt.Sprintf(", %s, %s sent", app.Count(w.changed, "file changed", "files changed"), app.Bytes(w.bytes))
	}
	out.Line("Stopped watching: %s", did)
	if hubclient.Unsettled(err) {
		out.Notes([]string{"what was being sent may have been applied"})
	}
	return out.Err()
}

// said is a line that a watch prints.
type said string

func (said) Kind() string          { return "pushed" } // of a JSON document, which a watch does not print
func (said) Effect() string        { return "the push went through" }
func (s said) Text(w *app.Printer) { w.Line("%s", string(s)) }
