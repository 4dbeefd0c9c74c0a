package initialize

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
)

// initialized is a local project that was made.
type initialized struct {
	ProjectName string   `json:"projectName"`
	Workspace   string   `json:"workspace"`
	Files       []string `json:"files"` // relative to the workspace
	Notes       []string `json:"notes"`
}

// Run creates a local project and prints its files.
func Run(ctx context.Context, a *app.App, name string, start workspace.Start) error {
	dir, err := a.Path(".")
	if err != nil {
		return failure.Doing(err, name, "create the local project %s", name)
	}
	notes := []string{}
	if ws, err := workspace.Find(dir); err == nil && ws.Dir != dir {
		notes = append(notes, fmt.Sprintf("%s is in the workspace %s, to which the project was added", dir, ws.Dir))
		dir = ws.Dir
	}
	for _, typed := range []*string{&start.Source, &start.BasePath} {
		if *typed, err = pathIn(a, dir, *typed); err != nil {
			return failure.Doing(err, name, "create the local project %s", name)
		}
	}
	if name == "" {
		name = workspace.SlugOf(filepath.Base(dir))
	}
	user := a.LoggedIn()
	r := initialized{ProjectName: name, Workspace: dir, Notes: notes}
	if own, err := ref.New(user, name); err == nil && start.Stack.IsZero() {
		start.Stack = own
		r.Notes = append(r.Notes, fmt.Sprintf("the stack is named %s, after your login; another name goes into .tool/%s/stack.json", own, name))
	}
	if start.Stack.IsZero() && !a.Strict() && ref.ValidName(name) {
		if start.Stack, err = askStack(ctx, a, name); err != nil {
			return failure.Doing(failure.At("init", err), name, "create the local project %s", name)
		}
	}
	if start.Stack.IsZero() {
		r.Notes = append(r.Notes, fmt.Sprintf("the first publish names the stack, after your login; or add \"name\": \"@account/%s\" to .tool/%s/stack.json", name, name))
	}
	if r.Files, err = workspace.Create(dir, name, start); err != nil {
		return failure.Doing(failure.At("init", err), name, "create the local project %s", name)
	}
	return a.Print("initialized", r, func(w *app.Printer) {
		w.Line("Created the local project %s in %s", name, r.Workspace)
		for _, f := range r.Files {
			w.Line("  %s", f)
		}
		w.Notes(r.Notes)
		w.Line("Next:")
		if user == "" {
			w.Line("  %s", w.Command(cmdline.Tool("login")))
		}
		w.Line("  %s", w.Command(cmdline.Tool("publish").With(name)))
		w.Line("  %s", w.Command(cmdline.Tool("project", "create").With(workspace.SlugOf(name)).Flag("--from", name)))
		if user != "" {
			w.Line("  %s", w.Command(cmdline.Tool("push").With(name)))
		}
	})
}

// askStack asks for the account that the stack belongs to. Without an answer the
// first publish names the stack.
func askStack(ctx context.Context, a *app.App, name string) (stack ref.Ref, err error) {
	err = a.UI.Ask(ctx, ui.Step{
		Question: func() ui.Question {
			return ui.Question{
				Title: "Which account does the stack belong to?", Prompt: "Account",
				Facts: []string{"Nobody is logged in. Leave it empty to decide at the first publish."},
				Check: func(typed string) error {
					if typed == "" {
						return nil
					}
					_, err := ref.New(strings.TrimPrefix(typed, "@"), name)
					return err
				},
			}
		},
		Take: func(answer string) { stack, _ = ref.New(strings.TrimPrefix(answer, "@"), name) },
	})
	return stack, err
}

// pathIn returns a path as it is written in the workspace at dir, relative to that,
// which was typed relative to where the command works. A URL, and none, stays.
func pathIn(a *app.App, dir, typed string) (string, error) {
	if typed == "" || strings.Contains(typed, "://") {
		return typed, nil
	}
	place, err := a.Path(typed)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(dir, place)
	if err != nil || !filepath.IsLocal(rel) {
		return typed, nil // which is refused by what it says
	}
	return filepath.ToSlash(rel), nil
}
