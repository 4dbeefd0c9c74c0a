package pull

import (
	"context"
	"io"
	"slices"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// FilesResult is what a pull did to the base files.
type FilesResult struct {
	Added   int `json:"baseFilesAdded"`
	Changed int `json:"baseFilesChanged"`
}

// Overwrite is what a person is asked about before files are overwritten.
type Overwrite struct {
	ProjectName string
	Dir         string // as a person calls it
	Project     ref.Ref
	Origin      string
	Changed     []string // paths in Dir
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
	dir, called := p.Output, p.OutputName
	if dir == "" {
		dir = p.Local.Workspace.Path(root)
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
		return nil, failure.At(flow.StageRead, err)
	}
	return &files{restore, set, filesPlace(dir), called}, nil
}

// confirmFiles tells whether local files that differ may be overwritten.
func (p *pull) confirmFiles(ctx context.Context) (bool, error) {
	if p.files == nil || len(p.files.Changed) == 0 || p.Force {
		return true, nil
	}
	var changed []string
	for _, e := range p.files.Changed {
		changed = append(changed, e.Path)
	}
	if p.ConfirmFiles == nil {
		e := failure.New(failure.CodeFilesDiffer, "local files that differ from the hub's: %d, such as %s", len(changed), changed[0])
		if p.Output != "" {
			return false, e.WithHint("--force overwrites them")
		}
		return false, e.WithHint("look at them, or overwrite them").
			Try(p.line("pull").Flag(p.filesFlag()).Flag("--force"))
	}
	return p.ConfirmFiles(ctx, Overwrite{
		ProjectName: p.Local.Name, Dir: p.files.dir, Project: p.destination, Origin: p.hub.Origin(), Changed: changed,
	})
}

// filesFlag is the flag that has the base files pulled.
func (p *pull) filesFlag() string {
	if p.FilesOnly {
		return "--base-files-only"
	}
	return "--base-files"
}

// writeFiles writes the files that are missing or differ, and saves those that it
// replaces. Other files stay as they are.
func (p *pull) writeFiles(ctx context.Context, r *Result) (err error) {
	if p.files == nil {
		return nil
	}
	former := p.saveFormer(r)
	defer func() {
		former.Close()
		err = p.tellFormer(former, r, err)
	}()
	missing := tree.Tree(slices.Concat(p.files.Added, p.files.Changed))
	wanted := map[string]bool{}
	for _, e := range missing {
		wanted[e.Path] = true
	}
	if len(wanted) > 0 {
		so := flow.Progress{Phase: flow.Downloading, TotalFiles: len(wanted), TotalBytes: missing.Bytes()}
		err := p.hub.DownloadBaseFiles(ctx, p.destination, p.files.set, func(e tree.Entry, content io.Reader) error {
			if !wanted[e.Path] {
				_, err := io.Copy(io.Discard, content)
				return err
			}
			if err := p.files.Write(e, content); err != nil {
				return failure.At(flow.StageWrite, err)
			}
			if so.Files, so.Bytes = so.Files+1, so.Bytes+e.Size; p.Report != nil {
				p.Report(so)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.BaseFilesPulled = len(p.files.set.Files)
	r.FilesResult = &FilesResult{Added: len(p.files.Added), Changed: len(p.files.Changed)}
	if p.Output == "" {
		p.Revisions.SaveFiles(p.hub.Origin(), p.destination, tree.Snapshot{Tree: p.files.set.Files, Digest: p.files.set.Tree})
	}
	return nil
}
