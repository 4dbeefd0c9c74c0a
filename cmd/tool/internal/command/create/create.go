// Package create creates a project on the hub from a local one: it registers the API unless one
// is named, creates the project, and writes its first config and base files. It plans, asks, and
// applies the plan: nothing is asked, and no file is chosen, after the first write.
//
// It never updates a project: one that exists already is a failure, and the first config and
// base files are written through [hubclient.Created], which only a creation returns.
package create

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Publish publishes the stack of a local project, and says what it published, such as
// @acme/web 1.0.0.
type Publish func(ctx context.Context, a *app.App, local *workspace.Project) (string, error)

// options are the flags of a create.
type options struct {
	answers prompts.Answers
	allowed []string               // files that are sent although they hold secrets
	given   func(flag string) bool // reports whether a flag was typed
	publish Publish
}

// Guided asks for what a project needs, and creates it from the local project.
func Guided(ctx context.Context, a *app.App, publish Publish, local string) error {
	return guided(ctx, a, options{
		answers: prompts.Answers{Local: local, StackVersion: wire.Latest, Visibility: wire.Private},
		given:   func(string) bool { return false },
		publish: publish,
	})
}

// Command returns the command project create. It offers publish if the stack is not published yet.
func Command(a *app.App, publish Publish) *cobra.Command {
	o := options{publish: publish}
	visibility := ""
	c := &cobra.Command{
		Use:   "create [<name>]",
		Short: "Create a hub project from a local one",
		Long: `Create a project on the hub from a local project: its published stack, its API,
which is registered if client.json names none, and its settings as the first
config. If the account has an API with the same description or title, a terminal
offers to use that, and a pipeline gets a note.

<name> is a slug in the stack's account, or @account/slug. An existing project
is never changed: use push to update it.

Without <name>, a terminal asks for everything that a project needs, step by
step.`,
		Example: `  tool project create web
  tool project create @acme/web --from web --base-files --visibility public`,
		Args: func(c *cobra.Command, args []string) error {
			if a.Strict() {
				return cmdline.Exactly("<name>")(c, args)
			}
			return cmdline.AtMost("<name>")(c, args)
		},
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if o.answers.StackVersion != wire.Latest && !version.Valid(o.answers.StackVersion) {
				return cmdline.Usagef("--stack-version is latest or a version such as 1.2.0, not %q", o.answers.StackVersion)
			}
			if o.answers.Local == "" && o.given("from") {
				return app.EmptyLocal("--from")
			}
			o.answers.Visibility = wire.Visibility(visibility)
			if v := o.answers.Visibility; v != wire.Private && v != wire.Public {
				return cmdline.Usagef("--visibility is private or public, not %q", visibility)
			}
			if len(args) == 0 {
				return guided(ctx, a, o)
			}
			return run(ctx, a, args[0], o)
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&o.answers.Local, "from", "", "create from this local `PROJECT` (default: the only one)")
	fl.StringVar(&o.answers.StackVersion, "stack-version", wire.Latest, "pin the stack to this published `VERSION`")
	fl.StringVar(&visibility, "visibility", string(wire.Private), "set who can see the project: `private|public`")
	fl.BoolVar(&o.answers.BaseFiles, "base-files", false, "push the app's files too, for the preview")
	app.AllowSecrets(c, &o.allowed)
	o.given = fl.Changed
	c.RegisterFlagCompletionFunc("from", a.LocalNames)
	c.RegisterFlagCompletionFunc("stack-version", app.OneOf(wire.Latest))
	c.RegisterFlagCompletionFunc("visibility", app.OneOf(wire.Private, wire.Public))
	return a.HubFlags(a.EnvFlag(c))
}

// create is one run of the command: its options, its plan, and what it has done so far.
type create struct {
	options
	app   *app.App
	local *workspace.Project // nil until it is known
	name  string             // slug, or @account/slug; "" until the wizard knows it
	hub   *identity.Hub      // nil until it is connected
	plan                     // set by prepare

	made     []string // what the wizard made before the project, such as: published @acme/web 1.0.0
	remember bool     // remember the answer about files that git ignores

	// Set by apply and its steps.
	checklist prompts.Checklist
	created   hubclient.Created
	seeded    workspace.Pulled // revision and files that the project began with
	effects   failure.Effects
	result    *result
}

// run creates the project called name, without the wizard.
func run(ctx context.Context, a *app.App, name string, o options) (err error) {
	c := &create{app: a, name: name, options: o}
	if c.local, err = a.Local(ctx, o.answers.Local, a.FromLine(name)); err != nil {
		return c.fail(err)
	}
	check := a.Checklist("check the project")
	check.Start(0)
	err = c.prepare(ctx)
	check.End(problem(err))
	c.warn()
	if err != nil {
		return c.fail(err)
	}
	if err := c.confirm(ctx); err != nil {
		return c.fail(err)
	}
	return c.finish(ctx)
}

// finish applies the plan, and prints what was created.
func (c *create) finish(ctx context.Context) error {
	if err := c.apply(ctx); err != nil {
		return c.fail(err)
	}
	return c.app.Show(c.result)
}

// warn warns of probable mistakes in client.json, if it could be read.
func (c *create) warn() {
	if c.client == nil {
		return
	}
	for _, w := range c.client.Warnings {
		c.app.Warn(w.Error())
	}
}

// confirm asks a terminal whether to use an API like the one to be registered, and whether
// sensitive files are sent.
func (c *create) confirm(ctx context.Context) error {
	strict := c.app.Strict()
	if !strict && len(c.similar) > 0 {
		if err := c.offerAPI(ctx); err != nil {
			return err
		}
	}
	c.app.ListFiles(c.description)
	if strict {
		return nil
	}
	asked, yes, err := c.app.ConfirmSensitive(ctx, c.name, c.sensitive)
	c.remember = asked && c.files != nil && len(c.sensitive.Ignored) > 0
	return app.Agreed(yes, err)
}

// offerAPI offers to use a similar API instead of registering a new one. It plans again if one
// is chosen, because the description is not sent then.
func (c *create) offerAPI(ctx context.Context) error {
	const registerAnew = "register"
	q := prompts.Question{
		Title:  fmt.Sprintf("Register %s as a new API?", c.schema.File),
		Preset: registerAnew,
		Choices: append(c.choices(c.similar), prompts.Choice{
			Value: registerAnew,
			Text:  "Register a new API in " + c.project.Account(),
		}),
	}
	if c.similar[0].SHA256 == c.digest {
		q.Preset = c.similar[0].API.String()
	}
	err := c.app.UI.Ask(ctx, prompts.Step{
		Question: func() prompts.Question { return q },
		Take: func(answer string) {
			c.answers.API, _ = ref.Parse(answer) // zero for registerAnew
		},
	})
	if err != nil || c.answers.API.IsZero() {
		return err
	}
	return c.prepare(ctx)
}

// choices are the APIs that can be used instead of a new one.
func (c *create) choices(similar []wire.API) (choices []prompts.Choice) {
	for _, api := range similar {
		text := "Use " + api.API.String() + ", which has " + alike(api, c.digest)
		choices = append(choices, prompts.Choice{Value: api.API.String(), Text: text})
	}
	return choices
}

// alike says what an API has in common with the description of a digest.
func alike(api wire.API, digest string) string {
	if api.SHA256 == digest {
		return "the same description"
	}
	return "the same title"
}

// problem is the word with which a checklist ends a step that failed, "" for no error.
func problem(err error) string {
	if err == nil {
		return ""
	}
	if app.IsInterrupted(err) {
		return "interrupted"
	}
	return "failed"
}

// fail says what failed and what was done before, and adds the next command.
func (c *create) fail(err error) error {
	f := app.Explain(c.hub, err).About(c.project, c.effects)
	local := c.answers.Local
	action := "create " + cmp.Or(c.name, "a project")
	if c.local != nil {
		f = c.explain(f)
		local = c.local.Name
		if c.name != "" {
			action += " from " + local
		}
	}
	if f.Hint == "" && !c.effects.ProjectCreated && len(c.made) > 0 {
		f.Hint = strings.Join(c.made, ", ") + "; no project was created"
	}
	return failure.Doing(f, local, "%s", action)
}

// explain adds the next command.
func (c *create) explain(f failure.Failure) failure.Failure {
	push := cmdline.Tool("push").With(c.local.Name).Flag("--project", c.project.String())
	if c.answers.BaseFiles {
		push = push.Flag("--base-files")
	}
	publishWouldHelp := c.answers.StackVersion == wire.Latest || c.answers.StackVersion == c.localVersion
	switch {
	case f.Code == failure.CodeNotRecorded && c.effects.ProjectCreated:
		return f.WithHint("the project was created; %s", f.Hint) // the hint is the line to add by hand
	case c.effects.ProjectCreated && f.Recipe == nil:
		return f.WithHint("the project was created, but its config or base files are incomplete").WithRecipe(push)
	case f.Code == wire.CodeProjectExists:
		return f.WithRecipe(push)
	case f.Code == wire.CodeStackNotPublished && publishWouldHelp:
		return f.WithHint("publish it first").WithRecipe(cmdline.Tool("publish").With(c.local.Name))
	case f.Code == wire.CodeAPINotFound:
		return f.WithHint("remove api from %s to register its source again", c.local.ClientPath())
	}
	return f
}
