package preview

import (
	"cmp"
	"context"
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/watcher"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/description"
	"example.com/projecthub/hubclient/stackmanifest"
	"example.com/projecthub/hubclient/tree"
)

// What a preview takes, as on the hub's page.
const (
	maxFile  = 10 << 20 // bytes; a larger file is listed without its content
	maxFiles = 64 << 20 // bytes of all base files together
	maxStack = 16 << 20 // bytes of all files of the stack that its module can import
)

// snapshot is all that a preview shows, as it is in the working tree at one time.
type snapshot struct {
	Revision string         `json:"revision"`
	Config   jsontext.Value `json:"config"` // flat
	API      string         `json:"api"`    // JSON
	Stack    stack          `json:"stack"`
	Tree     string         `json:"tree"`
	files    map[string]file
}

// stack is what a preview takes of a stack.
type stack struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	Module  string          `json:"module,omitzero"` // "" without a preview module
	Digest  string          `json:"digest"`
	files   map[string]file // that the module can import
}

// file is one file. Its content is nil where it is larger than maxFile.
type file struct {
	sha256  string
	size    int64
	content []byte
}

// same reports whether two snapshots show the same.
func (s snapshot) same(other snapshot) bool {
	return s.Revision == other.Revision && s.API == other.API &&
		s.Stack.Digest == other.Stack.Digest && s.Tree == other.Tree
}

// source reads a local project.
type source struct {
	app   *app.App
	local *workspace.Project
	last  snapshot // what was read last
	bound []byte   // the API's description that the hub has; nil: not asked yet

	// What the last read depends on.
	described []string               // files of the API's description, set by readAPI
	dirs      []string               // directories to watch, set by depend
	ignored   func(path string) bool // reports changes in dirs that do not matter, set by depend
}

// read reads the working tree.
func (s *source) read(ctx context.Context) (now snapshot, err error) {
	client, err := s.local.Client()
	if err != nil {
		return now, failure.At(app.StageRead, err)
	}
	config, err := client.Config()
	if err != nil {
		return now, failure.At(app.StageRead, err)
	}
	o := basefiles.Options{AllowEmpty: true, ListSkipped: true, Limits: basefiles.UsualLimits} // without the hub
	files, err := s.app.ChooseFiles(ctx, s.local, client, o, nil)
	if err != nil {
		return now, failure.At(app.StageRead, err)
	}
	stack, bundle, err := s.readStack(ctx)
	if err != nil {
		return now, failure.At(app.StageStack, err)
	}
	api, err := s.readAPI(ctx, client)
	if err != nil {
		return now, failure.At(app.StageAPI, err)
	}
	s.depend(files, bundle)
	if files.Bytes > maxFiles {
		return now, tooLarge("the base files", files.Bytes, maxFiles).
			WithHint("leave out what the app does not need, in .toolignore").At(app.StageRead)
	}
	contents, err := contentsOf(files.Selection, files.Tree, s.last.files)
	if err != nil {
		return now, failure.At(app.StageRead, err)
	}
	s.last = snapshot{
		Revision: config.Revision(),
		Config:   config.Canonical(),
		API:      string(api),
		Stack:    stack,
		Tree:     files.Digest,
		files:    contents,
	}
	return s.last, nil
}

func tooLarge(what string, size, limit int64) failure.Failure {
	return failure.New(failure.CodeInvalidFile, "%s are %s: a preview takes at most %s",
		what, app.Bytes(size), app.Bytes(limit))
}

// depend remembers which directories a preview depends on, and which changes there do
// not matter.
func (s *source) depend(files *app.Files, bundle *basefiles.Selection) {
	own := filepath.Dir(s.local.Workspace.Path(s.local.ClientPath()))
	s.dirs = append(slices.Concat(files.Dirs(), bundle.Dirs()), own)
	others := map[string]bool{} // directories that have only files of the description
	for _, name := range s.described {
		if dir := filepath.Dir(s.local.Workspace.Path(name)); !slices.Contains(s.dirs, dir) {
			s.dirs, others[dir] = append(s.dirs, dir), true
		}
	}
	isExcluded := watcher.AnyOf(append(files.Excluded(), filepath.Join(own, "pulled.json")), "")
	s.ignored = func(path string) bool {
		if others[filepath.Dir(path)] { // a file that does not exist yet may be referred to already
			return !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
		}
		return isExcluded(path)
	}
}

// contentsOf reads the files of a selection, but not those again that are in before.
func contentsOf(selection *basefiles.Selection, entries tree.Tree, before map[string]file) (map[string]file, error) {
	blobs := selection.Blobs()
	defer blobs.Close()
	all := make(map[string]file, len(entries))
	for _, e := range entries {
		f := before[e.Path]
		if f.sha256 != e.SHA256 {
			f = file{sha256: e.SHA256, size: e.Size}
			if e.Size <= maxFile {
				r, err := blobs.Open(e)
				if err != nil {
					return nil, err
				}
				f.content, err = io.ReadAll(r)
				r.Close()
				if err != nil {
					return nil, err
				}
			}
		}
		all[e.Path] = f
	}
	return all, nil
}

// readStack reads stack.json, and what the module that it names can import. A stack that was
// never published has no name.
func (s *source) readStack(ctx context.Context) (of stack, bundle *basefiles.Selection, err error) {
	bundle, err = s.app.Bundle(ctx, s.local, basefiles.UsualLimits)
	if err != nil {
		return of, nil, err
	}
	all, err := bundle.Hash(ctx, nil)
	if err != nil {
		return of, nil, err
	}
	importable := slices.DeleteFunc(slices.Clone(all.Tree), func(e tree.Entry) bool {
		return !slices.Contains([]string{".ts", ".js", ".json"}, path.Ext(e.Path))
	})
	var size int64
	for _, e := range importable {
		size += e.Size
	}
	if size > maxStack {
		return of, nil, tooLarge("the .ts, .js and .json files of .tool/"+s.local.Name, size, maxStack)
	}
	of.Digest = all.Digest
	if of.files, err = contentsOf(bundle, importable, s.last.Stack.files); err != nil {
		return of, nil, err
	}
	if _, err := s.local.Stack(); err != nil {
		return of, nil, err
	}
	manifest, err := stackmanifest.Parse(of.files["stack.json"].content)
	if err != nil {
		return of, nil, failure.New(failure.CodeInvalidFile, ".tool/%s/stack.json: %w", s.local.Name, err)
	}
	of.Name, of.Version, of.Module = cmp.Or(manifest.Name, s.local.Name), manifest.Version, manifest.Module
	return of, bundle, nil
}

// readAPI returns the API's description as JSON: of the file that source names, else what
// the hub has.
func (s *source) readAPI(ctx context.Context, client *workspace.Client) ([]byte, error) {
	s.described = nil
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
			api, err := description.Parse(ctx, read.Text, nil)
			if err != nil {
				return nil, failure.New(failure.CodeInvalidFile, "%s: %w", schema.File, err)
			}
			text := api.JSON()
			if len(text) > description.MaxJSON {
				return nil, failure.New(failure.CodeInvalidFile, "%s is larger than %d MiB as JSON",
					schema.File, description.MaxJSON>>20)
			}
			return text, nil
		}
	}
	if s.bound != nil {
		return s.bound, nil
	}
	target, err := s.app.Destination(s.local, client, nil)
	if err != nil {
		return nil, failure.Of(err).
			WithReason("%s names no file with the API's description as source, and no project of the hub that has one",
				s.local.ClientPath()).
			WithHint(`add "source": "openapi.yaml", or create the project`).WithRecipe(createLine(s.local))
	}
	hub, err := s.app.ConnectAnyway()
	if err != nil {
		return nil, err
	}
	s.bound, err = hub.PreviewAPI(ctx, target)
	if err != nil {
		return nil, app.Explain(hub, err).About(target, failure.Effects{}).
			WithHint(`the API's description is read from the hub; "source" in %s can name a file instead`, s.local.ClientPath())
	}
	return s.bound, nil
}
