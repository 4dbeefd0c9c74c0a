package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/stackmanifest"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// Files is a chosen and hashed set of base files.
type Files struct {
	*basefiles.Selection
	tree.Snapshot
	Notes []string
}

// Bundle chooses the files of a local project's stack. The zero limits are those of the hub.
func (a *App) Bundle(
	ctx context.Context, local *workspace.Project, limits wire.Limits,
) (*basefiles.Selection, error) {
	return a.within(ctx, basefiles.Bundle, basefiles.Options{
		Workspace: local.Workspace.Dir, Root: local.Workspace.Path(".tool/" + local.Name),
		CacheDir: a.CacheDir("hashes"), Limits: limits,
	})
}

// within chooses files within limits. For the zero Limits these are the usual ones, or
// where they are exceeded those of the hub, so that most commands need not ask it.
func (a *App) within(
	ctx context.Context, choose func(context.Context, basefiles.Options) (*basefiles.Selection, error),
	o basefiles.Options,
) (*basefiles.Selection, error) {
	selection, err := choose(ctx, o)
	if o.Limits != (wire.Limits{}) || err == nil || failure.Of(err).Code != wire.CodeTooLarge {
		return selection, err
	}
	hub, hubErr := a.ConnectAnyway()
	if hubErr == nil {
		o.Limits, hubErr = hub.Limits(ctx)
	}
	if hubErr != nil {
		return nil, err
	}
	return choose(ctx, o)
}

// ChooseFiles chooses and hashes the base files of a local project. Of o it needs only what the project
// does not say. The zero limits are those of the hub.
func (a *App) ChooseFiles(
	ctx context.Context, local *workspace.Project, client *workspace.Client, o basefiles.Options, report Report,
) (*Files, error) {
	root, err := client.AppRoot()
	if err != nil {
		return nil, err
	}
	if o.Generated, err = local.Generated(); err != nil {
		return nil, err
	}
	if report != nil {
		report(tui.Progress{Phase: Collecting})
	}
	o.Workspace, o.Root, o.CacheDir = local.Workspace.Dir, local.Workspace.Path(root), a.CacheDir("hashes")
	f := &Files{}
	if f.Selection, err = a.within(ctx, basefiles.Choose, o); err != nil {
		return nil, err
	}
	if f.Snapshot, err = f.Selection.Hash(ctx, report.Of(f.Selection, Hashing)); err != nil {
		return nil, err
	}
	if n := f.Links + f.Others; n > 0 {
		f.Notes = append(f.Notes, Count(n, "entry was", "entries were")+
			" left out: symbolic links and special files are not pushed")
	}
	return f, nil
}

// Sensitive starts to find the files that git ignores, except those that are the same in base, which the hub has
// had already. It returns a function that waits for the answer.
func (f *Files) Sensitive(ctx context.Context, base tree.Snapshot) func() Sensitive {
	found := make(chan Sensitive, 1)
	if f.Digest == base.Digest {
		found <- Sensitive{}
	} else {
		go func() { found <- Ignored(ctx, f.Root(), f.notIn(base)) }()
	}
	return sync.OnceValue(func() Sensitive { return <-found })
}

// LeaveOut removes files that git ignores from the set, with a note, because nobody can be asked whether they are
// sent. It keeps, and returns, those that a rule in .toolignore includes and those that allowed names.
func (f *Files) LeaveOut(ignored, allowed []string) (kept []string, err error) {
	if len(ignored) == 0 { // as nearly always
		return nil, nil
	}
	var leftOut []string
	keeps := func(file *basefiles.File) bool {
		if _, isIgnored := slices.BinarySearch(ignored, file.Path); !isIgnored {
			return true
		}
		if file.Kept || isAllowed(allowed, f.InWorkspace(file)) {
			kept = append(kept, file.Path)
			return true
		}
		leftOut = append(leftOut, file.Path)
		return false
	}
	selected := *f.Selection
	selected.Files, selected.Bytes = nil, 0
	var entries tree.Tree
	for i, file := range f.Files {
		if keeps(file) {
			selected.Files, selected.Bytes = append(selected.Files, file), selected.Bytes+file.Size
			entries = append(entries, f.Tree[i])
		}
	}
	if len(leftOut) == 0 {
		return kept, nil
	}
	if len(entries) == 0 {
		return nil, failure.New(failure.CodeNoBaseFiles, "git ignores all base files, such as %s", leftOut[0]).
			WithHint("include them by rules that start with ! in .toolignore")
	}
	f.Selection, f.Snapshot = &selected, entries.Snapshot()
	f.Notes = append(f.Notes, Sensitive{Ignored: leftOut}.Note("base file", "base files",
		", left out: a rule with ! in .toolignore includes them"))
	return kept, nil
}

// Secrets returns the files that hold secrets, relative to the workspace, without those that
// are the same in base and those that allowed names.
func (f *Files) Secrets(base tree.Snapshot, allowed []string) (secrets []Secret) {
	isSecret := func(file *basefiles.File) bool { return file.Secret || file.Credential != "" }
	if !slices.ContainsFunc(f.Files, isSecret) { // as nearly always
		return nil
	}
	for _, file := range f.notIn(base) {
		if isSecret(file) {
			secrets = append(secrets, Secret{f.InWorkspace(file), file.Credential})
		}
	}
	return NotAllowed(secrets, allowed)
}

// notIn returns the files that are not the same in base.
func (f *Files) notIn(base tree.Snapshot) (files []*basefiles.File) {
	if base.Digest == "" {
		return f.Files
	}
	for _, i := range f.Tree.NotIn(base.Tree) {
		files = append(files, f.Files[i])
	}
	return files
}

// Set returns f for an upload that opens blobs, reports its progress to r, and expects the hub to
// have base.
func (f *Files) Set(blobs *basefiles.Blobs, r Report, base tree.Snapshot) hubclient.FileSet {
	return hubclient.FileSet{
		Snapshot: f.Snapshot, Open: blobs.Open, Base: base, OnProgress: r.Of(f.Selection, Uploading),
	}
}

// Report receives progress; it may be nil.
type Report func(tui.Progress)

// Of returns a function that reports the progress of a phase to r, nil for a nil r.
func (r Report) Of(s *basefiles.Selection, phase string) func(files int, bytes int64) {
	if r == nil {
		return nil
	}
	return func(files int, bytes int64) {
		r(tui.Progress{Phase: phase, Files: files, TotalFiles: len(s.Files), Bytes: bytes, TotalBytes: s.Bytes})
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

// maxNamed bounds stack.json and the schema that it names, in bytes.
const maxNamed = 2 << 20

// CheckManifest checks that the bundle of a local project contains what stack.json names, the module of the preview
// and the JSON Schema of settings, and returns that schema, nil for none. The hub validates the schema, and the
// preview resolves the module's imports.
func CheckManifest(local *workspace.Project, bundle *basefiles.Selection, files tree.Tree) (schema []byte, err error) {
	blobs := bundle.Blobs()
	defer blobs.Close()
	entries := make(map[string]tree.Entry, len(files))
	for _, e := range files {
		entries[e.Path] = e
	}
	read := func(path string) ([]byte, error) {
		if entries[path].Size > maxNamed {
			return nil, fmt.Errorf("%s is larger than %d MiB", path, maxNamed>>20)
		}
		content, err := blobs.Open(entries[path])
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(content)
	}
	text, err := read("stack.json")
	if err != nil {
		return nil, err
	}
	schema, err = readNamed(text, entries, read)
	if err != nil {
		at := workspace.Position{File: ".tool/" + local.Name + "/stack.json"}
		return nil, failure.New(failure.CodeInvalidFile, "%w", &workspace.Blamed{At: at, Err: err}).
			WithHint("preview.module must be a .ts or .js file in .tool/%s, and settings.schema a JSON file there", local.Name)
	}
	return schema, nil
}

// readNamed checks what stack.json, whose content is text, names among the files of a bundle, and
// returns the schema, nil for none.
func readNamed(
	text []byte, entries map[string]tree.Entry, read func(path string) ([]byte, error),
) (schema []byte, err error) {
	named, err := stackmanifest.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, ok := entries[named.Module]; named.Module != "" && !ok {
		return nil, fmt.Errorf("preview.module names %s, which is not in the bundle", named.Module)
	}
	if named.Schema == "" {
		return nil, nil
	}
	if _, ok := entries[named.Schema]; !ok {
		return nil, fmt.Errorf("settings.schema names %s, which is not in the bundle", named.Schema)
	}
	if schema, err = read(named.Schema); err != nil {
		return nil, err
	}
	if err := wire.CheckSyntax(schema); err != nil {
		return nil, fmt.Errorf("settings.schema names %s, which is not JSON: %w", named.Schema, err)
	}
	return schema, nil
}
