package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/projecthub/cmd/tool/internal/flow/pull"
	"example.com/projecthub/cmd/tool/internal/flow/push"
	"example.com/projecthub/cmd/tool/internal/flow/remove"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
)

// terminal returns where a person is asked.
func (a *app) terminal() prompts.Terminal {
	columns, rows := a.Size()
	return prompts.Terminal{
		In: a.In, Out: a.Out, Columns: columns, Rows: rows,
		Plain: a.getenv("TERM") == "dumb" || a.getenv("ACCESSIBLE") == "1",
	}
}

// answered turns an interrupted question into the end of the command.
func answered(yes bool, err error) (bool, error) {
	if errors.Is(err, prompts.ErrInterrupted) {
		return false, context.Canceled
	}
	return yes, err
}

func (a *app) confirmOverwrite(ctx context.Context, o push.Overwrite) (bool, error) {
	body := []string{"hub " + o.Origin}
	if o.Recorded != "" {
		body = append(body, "client.json names another project: "+o.Recorded)
	}
	body = append(body, "its config was "+editText(o.Current))
	if o.Again {
		body = append(body, "It was changed while you looked. This is the difference now:")
	}
	return answered(a.terminal().Confirm(ctx, prompts.Question{
		Title: fmt.Sprintf("Overwrite the config of %s?", o.Project),
		Body:  question(body, o.Config), Yes: "Overwrite it", No: "Leave it",
		Rest: rest(o.ProjectName, o.Project),
	}))
}

func (a *app) confirmReplace(ctx context.Context, o pull.Replace) (bool, error) {
	body := []string{"hub " + o.Origin, "the config of " + o.Project.String() + " was " + editText(o.Current)}
	return answered(a.terminal().Confirm(ctx, prompts.Question{
		Title: fmt.Sprintf("Replace the settings in %s?", o.File),
		Body:  question(body, o.Config), Yes: "Replace them", No: "Leave them",
		Rest: rest(o.ProjectName, o.Project),
	}))
}

func (a *app) confirmFiles(ctx context.Context, o pull.Overwrite) (bool, error) {
	lines := []string{"hub " + o.Origin, fmt.Sprintf("%d files differ from those of %s:", len(o.Changed), o.Project)}
	for _, path := range o.Changed {
		lines = append(lines, "~ "+path)
	}
	return answered(a.terminal().Confirm(ctx, prompts.Question{
		Title: fmt.Sprintf("Overwrite files in %s?", o.Dir),
		Body:  clean(strings.Join(lines, "\n")), Yes: "Overwrite them", No: "Leave them",
		Rest: func(lines int) string { return fmt.Sprintf("… and %d more", lines) },
	}))
}

// rest says how to see all of a difference that the terminal has no room for.
func rest(local string, project ref.Ref) func(lines int) string {
	return func(lines int) string {
		return fmt.Sprintf("… and %d more lines; all of them:\ntool push %s --project %s --dry-run", lines, local, project)
	}
}

// question puts a difference below the lines that lead to it.
func question(lines []string, d flat.Difference) string {
	lines = append(lines, differenceSummary(d))
	lines = append(lines, differenceLines(d)...)
	return clean(strings.Join(lines, "\n"))
}

func (a *app) confirmRemove(ctx context.Context, q remove.Question) (bool, error) {
	return answered(a.terminal().TypeRef(ctx,
		fmt.Sprintf("Delete %s for good? Type its name.", q.Project),
		"Its config and base files go with it. Hub "+q.Origin, q.Project))
}
