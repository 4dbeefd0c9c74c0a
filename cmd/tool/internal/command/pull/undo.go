package pull

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// place names what is pulled into in the state directory.
func (p *pull) place() string {
	place := "pull " + filepath.Join(p.local.Workspace.Dir, p.local.ClientPath()) + " " + p.destination.String()
	if p.output != "" {
		place += " to " + p.output
	}
	return place
}

// isSettings tells client.json and the files of environments, which are named relative to the
// workspace, from base files: no base file is in .tool.
func isSettings(f state.File) bool { return strings.HasPrefix(f.Path, ".tool/") }

// digest returns the SHA-256 of a file as it is now, "" if it cannot be read.
func (p *pull) digest(u *state.Undo, f state.File) string {
	if isSettings(f) {
		text, _, err := p.local.Workspace.ReadFile(f.Path)
		if err != nil {
			return ""
		}
		return digestOf(text)
	}
	content, err := os.OpenInRoot(u.Root, f.Path)
	if err != nil {
		return ""
	}
	defer content.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// latestUndo returns what the last pull replaced, nil if that is nothing. Of one that was
// interrupted it returns what it has written, too; if that is nothing, the pull does not count.
func (p *pull) latestUndo() (*state.Undo, map[string]state.File, error) {
	for {
		u, err := p.app.State().LatestUndo(p.place())
		if err != nil || u == nil || !u.Pending {
			return u, nil, err
		}
		written := map[string]state.File{}
		for _, f := range u.Files {
			if p.digest(u, f) == f.Written {
				written[f.Path] = f
			}
		}
		if len(written) > 0 {
			return u, written, nil
		}
		if err := u.Drop(); err != nil {
			return nil, nil, err
		}
	}
}

// saveUndo copies the files that are about to be replaced. Of files that an earlier pull has
// written which was interrupted, it takes that pull's copies.
func (p *pull) saveUndo() (*state.Undo, error) {
	before := state.Base{Origin: p.hub.Origin(), Common: p.app.SyncState().Last(p.hub.Origin(), p.destination)}
	if base := p.bases.At(p.hub.Origin()); base != nil {
		before.Project, before.Revision, before.Tree = base.Project, base.Revision, base.Tree
	}
	undo := p.app.State().NewUndo(p.place(), before)
	if p.opts.NoUndo {
		return undo, nil
	}
	if p.files != nil {
		undo.Root = p.files.root
	}
	former, written, err := p.latestUndo()
	switch {
	case err != nil || former == nil || !former.Pending, cmp.Or(undo.Root, former.Root) != cmp.Or(former.Root, undo.Root):
		former, written = nil, nil // what cannot be read, or is elsewhere, cannot be put back either
	default:
		undo.Before, undo.Root = former.Before, cmp.Or(undo.Root, former.Root)
	}
	var unsaved error // why a copy could not be made
	add := func(f state.File, content io.Reader) error {
		if earlier, ok := written[f.Path]; ok {
			delete(written, f.Path)
			copied, err := former.Open(earlier)
			if err != nil {
				unsaved = err
				return err
			}
			defer copied.Close()
			f.Mode, content = earlier.Mode, copied
		}
		unsaved = undo.Add(f, content)
		return unsaved
	}
	err = p.edits.Each(func(name string, before, after []byte) error {
		return add(state.File{Path: name, Written: digestOf(after)}, bytes.NewReader(before))
	})
	if err == nil && p.files != nil {
		err = p.files.Save(func(f basefiles.Former) error {
			return add(state.File{Path: f.Path, Mode: f.Mode, Written: f.Written}, f.Content)
		})
	}
	if err == nil && len(undo.Files) > 0 {
		for _, f := range written {
			if err = add(f, nil); err != nil {
				break
			}
		}
	}
	if err == nil {
		unsaved = undo.Begin()
	}
	if unsaved != nil {
		err = p.notSaved(unsaved)
	}
	if err != nil {
		_ = undo.Drop()
		return nil, err
	}
	return undo, nil
}

// notSaved is the failure of a pull that could not be undone.
func (p *pull) notSaved(err error) error {
	again := p.line("pull").Flag("--no-undo")
	for _, f := range []struct {
		name  string
		given bool
	}{{p.filesFlag(), p.opts.files()}, {"--mine", p.opts.Mine}, {"--theirs", p.opts.Theirs}, {"--force", p.opts.Force}} {
		if f.given {
			again = again.Flag(f.name)
		}
	}
	if p.output != "" {
		again = again.Flag("--output", p.opts.Output.String())
	}
	return failure.New(failure.CodeInvalidFile, "the files that the pull replaces cannot be saved for --undo: %w", err).
		WithHint("nothing was changed; to replace them for good, add --no-undo").Try(again)
}

// undoNote says where replaced base files are and how to restore them, "" if there are none.
func (p *pull) undoNote(undo *state.Undo, replaced int) string {
	if p.files == nil {
		return ""
	}
	added := len(p.files.Added)
	switch {
	case replaced == 0 || p.opts.NoUndo:
		if added > 0 && p.output == "" {
			return fmt.Sprintf("pull --undo does not remove the added base files (%d)", added)
		}
		return ""
	case p.output != "":
		return fmt.Sprintf("the replaced base files (%d) are saved in %s", replaced, undo.Contents())
	case added > 0:
		return fmt.Sprintf("the replaced base files (%d) are saved; to restore them, and leave the added ones (%d): %s",
			replaced, added, p.app.CommandText(p.undoLine()))
	}
	return fmt.Sprintf("the replaced base files (%d) are saved; to restore them: %s", replaced,
		p.app.CommandText(p.undoLine()))
}

// undoLine is the command that undoes the pull.
func (p *pull) undoLine() cmdline.Line { return p.line("pull").Flag("--undo") }

// undo restores the files that the last pull replaced, and what pulled.json had of them. It asks
// no hub. It fails with revision_changed if settings were edited since; base files that were
// edited stay as they are.
func (p *pull) undo() (*Result, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	u, _, err := p.latestUndo()
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	if u == nil {
		return nil, failure.At(app.StageRead, failure.New(failure.CodeNothingKept,
			"no previous settings of %s are saved on this machine", p.local.ClientPath()).
			WithHint("a pull saves the files that it replaces, until --undo restores them"))
	}
	if u.Root != "" { // which may be behind a link by now that leads out of the workspace
		root, err := p.client.AppRoot()
		if err == nil && p.local.Workspace.Path(root) != u.Root {
			err = failure.New(failure.CodeFilesDiffer, "the pull wrote base files into %s, which is not the app root any more", u.Root).
				WithHint("nothing was changed; the files from before the pull are saved in %s", u.Contents())
		}
		if err != nil {
			return nil, failure.At(app.StageRead, err)
		}
	}
	r := &Result{
		ProjectName: p.local.Name, Env: p.local.Env, Project: p.destination, Conflicts: flat.Conflicts{}, Notes: []string{},
	}
	if err := p.restoreSettings(u, r); err != nil {
		return nil, err
	}
	edited, err := p.restoreFiles(u, r)
	if err != nil || edited {
		return r, err
	}
	if err := u.Drop(); err != nil {
		r.Notes = append(r.Notes, "the saved files could not be removed: "+err.Error())
	}
	return r, nil
}

// restoreSettings restores client.json and the file of the environment.
func (p *pull) restoreSettings(u *state.Undo, r *Result) error {
	now := map[string][]byte{}
	for _, f := range u.Files {
		if !isSettings(f) {
			continue
		}
		text, _, err := p.local.Workspace.ReadFile(f.Path)
		switch is := digestOf(text); {
		case err == nil && is == f.Written:
			now[f.Path] = text
		case err != nil || is != f.SHA256: // else it is restored already
			return failure.At(app.StageRead, failure.New(wire.CodeRevisionChanged,
				"%s is no longer what the pull wrote", f.Path).
				WithHint("nothing was changed; it is saved as it was before in %s", u.Contents()))
		}
	}
	if len(now) == 0 {
		return nil
	}
	for name, text := range now {
		former, err := os.ReadFile(filepath.Join(u.Contents(), filepath.FromSlash(name)))
		if err == nil {
			err = p.local.Workspace.ReplaceFile(name, text, former)
		}
		if err != nil {
			return failure.At(app.StageWrite, err)
		}
		p.done.SettingsChanged = true
	}
	before := u.Before
	p.app.SyncState().Save(before.Origin, p.destination, before.Common)
	base := workspace.Pulled{Project: before.Project, Revision: before.Revision, Tree: before.Tree}
	if err := p.local.RecordPulled(before.Origin, base); err != nil {
		return failure.At(app.StageWrite, err)
	}
	client, err := p.local.Client()
	if err != nil {
		return failure.At(app.StageWrite, err)
	}
	settings, err := client.Config()
	if err != nil && failure.Of(err).Code != failure.CodeNoSettings {
		return failure.At(app.StageWrite, err)
	}
	r.SettingsChanged, r.Changes = true, flat.Diff(p.settings, settings)
	r.EnrichmentCount, r.Revision = settings.EnrichmentCount(), settings.Revision()
	r.Notes = append(r.Notes, "the settings from before the pull are restored; the hub was not called")
	return nil
}

// restoreFiles restores the base files that are still as the pull wrote them, or gone, and reports
// whether others were edited since.
func (p *pull) restoreFiles(u *state.Undo, r *Result) (edited bool, err error) {
	byPath := map[string]state.File{}
	var entries []tree.Entry
	for _, f := range u.Files {
		if !isSettings(f) {
			mode := tree.ModeOf(uint32(f.Mode))
			entries = append(entries, tree.Entry{Path: f.Path, Mode: mode, Size: f.Size, SHA256: f.SHA256})
			byPath[f.Path] = f
		}
	}
	if len(entries) == 0 {
		return false, nil
	}
	restore, err := basefiles.NewRestore(u.Root, entries)
	if err != nil {
		return false, failure.At(app.StageRead, err)
	}
	defer restore.Close()
	kept := 0
	write := func(e tree.Entry) error {
		content, err := u.Open(byPath[e.Path])
		if err != nil {
			return err
		}
		defer content.Close()
		return restore.Write(e, content)
	}
	r.FilesResult = &FilesResult{Added: len(restore.Added)}
	for _, e := range restore.Added {
		if err := write(e); err != nil {
			return false, failure.At(app.StageWrite, err)
		}
	}
	for _, e := range restore.Changed {
		if restore.Found(e.Path) != byPath[e.Path].Written {
			kept++
			continue
		}
		if err := write(e); err != nil {
			return false, failure.At(app.StageWrite, err)
		}
		r.FilesResult.Changed++
	}
	switch {
	case kept == 0:
		return false, nil
	case r.FilesResult.Added+r.FilesResult.Changed == 0 && !r.SettingsChanged:
		return true, failure.At(app.StageRead, failure.New(failure.CodeFilesDiffer,
			"the base files in %s are no longer what the pull wrote", u.Root).
			WithHint("nothing was changed; the files from before the pull are saved in %s", u.Contents()))
	}
	r.Notes = append(r.Notes, fmt.Sprintf(
		"base files edited since the pull stay as they are: %d; those from before it are saved in %s", kept, u.Contents()))
	return true, nil
}
