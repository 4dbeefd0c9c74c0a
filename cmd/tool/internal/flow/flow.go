// Package flow holds what the flows below it share. A flow is what a command
// does once everything is known: it reads the workspace, speaks to the hub and
// returns a result, with no flag, no terminal and no environment in sight.
//
// No flow imports another.
package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Stages of a failure.
const (
	StageRead        = "read"
	StageStack       = "stack"
	StageDestination = "destination"
	StageAPI         = "api"
	StageCreate      = "create"
	StageSeed        = "seed"
	StagePush        = "push"
	StagePull        = "pull"
	StageWrite       = "write"
	StagePublish     = "publish"
	StageRemove      = "rm"
)

// Connect returns the hub to speak to, as whom it says. What is wrong with that is
// told after what is wrong on this machine.
type Connect func() (*identity.Hub, error)

// Typed returns a command line as it is to be typed where the command was, for a
// note. The printer knows it; nil leaves the line as it is.
type Typed func(cmdline.Line) string

// Text returns a command line as t does.
func (t Typed) Text(l cmdline.Line) string {
	if t == nil {
		return l.String()
	}
	return t(l)
}

// ReadClient reads a local project's client.json and tells warn what in it is
// probably a slip.
func ReadClient(local *workspace.Project, warn func(string)) (*workspace.Client, error) {
	client, err := local.Client()
	if err != nil {
		return nil, err
	}
	for _, w := range client.Warnings {
		warn(w)
	}
	return client, nil
}

// Aborted is the result of a command whose question was answered by no.
type Aborted struct {
	ProjectName string  `json:"projectName"`
	Project     ref.Ref `json:"project,omitzero"`
	Origin      string  `json:"origin,omitzero"`
}

// Phase is a part of a transfer.
type Phase string

const (
	Collecting  Phase = "collecting" // how many files there are is not known yet
	Hashing     Phase = "hashing"
	Uploading   Phase = "uploading"
	Downloading Phase = "downloading"
)

// Progress is how far a transfer has come.
type Progress struct {
	Phase             Phase
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// Report is told of progress; nil allowed.
type Report func(Progress)

// ParseDestination reads a destination that was typed, with or without its @, as the
// value of a flag or, with "", as an argument. The failure is invalid_name.
func ParseDestination(text, flag string) (ref.Ref, error) {
	r, err := ref.ParseTyped(text)
	return r, explainDestination(err, flag)
}

// explainDestination adds to an error where the destination is written.
func explainDestination(err error, place string) error {
	if err != nil {
		if place != "" {
			err = fmt.Errorf("%s: %w", place, err)
		}
		return failure.New(hubclient.CodeInvalidName, "%w", err).
			WithHint("a destination is @account/slug; each part is %s", ref.Rule)
	}
	return nil
}

// Destination returns where a local project goes: flag, when it was given, else
// client.json's project. The failure is no_destination or invalid_name.
func Destination(local *workspace.Project, client *workspace.Client, flag *string) (ref.Ref, error) {
	if flag != nil {
		return ParseDestination(*flag, "--project")
	}
	if client.Project.Present() {
		r, err := ref.Parse(client.Project.Text)
		return r, explainDestination(err, client.Project.At.String())
	}
	return ref.Ref{}, failure.New(failure.CodeNoDestination, "%s does not say which project of the hub it belongs to", local.ClientPath())
}

// FileOptions say how base files are chosen.
type FileOptions struct {
	AllowEmpty  bool
	ListSkipped bool
	CacheDir    string
	Report      Report
}

// Files is a chosen and hashed set of base files.
type Files struct {
	*basefiles.Selection
	tree.Snapshot // of the selected files
	GitIgnored []string // paths of chosen files that git ignores
	Notes      []string
}

// CountFiles tells how many base files a local project has, and their bytes.
func CountFiles(ctx context.Context, local *workspace.Project) (files int, bytes int64, err error) {
	client, err := local.Client()
	if err != nil {
		return 0, 0, err
	}
	selection, err := chooseFiles(ctx, local, client, FileOptions{AllowEmpty: true})
	if err != nil {
		return 0, 0, err
	}
	return len(selection.Files), selection.Bytes, nil
}

func chooseFiles(ctx context.Context, local *workspace.Project, client *workspace.Client, o FileOptions) (*basefiles.Selection, error) {
	root, err := client.AppRoot()
	if err != nil {
		return nil, err
	}
	generated, err := local.Generated()
	if err != nil {
		return nil, err
	}
	if o.Report != nil {
		o.Report(Progress{Phase: Collecting})
	}
	return basefiles.Choose(ctx, basefiles.Options{
		Workspace: local.Workspace.Dir, Root: local.Workspace.Path(root), Generated: generated,
		AllowEmpty: o.AllowEmpty, ListSkipped: o.ListSkipped, CacheDir: o.CacheDir,
	})
}

// ChooseFiles chooses and hashes the base files of a local project.
func ChooseFiles(ctx context.Context, local *workspace.Project, client *workspace.Client, o FileOptions) (*Files, error) {
	selection, err := chooseFiles(ctx, local, client, o)
	if err != nil {
		return nil, err
	}
	f := &Files{Selection: selection}
	ignored := make(chan []string, 1) // git reads the directories while the files are hashed
	go func() { ignored <- basefiles.GitIgnored(ctx, selection) }()
	if f.Snapshot, err = selection.Hash(ctx, o.Report.Of(f.Selection, Hashing)); err != nil {
		return nil, err
	}
	if n := f.Links + f.Others; n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s left out: symbolic links and special files are not pushed", count(n, "entry was", "entries were")))
	}
	if f.GitIgnored = <-ignored; len(f.GitIgnored) > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("git ignores %s, such as %s: .toolignore says what is not pushed",
			count(len(f.GitIgnored), "base file", "base files"), strings.Join(f.GitIgnored[:min(3, len(f.GitIgnored))], ", ")))
	}
	return f, nil
}

// IgnoredFiles lists the base files of a local project that git ignores.
func IgnoredFiles(ctx context.Context, local *workspace.Project) ([]string, error) {
	client, err := local.Client()
	if err != nil {
		return nil, err
	}
	selection, err := chooseFiles(ctx, local, client, FileOptions{AllowEmpty: true})
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

// Of returns what tells r how far a phase has come with a selection; nil where r is.
func (r Report) Of(s *basefiles.Selection, phase Phase) func(files int, bytes int64) {
	if r == nil {
		return nil
	}
	return func(files int, bytes int64) {
		r(Progress{Phase: phase, Files: files, TotalFiles: len(s.Files), Bytes: bytes, TotalBytes: s.Bytes})
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ReadConfig returns the config of a local project, and what a push or a seed
// sends of it.
func ReadConfig(client *workspace.Client) (config flat.Config, body wire.PutConfig, err error) {
	if config, err = client.Config(); err != nil {
		return config, body, err
	}
	if err := client.CheckSecrets(config); err != nil {
		return config, body, err
	}
	if client.Source.Present() {
		if body.Source, err = jsontext.AppendQuote(nil, client.Source.Text); err != nil {
			return config, body, err
		}
	}
	body.Settings, err = client.Settings()
	return config, body, err
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

// Base returns what a local project was last pulled from. A pulled.json that is
// malformed, as after a merge of git with conflicts, is none: the next pull rewrites it.
func Base(local *workspace.Project, warn func(string)) (*workspace.Pulled, error) {
	base, err := local.Pulled()
	if err != nil && failure.Of(err).Code == failure.CodeInvalidFile {
		warn(err.Error() + "; it counts as absent until a pull rewrites it")
		return nil, nil
	}
	return base, err
}

// HasLocalEdits reports whether settings hold what no hub has seen, as far as is known:
// they are neither those that were last pulled, by base, nor those that were last
// pushed or pulled on this machine.
func HasLocalEdits(settings flat.Config, base *workspace.Pulled, r ref.Ref, last string) bool {
	revision := settings.Revision()
	return settings.Len() > 0 && revision != last && !(base != nil && base.Project == r && base.Revision == revision)
}

// IsInterrupted reports that the person or the system ended the command.
func IsInterrupted(err error) bool { return errors.Is(err, context.Canceled) }

// IsNotFound reports that the hub has no such thing.
func IsNotFound(err error) bool { return hubclient.HasCode(err, wire.CodeNotFound) }
