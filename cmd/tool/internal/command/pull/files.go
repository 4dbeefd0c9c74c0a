package pull

import (
	"context"
	"fmt"
	"io"
	"slices"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// FilesResult is what a pull did to the base files.
type FilesResult struct {
	Added   int `json:"baseFilesAdded"`
	Changed int `json:"baseFilesChanged"`
}

// files are the base files of a pull.
type files struct {
	*basefiles.Restore
	set   *wire.BaseFiles
	place string // of what is replaced, in the undo history
	dir   string // as a person calls it
}

// fetchFiles compares the hub's base files with the local ones, those of the app
// root unless another place was given.
func (p *pull) fetchFiles(ctx context.Context, root string) (*files, error) {
	dir, called := p.output, p.outputName
	if dir == "" {
		dir = p.local.Workspace.Path(root)
		if called = root; root == "." {
			called = "the app root"
		}
	}
	set, err := p.hub.BaseFiles(ctx, p.destination)
	if err != nil {
		return nil, err
	}
	if set == nil {
		return nil, failure.New(failure.CodeNoBaseFiles, "%s holds no base files on %s", p.destination, p.hub.Origin()).
			Try(p.pushLine().Flag("--base-files-only"))
	}
	restore, err := basefiles.NewRestore(dir, set.Files)
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	return &files{restore, set, filesPlace(dir), called}, nil
}

// confirmFiles reports whether local files that differ may be overwritten.
func (p *pull) confirmFiles(ctx context.Context) (bool, error) {
	if p.files == nil || len(p.files.Changed) == 0 || p.opts.Force {
		return true, nil
	}
	var changed []string
	for _, e := range p.files.Changed {
		changed = append(changed, e.Path)
	}
	if !p.asks {
		f := failure.New(failure.CodeFilesDiffer, "local files that differ from the hub's: %d, such as %s", len(changed), changed[0])
		if p.output != "" {
			return false, f.WithHint("--force overwrites them")
		}
		return false, f.WithHint("look at them, or overwrite them").
			Try(p.line("pull").Flag(p.filesFlag()).Flag("--force"))
	}
	facts := []string{fmt.Sprintf("%s from those of %s:", app.Count(len(changed), "file differs", "files differ"), p.destination)}
	names := make([]string, len(changed))
	for i, path := range changed {
		names[i] = "~ " + path
	}
	p.transfer.Hide()
	return p.app.ConfirmFiles(ctx, app.FilesQuestion{
		Title: fmt.Sprintf("Overwrite files in %s?", p.files.dir), Facts: facts, Names: names,
		Yes: "Overwrite them", No: "Leave them",
		Show: func(ctx context.Context) (flat.Difference, error) { return p.fileTexts(ctx, changed) },
	})
}

// fileTexts reads the files that differ, here and on the hub.
func (p *pull) fileTexts(ctx context.Context, changed []string) (flat.Difference, error) {
	to, err := app.HubTexts(ctx, p.hub, p.destination, p.files.set, changed, p.transfer.Update)
	p.transfer.Hide()
	if err != nil {
		return flat.Difference{}, err
	}
	var from app.FileTexts
	for _, e := range p.files.Changed {
		content, size, err := p.files.Open(e.Path)
		if err != nil {
			return flat.Difference{}, failure.At(app.StageRead, err)
		}
		e.Size = size
		err = from.Add(e, content)
		content.Close()
		if err != nil {
			return flat.Difference{}, failure.At(app.StageRead, err)
		}
	}
	return app.FilesDifference(nil, changed, nil, from.Texts, to), nil
}

// filesFlag is the flag that has the base files pulled.
func (p *pull) filesFlag() string {
	if p.opts.FilesOnly {
		return "--base-files-only"
	}
	return "--base-files"
}

// writeFiles writes the files that are missing or differ. Other files stay as they are.
func (p *pull) writeFiles(ctx context.Context, former *state.FileSet, r *Result) (err error) {
	if p.files == nil {
		return nil
	}
	replaced := 0
	defer func() { err = p.tellFormer(former, replaced, r, err) }()
	missing := tree.Tree(slices.Concat(p.files.Added, p.files.Changed))
	wanted := map[string]int{} // 1: replaces a file
	for _, e := range p.files.Added {
		wanted[e.Path] = 0
	}
	for _, e := range p.files.Changed {
		wanted[e.Path] = 1
	}
	if len(wanted) > 0 {
		so := ui.Progress{Phase: app.Downloading, TotalFiles: len(wanted), TotalBytes: missing.Bytes()}
		err := p.hub.DownloadBaseFiles(ctx, p.destination, p.files.set, func(e tree.Entry, content io.Reader) error {
			replaces, ok := wanted[e.Path]
			if !ok {
				_, err := io.Copy(io.Discard, content)
				return err
			}
			if err := p.files.Write(e, content); err != nil {
				return failure.At(app.StageWrite, err)
			}
			replaced += replaces
			so.Files, so.Bytes = so.Files+1, so.Bytes+e.Size
			p.transfer.Update(so)
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.BaseFilesPulled = len(p.files.set.Files)
	r.FilesResult = &FilesResult{Added: len(p.files.Added), Changed: len(p.files.Changed)}
	if p.output == "" {
		p.app.SyncState().SaveFiles(p.hub.Origin(), p.destination, tree.Snapshot{Tree: p.files.set.Files, Digest: p.files.set.Tree})
		if err := p.local.RecordPulled(p.hub.Origin(), workspace.Pulled{Project: p.destination, Tree: p.files.set.Tree}); err != nil {
			r.Notes = append(r.Notes, "the base files could not be recorded: "+err.Error())
		}
	}
	return nil
}
