// Package preview opens the preview of a project in a browser: that of its page on the
// hub or, with --local, one of the working tree, which it serves itself to browsers of
// this machine.
//
// It runs no code of the project: the browser does, in the same frame as on the hub's page.
package preview

import (
	"context"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/watcher"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
)

// result says where a preview is.
type result struct {
	ProjectName string `json:"projectName"`
	URL         string `json:"url"`
	Origin      string `json:"origin,omitzero"` // of the hub; absent with --local
	Local       bool   `json:"local"`

	follows bool // a person reads it while the preview is served
}

func (*result) Kind() string { return "preview" }

func (r *result) Text(w *app.Printer) {
	if !r.follows {
		w.Line("%s", r.URL)
		return
	}
	w.Line("Preview of %s: %s", r.ProjectName, r.URL)
	w.Line("  follows edits of its files; ctrl-c ends it")
}

// Command returns the command preview.
func Command(a *app.App) *cobra.Command {
	var local bool
	c := &cobra.Command{
		Use:   "preview [<project>]",
		Short: "Open the preview of a project in a browser",
		Long: `Open the preview of a local project in a browser: the Preview tab of its page on
the hub, signed in. In a pipeline, print the address.

With --local nothing has to be pushed or published: the app is previewed as it
is in the working tree, with the stack in .tool/<project>, and follows edits of
its files until ctrl-c. The preview is served to browsers of this machine only,
at an address that nobody can guess. The API's description is the file that
source names in client.json, else the one that the hub has for the project.`,
		Example:           "  tool preview web\n  tool preview web --env production\n  tool preview web --local --no-input",
		Args:              app.MaybeLocal,
		ValidArgsFunction: app.FirstOnly(a.LocalNames),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if len(args) == 0 && a.Strict() {
				return a.NeedsLocal()
			}
			name := strings.Join(args, "")
			if local {
				return serveLocal(ctx, a, name)
			}
			return openPage(ctx, a, name)
		}),
	}
	c.Flags().BoolVar(&local, "local", false, "serve a preview of the working tree until ctrl-c")
	return a.HubFlags(a.EnvFlag(c))
}

// doing says that a preview of the local project called name failed.
func doing(err error, name string) error {
	return failure.Doing(err, name, "%s", strings.TrimSpace("preview "+name))
}

// localLine is the command that previews a local project without its page on the hub.
func localLine(name string) cmdline.Line { return cmdline.Tool("preview").With(name).Flag("--local") }

// openPage opens the Preview tab of the hub project of a local one, or prints its address.
func openPage(ctx context.Context, a *app.App, name string) error {
	local, project, err := destination(ctx, a, name)
	if err != nil {
		return doing(err, name)
	}
	act := app.Action{Doing: "preview " + local.Name, Local: local.Name, Project: project, Anyone: true}
	return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
		view, err := hub.Project(ctx, project)
		if app.IsNotFound(err) {
			list := cmdline.Tool("project", "list").With(project.Account())
			err = app.Explain(hub, err).WithRecipe(list, localLine(local.Name))
		}
		if err != nil {
			return nil, err
		}
		r := &result{ProjectName: local.Name, URL: view.URL + "/preview", Origin: hub.Origin()}
		if a.Strict() {
			return r, nil
		}
		return nil, failure.Doing(a.OpenPage(ctx, hub, r.URL), local.Name, "open %s", r.URL)
	})
}

// destination returns a local project and its project on the hub.
func destination(ctx context.Context, a *app.App, name string) (*workspace.Project, ref.Ref, error) {
	local, err := a.Local(ctx, name, a.Itself)
	if err != nil {
		return nil, ref.Ref{}, err
	}
	client, err := local.Client()
	if err != nil {
		return nil, ref.Ref{}, failure.At(app.StageRead, err)
	}
	project, err := a.Destination(local, client, nil)
	if f := failure.Of(err); err != nil && f.Code == failure.CodeNoDestination {
		err = f.WithHint("create it on the hub, or preview the working tree").
			WithRecipe(createLine(local), localLine(local.Name))
	}
	return local, project, failure.At(app.StageDestination, err)
}

// createLine is the command that creates a local project on the hub.
func createLine(local *workspace.Project) cmdline.Line {
	return cmdline.Tool("project", "create").With(workspace.SlugOf(local.Name)).Flag("--from", local.Name)
}

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
