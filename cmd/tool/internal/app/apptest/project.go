package apptest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Stack is the stack of the local project web.
var Stack, _ = ref.New(User, "web")

// Publish publishes a version of the stack web.
func (w *World) Publish(version string) {
	w.Helper()
	stack := `{"name": "@` + User + `/web", "version": "` + version + `", "by": "apptest"}`
	w.publish(version, map[string]string{"stack.json": stack})
}

// PublishSchema publishes a version of the stack web with a schema of its settings.
func (w *World) PublishSchema(version, schema string) {
	w.Helper()
	manifest := `{"name": "@` + User + `/web", "version": "` + version + `", "settings": {"schema": "schema.json"}}`
	w.publish(version, map[string]string{"stack.json": manifest, "schema.json": schema})
}

func (w *World) publish(version string, contents map[string]string) {
	w.Helper()
	var files tree.Tree
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		hash := sha256.Sum256([]byte(contents[path]))
		files = append(files, tree.Entry{
			Path: path, Mode: tree.ModeOf(0o644), Size: int64(len(contents[path])), SHA256: hex.EncodeToString(hash[:]),
		})
	}
	open := func(e tree.Entry) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(contents[e.Path])), nil
	}
	set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}
	if _, err := w.Client().PublishVersion(w.Context(), Stack, version, set); err != nil {
		w.Fatal(err)
	}
}

// Project creates the hub project web with these settings, without any where they are "".
func (w *World) Project(settings string) ref.Ref {
	w.Helper()
	w.Publish("1.0.0")
	c := w.Client()
	api, err := c.UploadAPI(w.Context(), User, hubclient.Description{Document: []byte(description)}, "")
	if err != nil {
		w.Fatal(err)
	}
	created, err := c.CreateProject(w.Context(), wire.CreateProject{
		Account: User, Slug: "web", Stack: Stack.Path(), StackVersion: wire.Latest, API: api.API, Visibility: wire.Private,
	})
	if err == nil && settings != "" {
		_, err = created.SeedConfig(w.Context(), wire.PutConfig{Settings: jsontext.Value(settings)})
	}
	if err != nil {
		w.Fatal(err)
	}
	return created.Project().Project
}

// Edit replaces the config of a hub project, as another person would on the page.
func (w *World) Edit(r ref.Ref, key, value string) {
	w.Helper()
	set := jsontext.Value(`{"` + key + `": ` + value + `}`)
	_, err := w.Client().PatchConfig(w.Context(), r, wire.PatchConfig{Set: set}, "")
	if err != nil {
		w.Fatal(err)
	}
}

// Differing returns a World whose local project web differs from the hub's in one key,
// for a test that runs in parallel.
func Differing(t *testing.T) *World {
	t.Helper()
	t.Parallel()
	w := New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "local"}`)
	return w
}

// BaseFiles returns the paths of a hub project's base files and their sizes.
func (w *World) BaseFiles(r ref.Ref) map[string]int64 {
	w.Helper()
	set, err := w.Client().BaseFiles(w.Context(), r)
	if err != nil {
		w.Fatal(err)
	}
	sizes := map[string]int64{}
	if set != nil {
		for _, e := range set.Files {
			sizes[e.Path] = e.Size
		}
	}
	return sizes
}

// Config returns the config of a hub project in JSON, and its revision.
func (w *World) Config(r ref.Ref) (config, revision string) {
	w.Helper()
	c, err := w.Client().Config(w.Context(), r, "")
	if err != nil {
		w.Fatal(err)
	}
	return string(c.Config), c.Revision
}

// description is the smallest API description that a hub accepts.
const description = `{"openapi": "3.0.3", "info": {"title": "Web", "version": "1"}, ` +
	`"paths": {"/": {"get": {"responses": {"200": {"description": "ok"}}}}}}`
