package push

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/prompts"
)

// confirm asks before sensitive files are pushed, before base files are removed or others' replaced,
// and before a config is overwritten. The error is app.ErrDeclined if an answer is no.
func (p *push) confirm(ctx context.Context, plan *planned) error {
	if !p.asks {
		return nil
	}
	if p.files != nil {
		if err := p.confirmSensitive(ctx, plan); err != nil {
			return err
		}
		if err := p.confirmFiles(ctx, plan, false); err != nil {
			return err
		}
	}
	return p.confirmConfig(ctx, plan, "")
}

// confirmSensitive asks about files that hold secrets and, once for each destination, about those that git ignores.
// Files that this machine has already pushed there are not asked about.
func (p *push) confirmSensitive(ctx context.Context, plan *planned) error {
	consent := app.IgnoredConsent(plan.Origin, plan.Project)
	var files app.Sensitive
	if !p.App.State().Consented(consent) { // otherwise git need not be waited for
		files = p.sensitive()
	}
	files.Secrets = p.files.Secrets(p.last, p.opts.AllowSecrets)
	asked, yes, err := p.App.ConfirmSensitive(ctx, p.Project.String(), files)
	if err := app.Agreed(yes, err); err != nil {
		return err
	}
	for _, s := range files.Secrets { // the next pushes of a watch ask nothing
		p.opts.AllowSecrets = append(p.opts.AllowSecrets, s.Path)
	}
	if asked && len(files.Ignored) > 0 {
		if err := p.App.State().Consent(consent); err != nil {
			plan.Note("the answer could not be remembered: %v", err)
		}
	}
	return nil
}

// confirmConfig asks whether the local config replaces the hub's. notice says what has changed
// since the last time it asked. With the answer m it merges the hub's config into client.json, and asks again.
func (p *push) confirmConfig(ctx context.Context, plan *planned, notice string) error {
	current := plan.current
	if !p.asks || current == nil || !current.HasConfig && !p.opts.Ask {
		return nil
	}
	q := prompts.Overwrite{
		Title:      fmt.Sprintf("Overwrite the config of %s?", p.Project),
		Facts:      p.App.EnvironmentFact(p.Local, plan.Origin),
		Yes:        "Overwrite it",
		Notice:     notice,
		Difference: *plan.Config,
	}
	switch {
	case !current.HasConfig:
		q.Title, q.Yes = fmt.Sprintf("Push the config of %s?", p.Project), "Push it"
	case plan.Theirs == nil:
		q.Facts = append(q.Facts,
			"Note    the hub has no config that client.json comes from: whose edits this undoes is not known")
	case !plan.Theirs.difference.Empty():
		q.Title = fmt.Sprintf("Overwrite the config of %s? This would undo %s.", p.Project, plan.Theirs)
		q.Yes = "Overwrite"
		q.Difference, q.Undone, q.Notes = *plan.Mine, plan.Theirs.difference, plan.Theirs.notes
	default:
		q.Title = fmt.Sprintf("Push %s to %s?", app.Count(len(*plan.Config), "change", "changes"), p.Project)
		q.Yes, q.Harmless = "Push", true
	}
	if recorded := p.Client.Project.Text; recorded != "" && recorded != p.Project.String() {
		q.Facts = append(q.Facts, "Note    client.json names another project: "+recorded)
	}
	if current.HasConfig {
		q.Facts = append(q.Facts, "Config  "+app.Edit(current.Edit))
	} else {
		q.Facts = append(q.Facts, "Config  none yet")
	}
	for _, note := range app.FindingNotes(plan.findings) {
		q.Facts = append(q.Facts, "Note    "+note)
	}
	yes, err := p.App.UI.Overwrite(ctx, q)
	if !errors.Is(err, prompts.ErrMerge) {
		return app.Agreed(yes, err)
	}
	err = p.App.Merge(ctx, p.App, p.Local, p.Given)
	if errors.Is(err, app.ErrDeclined) {
		return p.confirmConfig(ctx, plan, notice)
	}
	if err != nil {
		return err
	}
	p.merged = true
	if err := p.read(); err != nil {
		return err
	}
	if err := p.planConfig(ctx, plan, ""); err != nil {
		return err
	}
	plan.Note("%s", p.mergedText())
	return p.confirmConfig(ctx, plan, "The hub's edits are in client.json now. This is what is left of yours:")
}

// confirmFiles shows how the base files change, and asks where files are removed, or where
// the hub's are not those that this machine last pushed or pulled.
func (p *push) confirmFiles(ctx context.Context, plan *planned, again bool) error {
	f := plan.BaseFiles
	known := f.Tree == "" || f.Tree == p.last.Digest
	loses := !known || len(f.Removed) > 0
	if !p.asks || !f.onlyTree || !loses && !p.opts.Ask {
		return nil
	}
	q := app.FilesQuestion{
		Title: fmt.Sprintf("Push the files of %s to %s?", p.Local.Name, p.Project),
		Facts: []string{fmt.Sprintf("Files  %d, %s: %s", f.Count, app.Bytes(f.Bytes), app.FileCounts(f.Difference))},
		Yes:   "Push them",
		Names: app.ChangedFiles(f.Difference),
		Show:  func(ctx context.Context) (flat.Difference, error) { return p.fileTexts(ctx, f) },
	}
	if !known {
		note := "Note   the hub's files are not those that were last pushed or pulled here"
		if by := f.stored.UpdatedBy; by != "" {
			note += fmt.Sprintf(", but by %s %s", by, app.Ago(f.stored.UpdatedAt))
		}
		q.Facts = append(q.Facts, note)
	}
	if again {
		q.Notice = "The hub's files changed while you looked. This is the difference now:"
	}
	return app.Agreed(p.App.ConfirmFiles(ctx, q))
}

// fileTexts reads the files that differ, on the hub and here.
func (p *push) fileTexts(ctx context.Context, f *FilesPlan) (flat.Difference, error) {
	from, err := app.HubTexts(ctx, p.Hub, p.Project, &f.stored, slices.Concat(f.Changed, f.Removed), p.transfer.Update)
	if err != nil {
		return flat.Difference{}, err
	}
	var to app.FileTexts
	for _, i := range p.files.Tree.NotIn(f.stored.Files) {
		e := p.files.Tree[i]
		content, err := p.blobs.Open(e)
		if err != nil {
			return flat.Difference{}, err
		}
		err = to.Add(e, content)
		content.Close()
		if err != nil {
			return flat.Difference{}, err
		}
	}
	return app.FilesDifference(f.Difference, from, to.Texts), nil
}
