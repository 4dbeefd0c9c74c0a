package hubserver_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

const (
	web       = "/v1/projects/acme/web"
	config    = web + "/config"
	clientCfg = web + "/client-config"
	baseFiles = web + "/preview/base-files"
	site      = "/v1/stacks/acme/site"
)

// file is a member of a tar; the zero kind is a regular file.
type file struct {
	name, content string
	mode          int64
	kind          byte
	link          string
	records       map[string]string
}

// tarOf writes members as they are given, good or bad.
func tarOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Typeflag: f.kind, Linkname: f.link, Size: int64(len(f.content)),
			PAXRecords: f.records}
		if f.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if f.mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("%q: %v", f.name, err)
		}
		if _, err := w.Write([]byte(f.content)); err != nil {
			t.Fatalf("%q: %v", f.name, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// archive is a tar as a body.
func archive(t testing.TB, files ...file) typed {
	t.Helper()
	return typed{"application/x-tar", tarOf(t, files...)}
}

// manifest is the stack.json of @acme/site.
func manifest(version string) file {
	return file{name: "stack.json", content: fmt.Sprintf(`{"name": "@acme/site", "version": %q}`, version)}
}

// bundle is a version of @acme/site as a body.
func bundle(t testing.TB, version string, more ...file) typed {
	t.Helper()
	return typed{"application/gzip", gzipped(t, tarOf(t, append([]file{manifest(version)}, more...)...))}
}

const pets = `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1.0"}, "paths": {}}`

// catalog publishes @acme/site 1.0.0 and registers @acme/pets.
func (h *testHub) catalog() {
	h.Helper()
	h.as("alice").put(site+"/versions/1.0.0", bundle(h, "1.0.0")).want(201)
	h.as("alice").post("/v1/apis/upload?account=acme&slug=pets", pets).want(201)
}

// newProject is the body that makes @acme/<slug>.
func newProject(slug string) wire.CreateProject {
	p := wire.CreateProject{Account: "acme", Slug: slug, Stack: "acme/site", Visibility: wire.Private}
	p.API = mustRef("@acme/pets")
	return p
}

// project makes @acme/web with all that it binds.
func (h *testHub) project() {
	h.Helper()
	h.catalog()
	h.as("alice").post("/v1/projects", newProject("web")).want(201)
}

// publicProject makes @acme/<slug>, readable by everyone, besides what catalog created.
func (h *testHub) publicProject(slug string) {
	h.Helper()
	p := newProject(slug)
	p.Visibility = wire.Public
	h.as("alice").post("/v1/projects", p).want(201)
}

// settings puts settings into @acme/web, and returns the ETag.
func (h *testHub) settings(settings string) string {
	h.Helper()
	return h.as("alice").put(clientCfg, `{"settings": `+settings+`}`).want(200).etag()
}

// demote makes a member of acme a mere reader.
func (h *testHub) demote(user string) {
	h.Helper()
	h.write(func(tx *store.Tx) error { return tx.SetMember("acme", user, "reader") })
}

func (h *testHub) disable(account string) {
	h.Helper()
	h.write(func(tx *store.Tx) error { _, err := tx.SetDisabled(account, true); return err })
}

func (h *testHub) revoke(token string) {
	h.Helper()
	h.write(func(tx *store.Tx) error {
		_, err := tx.RevokeToken(pat.Hash(token))
		return err
	})
}
