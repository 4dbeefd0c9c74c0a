package cli

import (
	"context"
	"errors"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/flow/pull"
	"example.com/projecthub/cmd/tool/internal/flow/push"
	"example.com/projecthub/cmd/tool/internal/flow/remove"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// terminal returns the user's terminal.
func (a *app) terminal() tui.Terminal {
	columns, rows := a.Size()
	return tui.Terminal{
		In: a.In, Out: a.Out, Columns: columns, Rows: rows,
		Plain: a.getenv("TERM") == "dumb" || a.getenv("ACCESSIBLE") == "1",
	}
}

// prompter asks the user.
func (a *app) prompter() prompts.Prompter {
	return prompts.Prompter{Terminal: a.terminal(), CanGoBack: a.acting}
}

// answered turns an interrupted question into the end of the command.
func answered(yes bool, err error) (bool, error) {
	if errors.Is(err, tui.ErrInterrupted) {
		return false, context.Canceled
	}
	return yes, err
}

// overwrite asks whether one config takes the place of another.
func (a *app) overwrite(ctx context.Context, q prompts.Overwrite) (bool, error) {
	return answered(a.prompter().Overwrite(ctx, q))
}

func (a *app) confirmOverwrite(ctx context.Context, o push.Overwrite) (bool, error) {
	q := prompts.Overwrite{
		Title: fmt.Sprintf("Overwrite the config of %s?", o.Project),
		Facts: []string{"hub " + o.Origin},
		Yes:   "Overwrite it", No: "Leave it", Difference: o.Config,
	}
	if o.Recorded != "" {
		q.Facts = append(q.Facts, "client.json names another project: "+o.Recorded)
	}
	if o.First {
		q.Title, q.Yes, q.No = fmt.Sprintf("Push the config of %s?", o.Project), "Push it", "Leave it"
		q.Facts = append(q.Facts, "it has no config yet")
	} else {
		q.Facts = append(q.Facts, "its config was "+editText(o.Current))
	}
	if o.Again {
		q.Notice = fmt.Sprintf("%s changed it while you looked. This is the difference now:", o.Current.UpdatedBy)
	}
	return a.overwrite(ctx, q)
}

func (a *app) confirmReplace(ctx context.Context, o pull.Replace) (bool, error) {
	return a.overwrite(ctx, prompts.Overwrite{
		Title: fmt.Sprintf("Replace the settings in %s?", o.File),
		Facts: []string{"hub " + o.Origin, "the config of " + o.Project.String() + " was " + editText(o.Current)},
		Yes:   "Replace them", No: "Leave them", Difference: o.Config,
	})
}

// confirmPushFiles asks whether base files are pushed.
func (a *app) confirmPushFiles(ctx context.Context, o push.Files) (bool, error) {
	f := o.Planned
	facts := []string{
		"Hub        " + o.Origin,
		fmt.Sprintf("Files      %d, %s: %d added, %d changed, %d removed", f.Count, bytesText(f.Bytes), len(f.Added), len(f.Changed), len(f.Removed)),
	}
	var names []string
	for _, change := range []struct {
		sign  string
		paths []string
	}{{"-", f.Removed}, {"~", f.Changed}, {"+", f.Added}} {
		for _, path := range change.paths {
			names = append(names, "  "+change.sign+" "+path)
		}
	}
	if len(names) > maxShown {
		names = append(names[:maxShown], fmt.Sprintf("  … and %d more", len(names)-maxShown))
	}
	return a.confirm(ctx, fmt.Sprintf("Push the files of %s to %s?", o.ProjectName, o.Project), append(facts, names...), "Push them", "Leave them")
}

// confirmFiles asks whether files are overwritten that differ from the hub's.
func (a *app) confirmFiles(ctx context.Context, o pull.Overwrite) (bool, error) {
	facts := []string{"Hub        " + o.Origin, fmt.Sprintf("%s from those of %s:", countText(len(o.Changed), "file differs", "files differ"), o.Project)}
	for _, path := range o.Changed[:min(maxShown, len(o.Changed))] {
		facts = append(facts, "  ~ "+path)
	}
	if more := len(o.Changed) - maxShown; more > 0 {
		facts = append(facts, fmt.Sprintf("  … and %d more", more))
	}
	return a.confirm(ctx, fmt.Sprintf("Overwrite files in %s?", o.Dir), facts, "Overwrite them", "Leave them")
}

// confirmIgnored asks whether base files are pushed that git ignores.
func (a *app) confirmIgnored(ctx context.Context, project, origin string, paths []string) (bool, error) {
	facts := []string{"Hub        " + origin, fmt.Sprintf("git ignores %s:", countText(len(paths), "base file", "base files"))}
	for _, path := range paths[:min(maxShown, len(paths))] {
		facts = append(facts, "  "+path)
	}
	if more := len(paths) - maxShown; more > 0 {
		facts = append(facts, fmt.Sprintf("  … and %d more", more))
	}
	facts = append(facts, "A line in .toolignore leaves files out.")
	return a.confirm(ctx, fmt.Sprintf("Push files that git ignores to %s?", project), facts, "Push them", "Push nothing")
}

func (a *app) confirmRemove(ctx context.Context, q remove.Question) (bool, error) {
	return answered(a.prompter().TypeRef(ctx,
		fmt.Sprintf("Delete %s for good?", q.Project),
		"Its config and base files go with it. Hub "+q.Origin, q.Project))
}
