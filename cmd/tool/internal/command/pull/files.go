package pull

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// filesPlan is what a pull will do to the base files.
type filesPlan struct {
	*basefiles.Restore
	set     *wire.BaseFiles // the hub's
	dir     string          // where they are written
	dirName string          // dir, as it is shown to the user
	toAsk   []string        // paths of the added files that need a yes
}

// findOutput finds the directory of --output.
func (p *pull) findOutput() error {
	if !p.opts.Output.Given() {
		return nil
	}
	typed := p.opts.Output.String()
	dir, err := p.App.Path(typed)
	if err != nil {
		return err
	}
	dir, reserved, err := p.Local.Workspace.Locate(dir)
	if err != nil {
		return cmdline.Usagef("--output %s: %v", typed, err)
	}
	if reserved != "" {
		return cmdline.Usagef("--output leads into %s, where no base files are written", reserved)
	}
	p.output = dir
	return nil
}

// planFiles compares the hub's base files with the local ones, which are in the directory of --output
// or else in the app root.
func (p *pull) planFiles(ctx context.Context, plan *plan, appRoot string) error {
	dir, dirName := p.Local.Workspace.Path(appRoot), appRoot
	if appRoot == "." {
		dirName = "the app root"
	}
	if p.output != "" {
		dir, dirName = p.output, filepath.Join(p.App.Dir, p.opts.Output.String())
	}
	set, err := p.Hub.BaseFiles(ctx, p.Project)
	if err != nil {
		return err
	}
	if set == nil && p.isNew {
		plan.Note("%s holds no base files", p.Project)
		return nil
	}
	if set == nil {
		return failure.New(failure.CodeNoBaseFiles, "%s holds no base files on %s", p.Project, p.Hub.Origin()).
			Try(p.Line("push").Flag("--base-files-only"))
	}
	restore, err := basefiles.NewRestore(dir, set.Files)
	if err != nil {
		return failure.At(app.StageRead, err)
	}
	plan.files = &filesPlan{Restore: restore, set: set, dir: dir, dirName: dirName}
	root := appRoot
	if p.output != "" {
		root = "." // a person has named it
	}
	for _, e := range restore.Added {
		// Rules of an app that comes with them do nothing to a file of the person's.
		comesWithApp := e.Path == ".toolignore" && restore.CreatesDir()
		if !comesWithApp && basefiles.ToConfirm(root, e) {
			plan.files.toAsk = append(plan.files.toAsk, e.Path)
		}
	}
	plan.BaseFilesPulled = len(set.Files)
	plan.FilesResult = &FilesResult{
		Added:      len(restore.Added),
		Changed:    len(restore.Changed),
		AddedPaths: paths(restore.Added),
	}
	return nil
}

// confirmFiles asks before more, or larger, files than usual are written, before local files that
// differ are overwritten, and before files are added that other programs run or that change what a push sends.
func (p *pull) confirmFiles(ctx context.Context, f *filesPlan) error {
	if aboveUsual := basefiles.CheckLimits(f.set.Files, basefiles.UsualLimits); aboveUsual != nil {
		if err := p.confirmSize(ctx, f, aboveUsual); err != nil {
			return err
		}
	}
	changed := paths(f.Changed)
	if len(f.toAsk)+len(changed) == 0 {
		return nil
	}
	if !p.asks {
		return p.unconfirmed(f, changed)
	}
	q := app.FilesQuestion{
		Title: fmt.Sprintf("Overwrite files in %s?", f.dirName),
		Yes:   "Overwrite them",
		Show:  func(ctx context.Context) (flat.Difference, error) { return p.fileTexts(ctx, f, changed) },
	}
	if n := len(changed); n > 0 {
		differ := app.Count(n, "file differs", "files differ")
		q.Facts = append(q.Facts, fmt.Sprintf("%s from those of %s:", differ, p.Project))
	} else {
		q.Title, q.Yes = fmt.Sprintf("Add files to %s?", f.dirName), "Add them"
	}
	if n := len(f.toAsk); n > 0 {
		added := app.Count(n, "file is added", "files are added")
		q.Facts = append(q.Facts, added+" that other programs run, or that change what a push sends:")
	}
	for _, path := range f.toAsk {
		q.Names = append(q.Names, "+ "+path)
	}
	for _, path := range changed {
		q.Names = append(q.Names, "~ "+path)
	}
	return app.Agreed(p.App.ConfirmFiles(ctx, q))
}

// confirmSize asks whether files may be written that are more or larger than usual. aboveUsual says
// how far they are.
func (p *pull) confirmSize(ctx context.Context, f *filesPlan, aboveUsual error) error {
	if !p.asks {
		return failure.New(wire.CodeTooLarge, "the base files of %s are not written: %w", p.Project, aboveUsual).
			WithHint("if you expect so much, write them with --force").At(app.StageRead).
			Try(p.forced())
	}
	return app.Agreed(p.App.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Write that much to %s?", f.dirName),
		Facts: []string{fmt.Sprintf("Base files of %s: %v.", p.Project, aboveUsual)},
		Yes:   "Write it",
	}))
}

// unconfirmed is the failure of a pull that cannot ask about files.
func (p *pull) unconfirmed(plan *filesPlan, changed []string) error {
	code := failure.CodeFilesUnconfirmed
	var reasons []string
	if n := len(changed); n > 0 {
		code = failure.CodeFilesDiffer
		reasons = append(reasons, fmt.Sprintf("local files that differ from the hub's: %d, such as %s", n, changed[0]))
	}
	if n := len(plan.toAsk); n > 0 {
		reasons = append(reasons, fmt.Sprintf("files would be added that other programs run, "+
			"or that change what a push sends: %d, such as %s", n, strings.Join(plan.toAsk[:min(3, n)], ", ")))
	}
	f := failure.New(code, "%s", strings.Join(reasons, "; ")).
		WithHint("nothing was changed; look at them, or overwrite and add all files")
	if !p.opts.FilesOnly {
		f = f.Try(p.line(Options{})) // this merges the settings: --force would replace them
	}
	return f.Try(p.forced())
}

func paths(files []tree.Entry) []string {
	names := make([]string, len(files))
	for i, e := range files {
		names[i] = e.Path
	}
	return names
}

// fileTexts reads the files that are asked about, here and on the hub.
func (p *pull) fileTexts(ctx context.Context, f *filesPlan, changed []string) (flat.Difference, error) {
	to, err := app.HubTexts(ctx, p.Hub, p.Project, f.set, slices.Concat(f.toAsk, changed), p.transfer.Update)
	p.transfer.Hide()
	if err != nil {
		return flat.Difference{}, err
	}
	var from app.FileTexts
	for _, e := range f.Changed {
		content, size, err := f.Open(e.Path)
		if err == nil {
			e.Size = size
			err = from.Add(e, content)
			content.Close()
		}
		if err != nil {
			return flat.Difference{}, failure.At(app.StageRead, err)
		}
	}
	return app.FilesDifference(tree.Difference{Added: f.toAsk, Changed: changed}, from.Texts, to), nil
}

// forced is a pull of the base files alone, which asks nothing: --force would replace the settings.
func (p *pull) forced() cmdline.Line {
	return p.line(Options{Files: p.isNew, FilesOnly: !p.isNew, Force: true, Output: p.opts.Output})
}

// writeFiles writes the files that are missing or differ. It returns how many existing files it
// replaced, also when it fails. Other files stay as they are.
func (p *pull) writeFiles(ctx context.Context, f *filesPlan) (replaced int, err error) {
	toWrite := tree.Tree(slices.Concat(f.Added, f.Changed))
	if len(toWrite) == 0 {
		return 0, nil
	}
	wanted := map[string]bool{}
	for _, e := range toWrite {
		wanted[e.Path] = true
	}
	progress := tui.Progress{
		Phase:      app.Downloading,
		TotalFiles: len(toWrite),
		TotalBytes: toWrite.Bytes(),
	}
	// This may run again for a file whose download was interrupted, but not for one that it has counted.
	err = p.Hub.DownloadBaseFiles(ctx, p.Project, f.set, func(e tree.Entry, content io.Reader) error {
		if !wanted[e.Path] {
			_, err := io.Copy(io.Discard, content)
			return err
		}
		if err := f.Write(e, content); err != nil {
			return failure.At(app.StageWrite, err)
		}
		if f.Found(e.Path) != "" {
			replaced++
		}
		progress.Files++
		progress.Bytes += e.Size
		p.transfer.Update(progress)
		return nil
	})
	return replaced, err
}
