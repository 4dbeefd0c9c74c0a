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
	set    *wire.BaseFiles
	dir    string   // where they are written
	called string   // dir, for a person
	acting []string // added files that are asked about
}

// findOutput finds the directory of --output.
func (p *pull) findOutput() (err error) {
	if !p.opts.Output.Given() {
		return nil
	}
	typed, reserved := p.opts.Output.String(), ""
	if p.output, err = p.App.Path(typed); err != nil {
		return err
	}
	if p.output, reserved, err = p.Local.Workspace.Locate(p.output); err != nil {
		return cmdline.Usagef("--output %s: %v", typed, err)
	}
	if reserved != "" {
		return cmdline.Usagef("--output leads into %s, where no base files are written", reserved)
	}
	return nil
}

// planFiles compares the hub's base files with the local ones, those of the app root unless
// another place was given.
func (p *pull) planFiles(ctx context.Context, plan *plan, root string) (err error) {
	f := &filesPlan{dir: p.output, called: filepath.Join(p.App.Dir, p.opts.Output.String())}
	if p.output == "" {
		f.dir = p.Local.Workspace.Path(root)
		if f.called = root; root == "." {
			f.called = "the app root"
		}
	}
	if f.set, err = p.Hub.BaseFiles(ctx, p.Project); err != nil {
		return err
	}
	if f.set == nil {
		return failure.New(failure.CodeNoBaseFiles, "%s holds no base files on %s", p.Project, p.Hub.Origin()).
			Try(p.Line("push").Flag("--base-files-only"))
	}
	if f.Restore, err = basefiles.NewRestore(f.dir, f.set.Files); err != nil {
		return failure.At(app.StageRead, err)
	}
	for _, e := range f.Added {
		if basefiles.ToConfirm(e) {
			f.acting = append(f.acting, e.Path)
		}
	}
	plan.files, plan.BaseFilesPulled = f, len(f.set.Files)
	plan.FilesResult = &FilesResult{Added: len(f.Added), Changed: len(f.Changed), AddedPaths: paths(f.Added)}
	return nil
}

// whyConfirm says of files why they are not added unasked.
const whyConfirm = "other programs run, or that change what a push sends"

// confirmFiles asks before more, or larger, files than usual are written, before local files that
// differ are overwritten, and before those are added that do more than being part of the app.
func (p *pull) confirmFiles(ctx context.Context, f *filesPlan) error {
	if why := basefiles.CheckLimits(f.set.Files, basefiles.UsualLimits); why != nil {
		if err := p.confirmSize(ctx, f, why); err != nil {
			return err
		}
	}
	changed := paths(f.Changed)
	if len(f.acting)+len(changed) == 0 {
		return nil
	}
	if !p.asks {
		return p.unconfirmed(f, changed)
	}
	q := app.FilesQuestion{
		Title: fmt.Sprintf("Overwrite files in %s?", f.called), Yes: "Overwrite them", No: "Leave them",
		Show: func(ctx context.Context) (flat.Difference, error) { return p.fileTexts(ctx, f, changed) },
	}
	if n := len(changed); n > 0 {
		differ := app.Count(n, "file differs", "files differ")
		q.Facts = append(q.Facts, fmt.Sprintf("%s from those of %s:", differ, p.Project))
	} else {
		q.Title, q.Yes, q.No = fmt.Sprintf("Add files to %s?", f.called), "Add them", "Pull nothing"
	}
	if n := len(f.acting); n > 0 {
		q.Facts = append(q.Facts, app.Count(n, "file is added", "files are added")+" that "+whyConfirm+":")
	}
	for _, path := range f.acting {
		q.Names = append(q.Names, "+ "+path)
	}
	for _, path := range changed {
		q.Names = append(q.Names, "~ "+path)
	}
	return app.Agreed(p.App.ConfirmFiles(ctx, q))
}

// confirmSize asks whether files may be written that are more or larger than usual.
func (p *pull) confirmSize(ctx context.Context, f *filesPlan, why error) error {
	if !p.asks {
		return failure.New(wire.CodeTooLarge, "the base files of %s are not written: %w", p.Project, why).
			WithHint("if you expect so much, write them with --force").At(app.StageRead).
			Try(p.forced())
	}
	return app.Agreed(p.App.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Write that much to %s?", f.called),
		Facts: []string{fmt.Sprintf("Base files of %s: %v.", p.Project, why)},
		Yes:   "Write it", No: "Write nothing",
	}))
}

// unconfirmed is the failure of a pull that cannot ask about files.
func (p *pull) unconfirmed(plan *filesPlan, changed []string) error {
	code, why := failure.CodeFilesUnconfirmed, []string{}
	if n := len(changed); n > 0 {
		code = failure.CodeFilesDiffer
		why = append(why, fmt.Sprintf("local files that differ from the hub's: %d, such as %s", n, changed[0]))
	}
	if n := len(plan.acting); n > 0 {
		some := strings.Join(plan.acting[:min(3, n)], ", ")
		why = append(why, fmt.Sprintf("files would be added that %s: %d, such as %s", whyConfirm, n, some))
	}
	f := failure.New(code, "%s", strings.Join(why, "; ")).
		WithHint("nothing was changed; look at them, or overwrite and add all files")
	if !p.opts.FilesOnly {
		f = f.Try(p.Line("pull")) // which merges the settings: --force would replace them
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
	to, err := app.HubTexts(ctx, p.Hub, p.Project, f.set, slices.Concat(f.acting, changed), p.transfer.Update)
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
	return app.FilesDifference(f.acting, changed, nil, from.Texts, to), nil
}

// forced is a pull of the base files alone, which asks nothing: --force would replace the settings.
func (p *pull) forced() cmdline.Line {
	return p.line(Options{FilesOnly: true, Force: true, Output: p.opts.Output})
}

// writeFiles writes the files that are missing or differ, and returns how many it replaced. Other
// files stay as they are.
func (p *pull) writeFiles(ctx context.Context, f *filesPlan) (replaced int, err error) {
	missing := tree.Tree(slices.Concat(f.Added, f.Changed))
	if len(missing) == 0 {
		return 0, nil
	}
	wanted := map[string]bool{}
	for _, e := range missing {
		wanted[e.Path] = true
	}
	so := tui.Progress{Phase: app.Downloading, TotalFiles: len(missing), TotalBytes: missing.Bytes()}
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
		so.Files, so.Bytes = so.Files+1, so.Bytes+e.Size
		p.transfer.Update(so)
		return nil
	})
	return replaced, err
}
