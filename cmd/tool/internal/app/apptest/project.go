package apptest

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Stack is the stack of the local project web.
var Stack, _ = ref.New(User, "web")

// Publish publishes a version of the stack web.
func (w *World) Publish(version string) {
	w.Helper()
	content := `{"name": "@` + User + `/web", "version": "` + version + `", "by": "apptest"}`
	hash := sha256.Sum256([]byte(content))
	files := tree.Tree{{Path: "stack.json", Mode: tree.ModeOf(0o644), Size: int64(len(content)), SHA256: hex.EncodeToString(hash[:])}}
	open := func(tree.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	if _, err := w.Client().PublishVersion(w.Context(), Stack, version, files, open); err != nil {
		w.Fatal(err)
	}
}

// Project creates the hub project web with these settings, without any where they are "".
func (w *World) Project(settings string) ref.Ref {
	w.Helper()
	w.Publish("1.0.0")
	c := w.Client()
	api, err := c.UploadAPI(w.Context(), User, []byte(description), "")
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
	_, err := w.Client().PatchConfig(w.Context(), r, wire.PatchConfig{Set: jsontext.Value(`{"` + key + `": ` + value + `}`)}, "")
	if err != nil {
		w.Fatal(err)
	}
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
const description = `{"openapi": "3.0.3", "info": {"title": "Web", "version": "1"}, "paths": {"/": {"get": {"responses": {"200": {"description": "ok"}}}}}}`
