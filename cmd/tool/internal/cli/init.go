package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
)

// initialized is a local project that was made.
type initialized struct {
	ProjectName string   `json:"projectName"`
	Workspace   string   `json:"workspace"`
	Files       []string `json:"files"` // relative to the workspace
	Notes       []string `json:"notes"`
}

func (a *app) initCommand() *cobra.Command {
	var start workspace.Start
	var stack string
	c := &cobra.Command{
		Use:   "init [<name>]",
		Short: "Make a local project",
		Long: `Make a local project: .tool/<name>/client.json with its settings,
.tool/<name>/stack.json with its stack, and a .toolignore that says which files
stay here, with the rules of the app's .gitignore. Nothing is overwritten.

Without <name> the directory's own name is taken. Without --stack the stack
belongs to the account that is logged in; if none is, a terminal asks, and
otherwise the first publish adds the name to stack.json.`,
		Example: "  tool init web --source openapi.yaml --base-path apps/web/src --stack @acme/web",
		Args:    cmdline.AtMost("<name>"),
		RunE: a.run(func(ctx context.Context, args []string) error {
			if stack != "" {
				var err error
				if start.Stack, err = ref.ParseTyped(stack); err != nil {
					return cmdline.Usagef("--stack: %v", err)
				}
			}
			return a.init(ctx, strings.Join(args, ""), start)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&start.Source, "source", "", "API description, a `FILE` of the workspace or a URL (default openapi.yaml)")
	c.RegisterFlagCompletionFunc("source", fileNames)
	fl.StringVar(&start.BasePath, "base-path", "", "`DIR` that the generated code goes to (default src)")
	c.RegisterFlagCompletionFunc("base-path", directories)
	fl.StringVar(&stack, "stack", "", "the stack's name, `@ACCOUNT/SLUG`")
	return c
}

func (a *app) init(ctx context.Context, name string, start workspace.Start) error {
	dir, err := a.place(".")
	if err != nil {
		return failure.Doing(err, name, "make the local project %s", name)
	}
	notes := []string{}
	if ws, err := workspace.Find(dir); err == nil && ws.Dir != dir {
		notes = append(notes, fmt.Sprintf("%s is in the workspace %s, to which the project was added", dir, ws.Dir))
		dir = ws.Dir
	}
	for _, typed := range []*string{&start.Source, &start.BasePath} {
		if *typed, err = a.pathIn(dir, *typed); err != nil {
			return failure.Doing(err, name, "make the local project %s", name)
		}
	}
	if name == "" {
		name = workspace.SlugOf(filepath.Base(dir))
	}
	user := a.loggedIn()
	r := initialized{ProjectName: name, Workspace: dir, Notes: notes}
	if own, err := ref.New(user, name); err == nil && start.Stack.IsZero() {
		start.Stack = own
		r.Notes = append(r.Notes, fmt.Sprintf("the stack is named %s, after your login; another name goes into .tool/%s/stack.json", own, name))
	}
	if start.Stack.IsZero() && !a.strict() && ref.ValidName(name) {
		if start.Stack, err = a.askStack(ctx, name); err != nil {
			return failure.Doing(failure.At("init", err), name, "make the local project %s", name)
		}
	}
	if start.Stack.IsZero() {
		r.Notes = append(r.Notes, fmt.Sprintf("the first publish names the stack, after your login; or add \"name\": \"@account/%s\" to .tool/%s/stack.json", name, name))
	}
	if r.Files, err = workspace.Create(dir, name, start); err != nil {
		return failure.Doing(failure.At("init", err), name, "make the local project %s", name)
	}
	return a.print("initialized", r, func(p *printer) {
		p.line("Created the local project %s in %s", name, r.Workspace)
		for _, f := range r.Files {
			p.line("  %s", f)
		}
		p.notes(r.Notes)
		p.line("Next:")
		if user == "" {
			p.line("  %s", p.typed.Text(cmdline.Tool("login")))
		}
		p.line("  %s", p.typed.Text(cmdline.Tool("publish").With(name)))
		p.line("  %s", p.typed.Text(cmdline.Tool("project", "create").With(workspace.SlugOf(name)).Flag("--from", name)))
		if user != "" {
			p.line("  %s", p.typed.Text(cmdline.Tool("push").With(name)))
		}
	})
}

// askStack asks for the account that the stack belongs to. Without an answer the
// first publish names the stack.
func (a *app) askStack(ctx context.Context, name string) (stack ref.Ref, err error) {
	err = a.converse(ctx, prompts.Step{
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
func (a *app) pathIn(dir, typed string) (string, error) {
	if typed == "" || strings.Contains(typed, "://") {
		return typed, nil
	}
	place, err := a.place(typed)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(dir, place)
	if err != nil || !filepath.IsLocal(rel) {
		return typed, nil // which is refused by what it says
	}
	return filepath.ToSlash(rel), nil
}

// loggedIn returns the user of the current login, "" for none. What is wrong with
// the login file is told where a login is needed.
func (a *app) loggedIn() (user string) {
	logins, err := a.logins()
	if err != nil {
		return ""
	}
	login, _ := logins.Find(logins.Current)
	return login.User
}
