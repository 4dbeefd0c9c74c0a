package preview

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/watcher"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/tree"
)

// What a preview takes, as on the hub's page.
const (
	maxFile  = 10 << 20 // bytes; a larger file is listed without its content
	maxFiles = 64 << 20 // bytes of all base files together
	maxStack = 16 << 20 // bytes of all files of the stack that its module can import
)

// file is the content of one file. A nil content is too large for a preview.
type file struct {
	sha256  string
	size    int64
	content []byte
}

// stack is what a preview takes of a stack.
type stack struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Module  string `json:"module,omitzero"` // "" without a preview module
	Digest  string `json:"digest"`
	files   map[string]file
}

// snapshot is all that a preview shows, as it is in the working tree at one time.
type snapshot struct {
	config   []byte // flat
	revision string
	api      []byte // JSON
	apiSum   [sha256.Size]byte
	stack    stack
	tree     string
	files    map[string]file
}

// same reports whether two snapshots show the same.
func (s *snapshot) same(other *snapshot) bool {
	return other != nil && s.revision == other.revision && s.apiSum == other.apiSum && s.stack.Digest == other.stack.Digest && s.tree == other.tree
}

// source reads a local project.
type source struct {
	app   *app.App
	local *workspace.Project
	last  *snapshot // what was read last
	bound []byte    // the API's description that the hub has; nil: not asked yet

	// What the last read depends on.
	described []string // files of the API's description
	dirs      []string
	ignored   func(path string) bool
}

// read reads the working tree.
func (s *source) read(ctx context.Context) (*snapshot, error) {
	client, err := s.local.Client()
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	now := &snapshot{}
	config, err := client.Config()
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	now.config, now.revision = config.Canonical(), config.Revision()
	o := app.FileOptions{AllowEmpty: true, ListSkipped: true, Limits: basefiles.UsualLimits} // without the hub
	files, err := s.app.ChooseFiles(ctx, s.local, client, o)
	if err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	now.tree = files.Digest
	bundle, err := s.readStack(ctx, now)
	if err != nil {
		return nil, failure.At(app.StageStack, err)
	}
	s.described = nil
	api, err := s.readAPI(ctx, client)
	if err != nil {
		return nil, failure.At(app.StageAPI, err)
	}
	now.api, now.apiSum = api, sha256.Sum256(api)
	s.depend(files, bundle)
	if files.Bytes > maxFiles {
		return nil, failure.New(failure.CodeInvalidFile, "the base files are %s: a preview takes at most %s", app.Bytes(files.Bytes), app.Bytes(maxFiles)).
			WithHint("leave out what the app does not need, in .toolignore").At(app.StageRead)
	}
	var before map[string]file
	if s.last != nil {
		before = s.last.files
	}
	if now.files, err = contents(files.Selection, files.Tree, before); err != nil {
		return nil, failure.At(app.StageRead, err)
	}
	s.last = now
	return now, nil
}

// depend remembers which directories a preview depends on, and which changes there do
// not matter.
func (s *source) depend(files *app.Files, bundle *basefiles.Selection) {
	own := filepath.Dir(s.local.Workspace.Path(s.local.ClientPath()))
	s.dirs = append(slices.Concat(files.Dirs(), bundle.Dirs()), own)
	excluded := append(files.Excluded(), filepath.Join(own, "pulled.json"))
	others := map[string]bool{} // directories that have only files of the description
	for _, name := range s.described {
		if dir := filepath.Dir(s.local.Workspace.Path(name)); !slices.Contains(s.dirs, dir) {
			s.dirs, others[dir] = append(s.dirs, dir), true
		}
	}
	isExcluded := watcher.AnyOf(excluded, "")
	s.ignored = func(path string) bool {
		if others[filepath.Dir(path)] {
			return !slices.Contains(descriptions, filepath.Ext(path))
		}
		return isExcluded(path)
	}
}

// descriptions are the extensions of the files of an API's description. One that does not
// exist yet may be referred to already.
var descriptions = []string{".yaml", ".yml", ".json"}

// contents reads the files of a selection, but not those again that are in before.
func contents(selection *basefiles.Selection, entries tree.Tree, before map[string]file) (map[string]file, error) {
	blobs := selection.Blobs()
	defer blobs.Close()
	all := make(map[string]file, len(entries))
	for _, e := range entries {
		f := file{sha256: e.SHA256, size: e.Size}
		switch had, ok := before[e.Path]; {
		case ok && had.sha256 == e.SHA256:
			f.content = had.content
		case e.Size <= maxFile:
			content, err := contentOf(blobs, e)
			if err != nil {
				return nil, err
			}
			f.content = content
		}
		all[e.Path] = f
	}
	return all, nil
}

func contentOf(blobs *basefiles.Blobs, e tree.Entry) ([]byte, error) {
	r, err := blobs.Open(e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content := bytes.NewBuffer(make([]byte, 0, e.Size))
	if _, err := io.Copy(content, r); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// readStack reads what the module of the stack can import.
func (s *source) readStack(ctx context.Context, now *snapshot) (*basefiles.Selection, error) {
	bundle, err := s.app.Bundle(ctx, s.local, basefiles.UsualLimits)
	if err != nil {
		return nil, err
	}
	all, err := bundle.Hash(ctx, nil)
	if err != nil {
		return nil, err
	}
	var importable tree.Tree
	var size int64
	for _, e := range all.Tree {
		if slices.Contains([]string{".ts", ".js", ".json"}, path.Ext(e.Path)) {
			importable, size = append(importable, e), size+e.Size
		}
	}
	if size > maxStack {
		return nil, failure.New(failure.CodeInvalidFile, "the .ts, .js and .json files of .tool/%s are %s: a preview takes at most %s", s.local.Name, app.Bytes(size), app.Bytes(maxStack))
	}
	var before map[string]file
	if s.last != nil {
		before = s.last.stack.files
	}
	now.stack = stack{Name: s.local.Name, Digest: all.Digest}
	if now.stack.files, err = contents(bundle, importable, before); err != nil {
		return nil, err
	}
	return bundle, s.readManifest(&now.stack)
}

// readManifest reads stack.json as far as a preview needs it. A stack that was never
// published has no name.
func (s *source) readManifest(to *stack) error {
	if _, err := s.local.Stack(); err != nil {
		return err
	}
	var manifest struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Preview struct {
			Module string `json:"module"`
		} `json:"preview"`
	}
	if err := json.Unmarshal(to.files["stack.json"].content, &manifest, jsontext.AllowDuplicateNames(true)); err != nil {
		return failure.New(failure.CodeInvalidFile, ".tool/%s/stack.json: %w", s.local.Name, err).
			WithHint(`it holds {"name": "@account/slug", "version": "0.1.0", "preview": {"module": "mod.ts", "contract": 1}}`)
	}
	to.Version, to.Module = manifest.Version, manifest.Preview.Module
	if manifest.Name != "" {
		to.Name = manifest.Name
	}
	return nil
}

// readAPI returns the API's description as JSON: of the file that source names, else what
// the hub has.
func (s *source) readAPI(ctx context.Context, client *workspace.Client) ([]byte, error) {
	if client.Source.Present() {
		schema, err := client.Schema()
		if err != nil {
			return nil, err
		}
		if schema.File != "" {
			read, err := app.ReadDescription(schema)
			if err != nil {
				return nil, err
			}
			s.described = read.Files
			api, err := toJSON(read.Text)
			if err != nil {
				return nil, failure.New(failure.CodeInvalidFile, "%s: %w", schema.File, err)
			}
			return api, nil
		}
	}
	if s.bound != nil {
		return s.bound, nil
	}
	target, err := app.Destination(s.local, client, nil)
	if err != nil {
		return nil, failure.Of(err).WithReason("%s names no file with the API's description as source, and no project of the hub that has one", s.local.ClientPath()).
			WithHint(`add "source": "openapi.yaml", or create the project`).WithRecipe(cmdline.Tool("project", "create").With(workspace.SlugOf(s.local.Name)).Flag("--from", s.local.Name))
	}
	hub, err := s.app.ConnectAnyway()
	if err != nil {
		return nil, err
	}
	api, err := hub.PreviewAPI(ctx, target)
	if err != nil {
		return nil, app.Explain(hub, err).About(target, failure.Effects{}).
			WithHint(`the API's description is read from the hub; "source" in %s can name a file instead`, s.local.ClientPath())
	}
	s.bound = api
	return api, nil
}

// digests returns the digests of files by their paths.
func digests(files map[string]file) map[string]string {
	all := make(map[string]string, len(files))
	for path, f := range files {
		all[path] = f.sha256
	}
	return all
}

// paths returns the paths of files in order.
func paths[V any](files map[string]V) []string { return slices.Sorted(maps.Keys(files)) }
