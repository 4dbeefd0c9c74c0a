// Package initialize creates a local project, or an environment of one.
package initialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/internal/sample"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
)

// Command returns the command init.
func Command(a *app.App) *cobra.Command {
	var start workspace.Start
	var stack, origin string
	var petStore bool
	var env app.Optional
	c := &cobra.Command{
		Use:   "init [<name>]",
		Short: "Create a local project",
		Long: `Create a local project: .tool/<name>/client.json with its settings,
.tool/<name>/stack.json with its stack, and a .toolignore that says which files
are not pushed, with the rules of the app's .gitignore. Nothing is overwritten.

Without <name> the name of the directory is used, for a sample web. Without
--stack the stack belongs to the account that is logged in; if none is, a
terminal asks, and otherwise the first publish adds the name to stack.json.

With --sample, create a small app to try things with: a pet store with its API
description, settings, and a stack with a preview.

With --env, create an environment of a local project instead,
.tool/<name>/client.NAME.json: a destination of its own, on another hub with
--origin, and settings that differ from those in client.json.`,
		Example: `  tool init web --source openapi.yaml --base-path apps/web/src --stack @acme/web
  tool init --sample
  tool init web --env production --origin https://hub.example.com`,
		Args: cmdline.AtMost("<name>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			if env.Given() {
				if stack != "" || petStore || start != (workspace.Start{}) {
					return cmdline.Usagef("--env adds an environment to a local project: it goes with --origin alone")
				}
				r, err := createEnvironment(ctx, a, name, env.String(), origin)
				if err != nil {
					return err
				}
				return a.Show(r)
			}
			if origin != "" {
				return cmdline.Usagef("--origin goes with --env: it is the hub of an environment")
			}
			if petStore && (start.Source != "" || start.BasePath != "") {
				return cmdline.Usagef("--sample has an API description and a base path of its own")
			}
			if stack != "" {
				var err error
				if start.Stack, err = ref.ParseTyped(stack); err != nil {
					return cmdline.Usagef("--stack: %v", err)
				}
			}
			if petStore {
				start.Sample = sample.PetStore()
			}
			r, err := createLocal(ctx, a, name, start)
			if err != nil {
				return err
			}
			return a.Show(r)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&start.Source, "source", "",
		"read the API description from `FILE`, or a URL (default openapi.yaml, or openapi.json if only that exists)")
	c.RegisterFlagCompletionFunc("source", app.FileNames)
	fl.StringVar(&start.BasePath, "base-path", "", "generate code into `DIR` (default src)")
	c.RegisterFlagCompletionFunc("base-path", app.Directories)
	fl.StringVar(&stack, "stack", "", "name the stack `@ACCOUNT/SLUG`")
	fl.BoolVar(&petStore, "sample", false, "create a sample app, a pet store")
	fl.Var(&env, "env", "create the environment `NAME` of a local project")
	fl.StringVar(&origin, "origin", "", "set the hub of the environment to `ADDRESS`, scheme://host[:port]")
	c.RegisterFlagCompletionFunc("origin", a.CompleteOrigin)
	return c
}

// initialized is a local project that was created, or an environment of one. Its origin is
// set only for an environment that is on a hub of its own.
type initialized struct {
	app.About        `json:",inline"`
	Workspace        string   `json:"workspace"`
	WorkspaceCreated *bool    `json:"workspaceCreated,omitzero"` // nil for an environment
	Files            []string `json:"files"`                     // relative to the workspace
	Notes            []string `json:"notes"`                     // written above what comes next

	next []cmdline.Line
}

func (*initialized) Kind() string   { return "initialized" }
func (*initialized) Effect() string { return "the files were written" }

func (r *initialized) Text(w *app.Printer) {
	switch {
	case r.Env != "":
		w.Line("Created the environment %s of %s in %s", r.Env, r.ProjectName, r.Workspace)
	case *r.WorkspaceCreated:
		w.Line("Created the local project %s in the new workspace %s", r.ProjectName, r.Workspace)
	default:
		w.Line("Created the local project %s in the workspace %s", r.ProjectName, r.Workspace)
	}
	for _, f := range r.Files {
		w.Line("  %s", f)
	}
	w.Notes(r.Notes)
	w.Line("Next:")
	for _, line := range r.next {
		w.Line("  %s", w.Command(line))
	}
}

func (r *initialized) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// createLocal creates a local project, by default called web for a sample, else after the
// directory.
func createLocal(ctx context.Context, a *app.App, name string, start workspace.Start) (r *initialized, err error) {
	// name is set below if it is empty.
	defer func() { err = failure.Doing(err, name, "create the local project %s", name) }()
	dir, created, err := findWorkspace(a, &start)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = workspace.SlugOf(filepath.Base(dir))
		if start.Sample != nil {
			name = "web"
		}
	}
	r = &initialized{About: app.About{ProjectName: name}, Workspace: dir, WorkspaceCreated: &created}
	if start.Stack.IsZero() {
		if err := r.nameStack(ctx, a, &start); err != nil {
			return nil, err
		}
	}
	start.Hub = a.KnownHub()
	if r.Files, err = workspace.Create(dir, name, start); err != nil {
		return nil, err
	}
	ws, err := workspace.Find(dir)
	if err != nil {
		return nil, err
	}
	r.addNext(a, &workspace.Project{Name: name, Workspace: ws}, "", start.Sample != nil)
	return r, nil
}

// findWorkspace returns the directory of the workspace for a new local project, and whether it
// is to be created. A sample gets a workspace of its own. Paths in start become relative to it.
func findWorkspace(a *app.App, start *workspace.Start) (dir string, created bool, err error) {
	dir, err = a.Path(".")
	if err != nil {
		return "", false, err
	}
	ws, err := workspace.Find(dir)
	switch {
	case err != nil:
		created = true
	case ws.Dir == dir:
		created = false
	case start.Sample != nil:
		a.Warn(fmt.Sprintf("%s is in the workspace %s, and becomes a workspace of its own", dir, ws.Dir))
		created = true
	default:
		a.Warn(fmt.Sprintf("%s is in the workspace %s, to which the project is added", dir, ws.Dir))
		dir, created = ws.Dir, false
	}
	for _, typed := range []*string{&start.Source, &start.BasePath} {
		if *typed == "" || strings.Contains(*typed, "://") {
			continue
		}
		path, err := a.Path(*typed)
		if err != nil {
			return "", false, err
		}
		// A path outside of the workspace stays as it was typed, for the failure that refuses it.
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			*typed = filepath.ToSlash(rel)
		}
	}
	return dir, created, nil
}

// nameStack names the stack after the login, or asks for its account. Without an answer the first
// publish names the stack.
func (r *initialized) nameStack(ctx context.Context, a *app.App, start *workspace.Start) error {
	name := r.ProjectName
	inAccount := func(typed string) (ref.Ref, error) { return ref.New(strings.TrimPrefix(typed, "@"), name) }
	if own, err := ref.New(a.LoggedIn().User, name); err == nil {
		start.Stack = own
		r.note("the stack is named %s, after your login; another name goes into .tool/%s/stack.json", own, name)
		return nil
	}
	if !a.Strict() && ref.ValidName(name) {
		err := a.UI.Ask(ctx, prompts.Step{
			Question: func() prompts.Question {
				return prompts.Question{
					Title:  "Which account does the stack belong to?",
					Prompt: "Account",
					Facts:  []string{"Nobody is logged in. Leave it empty to decide at the first publish."},
					Check: func(typed string) error {
						if typed == "" {
							return nil
						}
						_, err := inAccount(typed)
						return err
					},
				}
			},
			Take: func(answer string) {
				start.Stack, _ = inAccount(answer) // zero for no answer
			},
		})
		if err != nil || !start.Stack.IsZero() {
			return err
		}
	}
	r.note("the first publish names the stack, after your login; or add \"name\": \"@account/%s\" to .tool/%s/stack.json",
		name, name)
	return nil
}

// missingSource returns the path of a local project's API description if there is no such file,
// else "". What else is wrong with the project is left to the commands that use it.
func missingSource(p *workspace.Project) string {
	client, err := p.Client()
	if err != nil {
		return ""
	}
	schema, err := client.Schema()
	if err != nil || schema.URL != "" {
		return ""
	}
	if _, err := os.Stat(p.Workspace.Path(schema.File)); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return schema.File
}

// addNext adds the commands that bring a new local project, or environment, to the hub at origin, ""
// for the workspace's. Each works after those before it; what needs a missing API description is in
// the note about that.
func (r *initialized) addNext(a *app.App, p *workspace.Project, origin string, isSample bool) {
	inEnv := func(l cmdline.Line) cmdline.Line {
		if p.Env != "" {
			l = l.Flag("--env", p.Env)
		}
		return l
	}
	login, isLoggedIn := cmdline.Tool("login"), a.LoggedIn().User != ""
	if logins, err := a.Logins(); err == nil && origin != "" {
		login = login.Flag("--origin", origin)
		_, isLoggedIn = logins.Find(origin)
	}
	if !isLoggedIn {
		r.next = append(r.next, login)
	}
	// A project that is on the workspace's hub has its stack there.
	if client, err := p.In("").Client(); err != nil || origin != "" || !client.Project.Present() {
		r.next = append(r.next, inEnv(cmdline.Tool("publish").With(p.Name)))
	}
	create := inEnv(cmdline.Tool("project", "create").With(p.NewSlug()).Flag("--from", p.Name))
	missing := missingSource(p)
	switch {
	case missing != "":
		r.note("%s does not exist yet: add the API's description, or change source in .tool/%s/client.json; then: %s",
			missing, p.Name, a.CommandText(create))
	case isSample:
		r.next = append(r.next, create.Flag("--base-files"), cmdline.Tool("preview").With(p.Name))
	case isLoggedIn && p.Env == "":
		r.next = append(r.next, create, cmdline.Tool("push").With(p.Name))
	default:
		r.next = append(r.next, create)
	}
}

// createEnvironment creates an environment of the local project called name, or the only one.
func createEnvironment(ctx context.Context, a *app.App, name, env, origin string) (r *initialized, err error) {
	if !workspace.ValidEnvironment(env) {
		return nil, cmdline.Usagef("--env: %q cannot name an environment: a name is %s", env, ref.Rule)
	}
	if origin != "" {
		if origin, err = hubclient.ParseOrigin(origin); err != nil {
			return nil, cmdline.Usagef("--origin: %v", err)
		}
	}
	local, err := a.Local(ctx, name, func(local string) cmdline.Line { return a.Itself(local).Flag("--env", env) })
	if err != nil {
		return nil, failure.Doing(err, name, "create the environment %s", env)
	}
	local = local.In(env)
	if err := local.CreateEnvironment(origin, cmp.Or(origin, a.KnownHub())); err != nil {
		return nil, failure.Doing(err, name, "create the environment %s", env)
	}
	r = &initialized{
		About:     app.About{ProjectName: local.Name, Env: env, Origin: origin},
		Workspace: local.Workspace.Dir,
		Files:     []string{local.ClientPath()},
	}
	if origin == "" {
		r.note("it uses the workspace's hub; to use another, add its \"origin\" to %s", local.ClientPath())
	}
	r.addNext(a, local, origin, false)
	return r, nil
}
