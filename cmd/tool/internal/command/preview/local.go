package preview

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/watcher"
)

// reread is how long files that cannot be read are left alone at most.
const reread = 2 * time.Second

// serveLocal serves the preview of a local project until ctrl-c, and reads it again whenever
// it changes.
func serveLocal(ctx context.Context, a *app.App, name string) error {
	local, err := a.Local(ctx, name, localLine)
	if err != nil {
		return doing(err, name)
	}
	err = serve(ctx, a, &source{app: a, local: local})
	if a.EndedBy() == syscall.SIGINT {
		return nil
	}
	return doing(err, local.Name)
}

// serve serves the preview, and stops when reading or serving fails, or ctx ends.
func serve(ctx context.Context, a *app.App, from *source) error {
	group, ctx := errgroup.WithContext(ctx)
	first, err := from.read(ctx)
	if err != nil {
		return err
	}
	s, err := newServer(from.local.Name)
	if err != nil {
		return err
	}
	s.show(first, nil)
	group.Go(func() error { return s.serve(ctx) })
	group.Go(func() error {
		if err := announce(a, s); err != nil {
			return err
		}
		w := watcher.New(a.Warn)
		defer w.Close()
		return from.follow(ctx, w, s.show)
	})
	return group.Wait()
}

// announce says where the preview is, and opens it for a person, by a link.
func announce(a *app.App, s *server) error {
	err := a.Show(&result{ProjectName: s.name, URL: s.address(), Local: true, follows: !a.Strict()})
	if err != nil || a.Strict() {
		return err
	}
	if _, err := term.OpenBrowser(a.Getenv, s.origin(), s.origin()+"/open/"+s.code); err != nil {
		a.Warn(err.Error() + "; open the address yourself")
	}
	return nil
}

// follow reads the working tree whenever it changes, until ctx ends. It calls show with what
// changed, and with the reason where the working tree cannot be read.
func (s *source) follow(ctx context.Context, w *watcher.Watcher, show func(snapshot, *failed)) error {
	reported := "" // why the working tree is not shown; "": it is
	for {
		grown := w.Add(s.dirs...)
		w.Ignore = s.ignored
		var rereadAfter <-chan time.Time
		if reported != "" { // it may be the directories that are gone: nothing reports when they are back
			rereadAfter = time.After(reread)
		}
		if !grown { // else what changed before it was watched is not known
			if err := w.Wait(ctx, rereadAfter); err != nil {
				return err
			}
		}
		before := s.last
		now, err := s.read(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && err.Error() != reported:
			f := failure.Of(err)
			reported = f.Error()
			s.app.Diagnose("%s not shown: %s", time.Now().Format(time.TimeOnly), reported)
			show(before, &failed{Message: reported, Hint: f.Hint})
		case err == nil && (reported != "" || !now.same(before)):
			reported = ""
			show(now, nil)
		}
	}
}
