package pull

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// undoKey is the name under which the state directory has the undo history of pulls from this hub
// project into this client.json.
func (p *pull) undoKey() string {
	return "pull " + filepath.Join(p.Local.Workspace.Dir, p.Local.ClientPath()) + " " + p.Project.String()
}

// save copies the files that are about to be replaced. With --no-undo it returns a nil Undo, which does nothing.
func (p *pull) save(plan *plan) (*state.Undo, error) {
	if p.opts.NoUndo {
		return nil, nil
	}
	before := state.Base{Origin: p.Hub.Origin()}
	if base := p.bases.At(before.Origin); base != nil {
		before.Project, before.Revision, before.Tree = base.Project, base.Revision, base.Tree
	}
	root := ""
	if plan.files != nil {
		root = plan.files.dir
	}
	undo := p.App.State().NewUndo(p.undoKey(), before, root)
	var unsaved error // why a copy could not be made; other failures do not go away with --no-undo
	add := func(f state.File, written string, content io.Reader) error {
		f.Written = []string{written}
		unsaved = undo.Add(f, content)
		return unsaved
	}
	err := plan.edits.Each(func(name string, before, after []byte) error {
		if p.isNew { // nothing of the user's is replaced
			return nil
		}
		return add(state.File{Path: name}, fmt.Sprintf("%x", sha256.Sum256(after)), bytes.NewReader(before))
	})
	if err == nil && plan.files != nil {
		err = plan.files.Save(func(f basefiles.Former) error {
			return add(state.File{Path: f.Path, Mode: f.Mode}, f.Written, f.Content)
		})
	}
	if err == nil {
		unsaved = undo.Begin()
	}
	if unsaved != nil {
		again := p.opts
		again.NoUndo = true
		err = failure.New(failure.CodeInvalidFile,
			"the files that the pull replaces cannot be saved for --undo: %w", unsaved).
			WithHint("nothing was changed; to replace them for good, add --no-undo").Try(p.line(again))
	}
	if err != nil {
		undo.End(false)
	}
	return undo, err
}

// undoLine is the command that undoes the pull.
func (p *pull) undoLine() cmdline.Line { return p.line(Options{Undo: true}) }

// undo restores the files that the last pull replaced, without calling the hub. An interrupted pull
// counts as the last one if it replaced anything.
func (p *pull) undo() (*result, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	r := &result{undone: true}
	r.ProjectName, r.Env, r.Project = p.Local.Name, p.Local.Env, p.Project
	for { // until something is restored: copies of which nothing is left to restore are removed
		u, err := p.App.State().LatestUndo(p.undoKey())
		if err == nil && u == nil {
			err = failure.New(failure.CodeNothingKept, "there is no pull to undo on this machine").
				WithHint("a pull saves the files that it replaces, until --undo restores them")
		}
		if err != nil {
			return nil, failure.At(app.StageRead, err)
		}
		edited, err := p.restore(u, r)
		if err != nil {
			return nil, failure.At(app.StageRead, err)
		}
		restored := r.SettingsChanged || r.FilesResult != nil
		if edited > 0 && !restored {
			err := differ(u, "the base files in %s are no longer what the pull wrote", u.Root)
			return nil, failure.At(app.StageRead, err)
		}
		if edited > 0 {
			r.Note("base files edited since the pull stay as they are: %d; the earlier ones are in %s",
				edited, u.Contents())
			return r, nil
		}
		err = u.Drop()
		if err != nil && !restored {
			return nil, failure.At(app.StageRead, err)
		}
		if err != nil {
			r.Note("the saved files could not be removed: %v", err)
		}
		if restored {
			return r, nil
		}
	}
}

// differ is the failure of an undo that would not restore base files.
func differ(u *state.Undo, format string, args ...any) error {
	return failure.New(failure.CodeFilesDiffer, format, args...).
		WithHint("nothing was changed; the files from before the pull are saved in %s", u.Contents())
}

// restore restores settings, all or none, and the base files that are still as the pull wrote
// them, or gone. It returns how many base files were edited since, which stay as they are.
func (p *pull) restore(u *state.Undo, r *result) (edited int, err error) {
	if u.Root != "" { // a symbolic link may lead elsewhere by now
		root, _, err := p.Local.Workspace.Locate(u.Root)
		if err == nil && root != u.Root {
			err = differ(u, "the pull replaced files in %s, which leads to %s now", u.Root, root)
		}
		if err != nil {
			return 0, err
		}
	}
	saved := map[string]state.File{}
	var files []tree.Entry // the base files
	for _, f := range u.Files {
		saved[f.Path] = f
		if !strings.HasPrefix(f.Path, ".tool/") { // no base file is there
			mode := tree.ModeOf(uint32(f.Mode))
			files = append(files, tree.Entry{Path: f.Path, Mode: mode, Size: f.Size, SHA256: f.SHA256})
		}
	}
	if err := p.restoreSettings(u, r, saved); err != nil || len(files) == 0 {
		return 0, err
	}
	restore, err := basefiles.NewRestore(u.Root, files)
	if err != nil {
		return 0, err
	}
	defer restore.Close()
	var written FilesResult
	for _, e := range slices.Concat(restore.Added, restore.Changed) {
		found := restore.Found(e.Path)
		if found != "" && !slices.Contains(saved[e.Path].Written, found) {
			edited++
			continue
		}
		content, err := u.Open(e.Path)
		if err == nil {
			err = restore.Write(e, content)
			content.Close()
		}
		if err != nil {
			return 0, failure.At(app.StageWrite, err)
		}
		if found == "" {
			written.Added++
		} else {
			written.Changed++
		}
		r.FilesResult = &written // nil until a file is restored
	}
	return edited, nil
}

// restoreSettings restores client.json and the file of the environment, and in pulled.json the
// base from before the pull.
func (p *pull) restoreSettings(u *state.Undo, r *result, saved map[string]state.File) error {
	edits, err := p.Client.PlanTexts(func(name string, now []byte) ([]byte, error) {
		f, replaced := saved[name]
		digest := fmt.Sprintf("%x", sha256.Sum256(now))
		if !replaced || digest == f.SHA256 { // the latter is restored already
			return now, nil
		}
		if slices.Contains(f.Written, digest) {
			return os.ReadFile(filepath.Join(u.Contents(), filepath.FromSlash(name)))
		}
		return nil, failure.New(wire.CodeRevisionChanged, "%s is no longer what the pull wrote", name).
			WithHint("nothing was changed; it is saved as it was before in %s", u.Contents())
	})
	if err != nil {
		return err
	}
	changed, err := p.Client.Apply(edits)
	if err != nil || len(changed) == 0 {
		return failure.At(app.StageWrite, err)
	}
	p.Done.SettingsChanged, r.SettingsChanged = true, true
	before, pulled := u.Before, p.Settings
	p.App.SyncState().Save(before.Origin, p.Project, before.Revision)
	base := workspace.Pulled{Project: before.Project, Revision: before.Revision, Tree: before.Tree}
	if err = p.Local.RecordPulled(before.Origin, base); err == nil {
		err = p.readSettings()
	}
	r.Changes, r.Revision = flat.Diff(pulled, p.Settings), p.Settings.Revision()
	r.EnrichmentCount = p.Settings.EnrichmentCount()
	r.Note("the settings from before the pull are restored; the hub was not called")
	return failure.At(app.StageWrite, err)
}
