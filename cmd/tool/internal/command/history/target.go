// Package history holds the commands for what a project had on the hub: log, show and
// restore.
package history

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// target is the hub project that a command is about.
type target struct {
	app     *app.App
	local   *workspace.Project // nil: only the hub project was named
	project ref.Ref
	hub     *identity.Hub
	files   bool // the base files are meant, not the config
	given   app.Optional
	writes  bool // the hub is written to
	done    failure.Effects
}

// find finds the hub project of the local project called name, or the one that --project
// names, which needs no workspace but for an environment.
func (t *target) find(ctx context.Context, name string) (err error) {
	if name != "" || !t.given.Given() || t.app.InEnvironment() {
		if t.local, err = t.app.Local(ctx, name, t.app.Itself); err != nil {
			return err
		}
	}
	if t.given.Given() {
		t.project, err = app.ParseDestination(t.given.String())
	} else {
		t.project, err = t.recorded()
	}
	if err != nil {
		return failure.At(app.StageDestination, err)
	}
	t.hub, err = t.app.ConnectTo(ctx, t.writes)
	return err
}

// recorded is the hub project that client.json names.
func (t *target) recorded() (ref.Ref, error) {
	client, err := t.app.ReadClient(t.local)
	if err != nil {
		return ref.Ref{}, failure.At(app.StageRead, err)
	}
	return app.Destination(t.local, client, nil)
}

// name is the local project's, "" for none.
func (t *target) name() string {
	if t.local == nil {
		return ""
	}
	return t.local.Name
}

// env is the environment of the local project, "" for none.
func (t *target) env() string {
	if t.local == nil {
		return ""
	}
	return t.local.Env
}

// heading says in a terminal what a list is about.
func (t *target) heading() string {
	text := t.project.String() + " on " + t.hub.Origin()
	if env := t.env(); env != "" {
		text += ", environment " + env
	}
	return text
}

// line is a command about the same project, with more operands.
func (t *target) line(command string, operands ...string) cmdline.Line {
	l := cmdline.Tool(command)
	if t.local != nil {
		l = l.With(t.local.Name)
	}
	l = l.With(operands...)
	if t.given.Given() {
		l = l.Flag("--project", t.project.String())
	}
	if t.files {
		l = l.Flag("--base-files")
	}
	return l
}

// fail says what failed, and adds the next command. what is a verb, such as: show.
func (t *target) fail(err error, what string) error {
	f := app.Explain(t.hub, err).At(t.app.Stage()).About(t.project, t.done)
	if !t.project.IsZero() {
		what += " of " + t.project.String()
	}
	switch {
	case t.hub == nil:
	case f.Code == wire.CodeNotFound:
		f = f.WithReason("there is no project %s on %s", t.project, f.Origin).
			WithRecipe(app.OrRestore(err, t.project, cmdline.Tool("project", "list").With(t.project.Account())))
	case f.Code == wire.CodeRevisionNotKept && f.Recipe == nil:
		f = f.WithHint("list the kept revisions").WithRecipe(t.line("log"))
	}
	return failure.Doing(f, t.name(), "%s", what)
}

// flags adds the flags of every command here.
func (t *target) flags(c *cobra.Command) *cobra.Command {
	c.Flags().Var(&t.given, "project", "use `@ACCOUNT/SLUG` instead of client.json's project; needs no workspace")
	c.RegisterFlagCompletionFunc("project", t.app.HubProjects())
	return t.app.HubFlags(t.app.EnvFlag(c))
}
