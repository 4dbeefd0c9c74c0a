package app

import (
	"context"
	"fmt"
	"strings"

	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// FileOptions say how base files are chosen.
type FileOptions struct {
	AllowEmpty  bool
	ListSkipped bool
	Report      Report
}

// Files is a chosen and hashed set of base files.
type Files struct {
	*basefiles.Selection
	tree.Snapshot
	GitIgnored []string // paths of chosen files that git ignores
	Notes      []string
}

// CountFiles tells how many base files a local project has, and their bytes.
func (a *App) CountFiles(ctx context.Context, local *workspace.Project) (files int, bytes int64, err error) {
	client, err := local.Client()
	if err != nil {
		return 0, 0, err
	}
	selection, err := a.chooseFiles(ctx, local, client, FileOptions{AllowEmpty: true})
	if err != nil {
		return 0, 0, err
	}
	return len(selection.Files), selection.Bytes, nil
}

func (a *App) chooseFiles(ctx context.Context, local *workspace.Project, client *workspace.Client, o FileOptions) (*basefiles.Selection, error) {
	root, err := client.AppRoot()
	if err != nil {
		return nil, err
	}
	generated, err := local.Generated()
	if err != nil {
		return nil, err
	}
	if o.Report != nil {
		o.Report(ui.Progress{Phase: Collecting})
	}
	return basefiles.Choose(ctx, basefiles.Options{
		Workspace: local.Workspace.Dir, Root: local.Workspace.Path(root), Generated: generated,
		AllowEmpty: o.AllowEmpty, ListSkipped: o.ListSkipped, CacheDir: a.CacheDir("hashes"),
	})
}

// ChooseFiles chooses and hashes the base files of a local project.
func (a *App) ChooseFiles(ctx context.Context, local *workspace.Project, client *workspace.Client, o FileOptions) (*Files, error) {
	selection, err := a.chooseFiles(ctx, local, client, o)
	if err != nil {
		return nil, err
	}
	f := &Files{Selection: selection}
	ignored := make(chan []string, 1) // git reads the Directories while the files are hashed
	go func() { ignored <- basefiles.GitIgnored(ctx, selection) }()
	if f.Snapshot, err = selection.Hash(ctx, o.Report.Of(f.Selection, Hashing)); err != nil {
		return nil, err
	}
	if n := f.Links + f.Others; n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s left out: symbolic links and special files are not pushed", Count(n, "entry was", "entries were")))
	}
	if f.GitIgnored = <-ignored; len(f.GitIgnored) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("git ignores %s, such as %s: .toolignore says what is not pushed",
			Count(len(f.GitIgnored), "base file", "base files"), strings.Join(f.GitIgnored[:min(3, len(f.GitIgnored))], ", ")))
	}
	return f, nil
}

// IgnoredFiles lists the base files of a local project that git ignores.
func (a *App) IgnoredFiles(ctx context.Context, local *workspace.Project) ([]string, error) {
	client, err := local.Client()
	if err != nil {
		return nil, err
	}
	selection, err := a.chooseFiles(ctx, local, client, FileOptions{AllowEmpty: true})
	if err != nil {
		return nil, err
	}
	return basefiles.GitIgnored(ctx, selection), nil
}

// IgnoredConsent names the question whether files that git ignores are pushed to a project.
func IgnoredConsent(origin string, project ref.Ref) string {
	return "push files that git ignores to " + origin + " " + project.String()
}

// Send makes f what upload sends, which r is told of, to a hub that probably holds base.
func (f *Files) Send(r Report, base tree.Base, upload func(hubclient.FileSet) (*wire.BaseFilesWritten, error)) (*wire.BaseFilesWritten, error) {
	blobs := f.Blobs()
	defer blobs.Close()
	return upload(hubclient.FileSet{Snapshot: f.Snapshot, Open: blobs.Open, Base: base, OnProgress: r.Of(f.Selection, Uploading)})
}

// Report is told of progress; nil allowed.
type Report func(ui.Progress)

// Of returns what tells r how far a phase has come with a selection; nil where r is.
func (r Report) Of(s *basefiles.Selection, phase string) func(files int, bytes int64) {
	if r == nil {
		return nil
	}
	return func(files int, bytes int64) {
		r(ui.Progress{Phase: phase, Files: files, TotalFiles: len(s.Files), Bytes: bytes, TotalBytes: s.Bytes})
	}
}

// KeepModes gives files the modes that the hub knows, on a platform that cannot
// tell which files can be run.
func KeepModes(ctx context.Context, hub *identity.Hub, r ref.Ref, f *Files) error {
	if basefiles.KnowsModes {
		return nil
	}
	set, err := hub.BaseFiles(ctx, r)
	if err != nil || set == nil {
		return err
	}
	modes := map[string]tree.Mode{}
	for _, e := range set.Files {
		modes[e.Path] = e.Mode
	}
	for i, e := range f.Tree {
		if mode, ok := modes[e.Path]; ok {
			f.Tree[i].Mode = mode
		}
	}
	f.Snapshot = f.Tree.Snapshot()
	return nil
}

// Phases of a transfer.
const (
	Collecting  = "collecting" // how many files there are is not known yet
	Hashing     = "hashing"
	Uploading   = "uploading"
	Downloading = "downloading"
)

// ConfirmIgnored asks whether base files are pushed that git ignores.
func (a *App) ConfirmIgnored(ctx context.Context, project, origin string, paths []string) (bool, error) {
	facts := append([]string{fmt.Sprintf("git ignores %s:", Count(len(paths), "base file", "base files"))}, Shortened(paths)...)
	return a.UI.Confirm(ctx, ui.YesNo{
		Title: fmt.Sprintf("Push files that git ignores to %s?", project),
		Facts: append(facts, "To leave files out, list them in .toolignore."),
		Yes:   "Push them", No: "Push nothing",
	})
}
