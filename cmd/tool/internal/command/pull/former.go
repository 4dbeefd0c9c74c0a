package pull

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
)

// filesPlace names a directory in the undo history.
func filesPlace(dir string) string { return "pull base files " + dir }

// saveFormer saves the files that are about to be replaced.
func (p *pull) saveFormer() (*state.FileSet, error) {
	if p.files == nil || p.opts.NoUndo {
		return &state.FileSet{}, nil
	}
	settings := ""
	if !flat.Diff(p.settings, p.merged).Empty() {
		settings = p.merged.Revision()
	}
	last, _ := p.latestSettings() // what cannot be read cannot be put back either
	former := p.app.History().NewFileSet(p.files.place, settings, last.ID())
	var unsaved error
	err := p.files.Save(func(f basefiles.Former) error {
		unsaved = former.Add(state.File{Path: f.Path, Mode: f.Mode, Written: f.Written}, f.Content)
		return unsaved
	})
	if err == nil {
		unsaved = former.Commit()
	}
	if unsaved != nil {
		err = p.notSaved("base files", unsaved)
	}
	if err != nil {
		_ = former.Remove()
		return nil, err
	}
	return former, nil
}

// tellFormer says where the replaced files are and how to restore them: in a note, or in
// the hint of the failure that ended the pull.
func (p *pull) tellFormer(former *state.FileSet, replaced int, r *Result, err error) error {
	if replaced == 0 {
		_ = former.Remove() // it would be the latest, and restore nothing
	}
	if replaced == 0 || len(former.Files) == 0 {
		if n := len(p.files.Added); n > 0 && p.output == "" && err == nil {
			r.Notes = append(r.Notes, fmt.Sprintf("pull --undo does not remove the added base files (%d)", n))
		}
		return err
	}
	text := fmt.Sprintf("the replaced base files (%d) are saved", replaced)
	if p.output == "" {
		text += "; to restore them"
		if n := len(p.files.Added); n > 0 {
			text += fmt.Sprintf(", and leave the added ones (%d)", n)
		}
		text += ": " + p.app.CommandText(p.line("pull").Flag("--undo"))
	} else {
		text += " in " + former.Contents()
	}
	if err == nil {
		r.Notes = append(r.Notes, text)
		return nil
	}
	e := failure.Of(err)
	e.Hint = strings.TrimPrefix(e.Hint+"; "+text, "; ")
	return e
}

// formerFiles are the base files that the pull replaced which is to be undone.
type formerFiles struct {
	*state.FileSet
	dir   string
	alone bool // the pull changed no settings
}

// formerFiles returns nil when the last pull replaced none.
func (p *pull) formerFiles() (*formerFiles, error) {
	root, err := p.client.AppRoot()
	if err != nil {
		return nil, err
	}
	dir := p.local.Workspace.Path(root)
	set, err := p.app.History().LatestFileSet(filesPlace(dir))
	if err != nil || set == nil {
		return nil, err
	}
	settings, err := p.latestSettings()
	switch {
	case err != nil:
		return nil, err
	case set.Settings == "" && set.After == settings.ID():
		return &formerFiles{set, dir, true}, nil
	case set.Settings != "" && settings != nil && set.Settings == settings.Written:
		return &formerFiles{set, dir, false}, nil
	}
	return nil, nil // an older pull's
}

// undoFiles restores the files that are still as the pull wrote them, or gone.
func (p *pull) undoFiles(former *formerFiles, r *Result) (*Result, error) {
	byPath := map[string]state.File{}
	var entries []tree.Entry
	for _, file := range former.Files {
		e, err := former.entry(file)
		if err != nil {
			return nil, failure.At(app.StageRead, fmt.Errorf("read the saved file %s: %w", file.Path, err))
		}
		entries = append(entries, e)
		byPath[file.Path] = file
	}
	restore, err := basefiles.NewRestore(former.dir, entries)
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	defer restore.Close()
	done, edited := &FilesResult{}, 0
	for _, e := range restore.Added {
		if err := former.write(restore, e, byPath[e.Path]); err != nil {
			return nil, failure.At(app.StageWrite, err)
		}
		done.Added++
	}
	for _, e := range restore.Changed {
		if restore.Found(e.Path) != byPath[e.Path].Written {
			edited++
			continue
		}
		if err := former.write(restore, e, byPath[e.Path]); err != nil {
			return nil, failure.At(app.StageWrite, err)
		}
		done.Changed++
	}
	r.FilesResult = done
	if edited > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("base files edited since the pull stay as they are: %d; those from before it are saved in %s", edited, former.Contents()))
		if former.alone && done.Added+done.Changed == 0 {
			return nil, failure.At(app.StageRead, failure.New(failure.CodeFilesDiffer, "the base files in %s are no longer what the pull wrote", former.dir).
				WithHint("nothing was changed; the files from before the pull are saved in %s", former.Contents()))
		}
		return r, nil
	}
	if err := former.Remove(); err != nil {
		r.Notes = append(r.Notes, "the saved base files could not be removed: "+err.Error())
	}
	return r, nil
}

// entry describes a saved file.
func (f *formerFiles) entry(file state.File) (tree.Entry, error) {
	content, err := f.Open(file)
	if err != nil {
		return tree.Entry{}, err
	}
	defer content.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, content)
	return tree.Entry{Path: file.Path, Mode: tree.ModeOf(uint32(file.Mode)), Size: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

func (f *formerFiles) write(restore *basefiles.Restore, e tree.Entry, file state.File) error {
	content, err := f.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	return restore.Write(e, content)
}

// restored names what an undo restored.
func (r *Result) restored() string {
	switch {
	case r.FilesResult == nil:
		return "settings"
	case r.SettingsChanged:
		return "settings and base files"
	}
	return "base files"
}
