package initialize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
)

// initialized is the result of an init.
type initialized struct {
	ProjectName      string   `json:"projectName"`
	Workspace        string   `json:"workspace"`
	WorkspaceCreated bool     `json:"workspaceCreated"`
	Files            []string `json:"files"` // relative to the workspace
	Notes            []string `json:"notes"`
}

// sampleProject is the local project of a sample, unless another name is given.
const sampleProject = "web"

// Run creates a local project and prints its files.
func Run(ctx context.Context, a *app.App, name string, start workspace.Start) error {
	fail := func(err error) error { return failure.Doing(err, name, "create the local project %s", name) }
	dir, err := a.Path(".")
	if err != nil {
		return fail(err)
	}
	r := initialized{WorkspaceCreated: true, Notes: []string{}}
	if r.Workspace, r.WorkspaceCreated, err = place(a, dir, &start); err != nil {
		return fail(err)
	}
	switch {
	case name == "" && start.Sample != nil:
		name = sampleProject
	case name == "":
		name = workspace.SlugOf(filepath.Base(r.Workspace))
	}
	r.ProjectName = name
	note, err := nameStack(ctx, a, name, &start)
	if err != nil {
		return fail(failure.At("init", err))
	}
	r.Notes = append(r.Notes, note...)
	start.Hub = a.KnownHub()
	if r.Files, err = workspace.Create(r.Workspace, name, start); err != nil {
		return fail(failure.At("init", err))
	}
	missing := missingSource(r.Workspace, name)
	if missing != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("%s does not exist yet: add the API's description, or change source in .tool/%s/client.json", missing, name))
	}
	return a.Print("initialized", r, func(w *app.Printer) {
		r.text(w)
		for _, line := range next(name, a.LoggedIn().User != "", missing == "", start.Sample != nil) {
			w.Line("  %s", w.Command(line))
		}
	})
}

// place returns the workspace of a new local project, and whether it is a new one. A sample
// gets its own. Paths in start become relative to it.
func place(a *app.App, dir string, start *workspace.Start) (found string, created bool, err error) {
	found, created = dir, true
	if ws, err := workspace.Find(dir); err == nil && ws.Dir == dir {
		created = false
	} else if err == nil && start.Sample != nil {
		a.Warn(fmt.Sprintf("%s is in the workspace %s, and becomes a workspace of its own", dir, ws.Dir))
	} else if err == nil {
		a.Warn(fmt.Sprintf("%s is in the workspace %s, to which the project is added", dir, ws.Dir))
		found, created = ws.Dir, false
	}
	for _, typed := range []*string{&start.Source, &start.BasePath} {
		if *typed, err = pathIn(a, found, *typed); err != nil {
			return "", false, err
		}
	}
	return found, created, nil
}

// nameStack names the stack after the login, or asks for its account, unless it has a name.
func nameStack(ctx context.Context, a *app.App, name string, start *workspace.Start) (note []string, err error) {
	if !start.Stack.IsZero() {
		return nil, nil
	}
	if own, err := ref.New(a.LoggedIn().User, name); err == nil {
		start.Stack = own
		return []string{fmt.Sprintf("the stack is named %s, after your login; another name goes into .tool/%s/stack.json", own, name)}, nil
	}
	if !a.Strict() && ref.ValidName(name) {
		if start.Stack, err = askStack(ctx, a, name); err != nil || !start.Stack.IsZero() {
			return nil, err
		}
	}
	return []string{fmt.Sprintf("the first publish names the stack, after your login; or add \"name\": \"@account/%s\" to .tool/%s/stack.json", name, name)}, nil
}

func (r *initialized) text(w *app.Printer) {
	kind := "workspace"
	if r.WorkspaceCreated {
		kind = "new workspace"
	}
	w.Line("Created the local project %s in the %s %s", r.ProjectName, kind, r.Workspace)
	for _, f := range r.Files {
		w.Line("  %s", f)
	}
	w.Notes(r.Notes)
	w.Line("Next:")
}

// next returns the commands that bring a new local project to the hub.
func next(name string, loggedIn, described, sample bool) (lines []cmdline.Line) {
	if !loggedIn {
		lines = append(lines, cmdline.Tool("login"))
	}
	lines = append(lines, cmdline.Tool("publish").With(name))
	if !described {
		return lines
	}
	create := cmdline.Tool("project", "create").With(workspace.SlugOf(name)).Flag("--from", name)
	switch {
	case sample:
		lines = append(lines, create.Flag("--base-files"), cmdline.Tool("preview").With(name))
	case loggedIn:
		lines = append(lines, create, cmdline.Tool("push").With(name))
	default:
		lines = append(lines, create)
	}
	return lines
}

// missingSource returns the API description of a local project that does not exist, ""
// for none.
func missingSource(dir, name string) string {
	ws, err := workspace.Find(dir)
	if err != nil {
		return ""
	}
	client, err := (&workspace.Project{Name: name, Workspace: ws}).Client()
	if err != nil {
		return ""
	}
	schema, err := client.Schema()
	if err != nil || schema.URL != "" {
		return ""
	}
	if _, err := os.Stat(ws.Path(schema.File)); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return schema.File
}

// askStack asks for the account that the stack belongs to. Without an answer the
// first publish names the stack.
func askStack(ctx context.Context, a *app.App, name string) (stack ref.Ref, err error) {
	err = a.UI.Ask(ctx, prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{
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
