package pull

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// FilesResult is what a pull did to the base files.
type FilesResult struct {
	Added      int      `json:"baseFilesAdded"`
	Changed    int      `json:"baseFilesChanged"`
	AddedPaths []string `json:"addedBaseFiles,omitzero"` // nil for an undo
}

// files are the base files of a pull.
type files struct {
	*basefiles.Restore
	set  *wire.BaseFiles
	root string // where they are written
	dir  string // as a person calls it
}

// fetchFiles compares the hub's base files with the local ones, those of the app
// root unless another place was given.
func (p *pull) fetchFiles(ctx context.Context, root string) error {
	dir, called := p.output, p.outputName
	if dir == "" {
		dir = p.local.Workspace.Path(root)
		if called = root; root == "." {
			called = "the app root"
		}
	}
	set, err := p.hub.BaseFiles(ctx, p.destination)
	if err != nil {
		return err
	}
	if set == nil {
		return failure.New(failure.CodeNoBaseFiles, "%s holds no base files on %s", p.destination, p.hub.Origin()).
			Try(p.line("push").Flag("--base-files-only"))
	}
	restore, err := basefiles.NewRestore(dir, set.Files)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	p.files = &files{restore, set, dir, called}
	return nil
}

// confirmFiles asks before more, or larger, files than usual are written, before local files that
// differ are overwritten, and before those are added that do more than being part of the app.
func (p *pull) confirmFiles(ctx context.Context) error {
	if p.opts.Force {
		return nil
	}
	if why := basefiles.CheckLimits(p.files.set.Files, basefiles.UsualLimits); why != nil {
		if err := p.confirmSize(ctx, why); err != nil {
			return err
		}
	}
	var added []string
	for _, e := range p.files.Added {
		if basefiles.ToConfirm(e) {
			added = append(added, e.Path)
		}
	}
	changed := paths(p.files.Changed)
	if len(added)+len(changed) == 0 {
		return nil
	}
	if !p.asks {
		return p.unconfirmed(added, changed)
	}
	q := app.FilesQuestion{
		Title: fmt.Sprintf("Overwrite files in %s?", p.files.dir), Yes: "Overwrite them", No: "Leave them",
		Show: func(ctx context.Context) (flat.Difference, error) { return p.fileTexts(ctx, added, changed) },
	}
	if n := len(changed); n > 0 {
		differ := app.Count(n, "file differs", "files differ")
		q.Facts = append(q.Facts, fmt.Sprintf("%s from those of %s:", differ, p.destination))
	} else {
		q.Title, q.Yes, q.No = fmt.Sprintf("Add files to %s?", p.files.dir), "Add them", "Pull nothing"
	}
	if n := len(added); n > 0 {
		q.Facts = append(q.Facts, fmt.Sprintf("%s that %s:", app.Count(n, "file is added", "files are added"), whyConfirm))
	}
	for _, path := range added {
		q.Names = append(q.Names, "+ "+path)
	}
	for _, path := range changed {
		q.Names = append(q.Names, "~ "+path)
	}
	p.transfer.Hide()
	return app.Agreed(p.app.ConfirmFiles(ctx, q))
}

// confirmSize asks whether files may be written that are more or larger than usual.
func (p *pull) confirmSize(ctx context.Context, why error) error {
	if !p.asks {
		return failure.New(wire.CodeTooLarge, "the base files of %s are not written: %w", p.destination, why).
			WithHint("if you expect so much, write them with --force").At(app.StageRead).
			Try(p.line("pull").Flag(p.filesFlag()).Flag("--force"))
	}
	p.transfer.Hide()
	return app.Agreed(p.app.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Write that much to %s?", p.files.dir),
		Facts: []string{fmt.Sprintf("Base files of %s: %v.", p.destination, why)},
		Yes:   "Write it", No: "Write nothing",
	}))
}

// whyConfirm says of files why they are not added unasked.
const whyConfirm = "other programs run, or that change what a push sends"

// unconfirmed is the failure of a pull that cannot ask about files.
func (p *pull) unconfirmed(added, changed []string) error {
	code, why := failure.CodeFilesUnconfirmed, []string{}
	if n := len(changed); n > 0 {
		code = failure.CodeFilesDiffer
		why = append(why, fmt.Sprintf("local files that differ from the hub's: %d, such as %s", n, changed[0]))
	}
	if n := len(added); n > 0 {
		some := strings.Join(added[:min(3, n)], ", ")
		why = append(why, fmt.Sprintf("files would be added that %s: %d, such as %s", whyConfirm, n, some))
	}
	forced := p.line("pull").Flag("--base-files-only").Flag("--force")
	if p.output != "" {
		forced = forced.Flag("--output", p.opts.Output.String())
	}
	f := failure.New(code, "%s", strings.Join(why, "; ")).
		WithHint("nothing was changed; look at them, or overwrite and add all files")
	if !p.opts.FilesOnly {
		f = f.Try(p.line("pull")) // which merges the settings: --force would replace them
	}
	return f.Try(forced)
}

func paths(files []tree.Entry) []string {
	names := make([]string, len(files))
	for i, e := range files {
		names[i] = e.Path
	}
	return names
}

// fileTexts reads files that are added or differ, here and on the hub.
func (p *pull) fileTexts(ctx context.Context, added, changed []string) (flat.Difference, error) {
	to, err := app.HubTexts(ctx, p.hub, p.destination, p.files.set, slices.Concat(added, changed), p.transfer.Update)
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
	return app.FilesDifference(added, changed, nil, from.Texts, to), nil
}

// filesFlag is the flag that has the base files pulled.
func (p *pull) filesFlag() string {
	if p.opts.FilesOnly {
		return "--base-files-only"
	}
	return "--base-files"
}

// writeFiles writes the files that are missing or differ, and returns how many it replaced. Other
// files stay as they are.
func (p *pull) writeFiles(ctx context.Context, r *Result) (replaced int, err error) {
	replaces := map[string]int{}
	for _, e := range p.files.Added {
		replaces[e.Path] = 0
	}
	for _, e := range p.files.Changed {
		replaces[e.Path] = 1
	}
	if len(replaces) > 0 {
		missing := tree.Tree(slices.Concat(p.files.Added, p.files.Changed))
		so := tui.Progress{Phase: app.Downloading, TotalFiles: len(missing), TotalBytes: missing.Bytes()}
		err = p.hub.DownloadBaseFiles(ctx, p.destination, p.files.set, func(e tree.Entry, content io.Reader) error {
			n, wanted := replaces[e.Path]
			if !wanted {
				_, err := io.Copy(io.Discard, content)
				return err
			}
			if err := p.files.Write(e, content); err != nil {
				return failure.At(app.StageWrite, err)
			}
			replaced += n
			so.Files, so.Bytes = so.Files+1, so.Bytes+e.Size
			p.transfer.Update(so)
			return nil
		})
	}
	r.BaseFilesPulled = len(p.files.set.Files)
	added := paths(p.files.Added)
	r.FilesResult = &FilesResult{Added: len(added), Changed: len(p.files.Changed), AddedPaths: added}
	return replaced, err
}
