package api_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"testing"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

const (
	config    = web + "/config"
	clientCfg = web + "/client-config"
	baseFiles = web + "/preview/base-files"
)

// send is do with headers, for a body of any type.
func (c caller) send(method, path, mediaType string, body []byte, headers ...string) answer {
	c.hub.Helper()
	r := httptest.NewRequestWithContext(c.hub.Context(), method, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", mediaType)
	r.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.hub.http.ServeHTTP(w, r)
	return answer{c.hub, w}
}

func (h *hub) sql(text string, args ...any) {
	h.Helper()
	err := h.store.DB.Write(h.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
}

// listOf is a set of files with these contents: f0, f1 and on.
func listOf(t *testing.T, contents ...string) tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for i, content := range contents {
		e := tree.Entry{Path: fmt.Sprint("f", i), Mode: tree.Regular, Size: int64(len(content))}
		e.SHA256 = store.Digest([]byte(content))
		entries = append(entries, e)
	}
	files, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// upload is a push of a list of files, and of contents.
func upload(files tree.Tree, contents ...string) (body []byte) {
	frames := [][]byte{store.Compress(files.Canonical())}
	for _, content := range contents {
		frames = append(frames, store.Compress([]byte(content)))
	}
	for _, frame := range frames {
		body = append(binary.AppendUvarint(body, uint64(len(frame))), frame...)
	}
	return body
}

// contents are what the files of an archive contain.
func contents(a answer) (all []string) {
	a.hub.Helper()
	for archive := tar.NewReader(a.Body); ; {
		_, err := archive.Next()
		if err == io.EOF {
			return all
		}
		text, readErr := io.ReadAll(archive)
		if err != nil || readErr != nil {
			a.hub.Fatal(err, readErr)
		}
		all = append(all, string(text))
	}
}

func TestConfig_DryRunIsARead(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		alice.do("PUT", clientCfg, `{"settings": {"a": 1}}`).want(200)
		rows := "SELECT (SELECT count(*) FROM revisions) + (SELECT count(*) FROM audit)"
		var before, after int
		if err := h.store.View(h.Context()).One(sqldb.Row(&before), rows); err != nil {
			t.Fatal(err)
		}
		w := decoded[wire.ConfigWritten](alice.do("POST", clientCfg+"?dryRun=1", `{"settings": {"a": 2}}`).want(200))
		if string(w.Config) != `{"a":2}` || !w.OverwroteExistingConfig || string(w.Replaced.Config) != `{"a":1}` {
			t.Errorf("%+v", w)
		}
		if err := h.store.View(h.Context()).One(sqldb.Row(&after), rows); err != nil || after != before {
			t.Errorf("%d rows, %d before; %v", after, before, err)
		}
	})
}

// A PATCH that meets others is applied to what they have left.
func TestPatchConfig_ManyAtOnceAllApply(t *testing.T) {
	each(t, func(h *hub) {
		const writers = 24
		alice := h.project()
		done := make(chan answer)
		for i := range writers {
			go func() {
				body := fmt.Appendf(nil, `{"set": {"k%d": %d}}`, i, i)
				done <- alice.send("PATCH", config, "application/json", body, "If-Match", "*")
			}()
		}
		for range writers {
			(<-done).want(200)
		}
		c := decoded[wire.Config](alice.do("GET", config, nil))
		var keys map[string]int
		if err := json.Unmarshal(c.Config, &keys); err != nil || len(keys) != writers {
			t.Errorf("%s %v", c.Config, err)
		}
		if page := decoded[wire.ConfigHistory](alice.do("GET", config+"/history", nil)); len(page.Entries) != writers {
			t.Errorf("%+v", page)
		}
	})
}

// A token that is restricted to a project reads no other one's files by their digests.
func TestBaseFiles_BelongToTheirProject(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		files := listOf(t, "a secret of web")
		alice.send("PUT", baseFiles, wire.UploadType, upload(files, "a secret of web")).want(200)
		alice.do("POST", "/v1/projects", `{"account": "acme", "slug": "other", "stack": "acme/site",
			"api": {"account": "acme", "slug": "pets"}}`).want(201)
		var only store.Restriction
		err := h.store.View(h.Context()).One(sqldb.Row(&only.AccountID, &only.ResourceID),
			"SELECT account_id, id FROM resources WHERE slug = 'other'")
		if err != nil {
			t.Fatal(err)
		}
		other, path := h.as("alice", only), "/v1/projects/acme/other/preview/base-files"
		plan := decoded[wire.PlannedBaseFiles](other.do("POST", path+"/plan",
			wire.PlanBaseFiles{Tree: files.Digest(), Digests: []string{files[0].SHA256}}).want(200))
		p := other.send("PUT", path, wire.UploadType, upload(files)).problem(409, wire.CodePlanOutdated)
		if !slices.Equal(plan.Missing, p.Missing) || len(p.Missing) != 1 {
			t.Errorf("the plan says that %v are missing, the push %v", plan.Missing, p.Missing)
		}
		other.do("GET", path+"/archive", nil).problem(404, wire.CodeNotFound)
	})
}

// Nothing of a damaged file is sent, and the same files again replace it.
func TestBaseFiles_DamagedOnesAreNotSentAndReplaced(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		want := []string{"alpha", "beta"}
		files := listOf(t, want...)
		for _, put := range []func() answer{
			func() answer { return alice.send("PUT", baseFiles, wire.UploadType, upload(files, want...)) },
			func() answer { return alice.send("PUT", baseFiles, wire.UploadType, upload(files, want...)) },
			func() answer { return alice.do("PUT", baseFiles, tarOf(h, want...)) },
		} {
			put().want(200)
			if got := contents(alice.do("GET", baseFiles+"/archive", nil).want(200)); !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
			h.sql("UPDATE blobs SET body = ? WHERE sha256 = ?", store.Compress([]byte("other")), files[0].SHA256)
			if p := alice.do("GET", baseFiles+"/archive", nil).problem(500, wire.CodeDamaged); p.Hint == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// tarOf is a tar of f0, f1 and on.
func tarOf(h *hub, contents ...string) []byte {
	h.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, content := range contents {
		err := w.WriteHeader(&tar.Header{Name: fmt.Sprint("f", i), Mode: 0o644, Size: int64(len(content))})
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			h.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		h.Fatal(err)
	}
	return b.Bytes()
}

// Pushes without a condition replace what is there, whoever was first.
func TestPutBaseFiles_ManyAtOnceAllSucceed(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		done := make(chan answer)
		for i := range 8 {
			go func() {
				content := fmt.Sprint("content ", i)
				done <- alice.send("PUT", baseFiles, wire.UploadType, upload(listOf(t, content), content))
			}()
		}
		for range 8 {
			(<-done).want(200)
		}
		entries := decoded[wire.BaseFilesHistory](alice.do("GET", baseFiles+"/history", nil).want(200)).Entries
		for i, e := range entries[:len(entries)-1] {
			if e.Parent != entries[i+1].Tree {
				t.Errorf("%s follows %s, not %s", e.Tree, entries[i+1].Tree, e.Parent)
			}
		}
		if len(entries) != 8 {
			t.Errorf("%d entries", len(entries))
		}
	})
}

// A stack version comes in the same two forms.
// Large frames wait for each other, also for a list.
func TestPutBaseFiles_TakesALargeListAndLargeFiles(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.project()
		random := rand.NewChaCha8([32]byte{})
		text := func(size int) string {
			b := make([]byte, size)
			_, _ = random.Read(b)
			return string(b)
		}
		contents := []string{"x", text(3 << 20), "y", text(3<<20 + 1), text(1 << 20), text(1<<20 + 1), text(4 << 20)}
		files := listOf(t, contents...)
		for i := range 19_000 {
			e := files[0]
			e.Path = fmt.Sprintf("%x%d", text(128), i)
			files = append(files, e)
		}
		files, err := tree.New(files)
		if err != nil {
			t.Fatal(err)
		}
		if list := store.Compress(files.Canonical()); len(list) < 2<<20 {
			t.Fatalf("the list has only %d bytes", len(list))
		}
		alice.send("PUT", baseFiles, wire.UploadType, upload(files, contents...)).want(200)
	})
}

func TestPutVersion_AsFrames(t *testing.T) {
	each(t, func(h *hub) {
		alice := h.as("alice")
		manifest := `{"name": "@acme/site", "version": "1.0.0"}`
		files := tree.Tree{{
			Path: "stack.json", Mode: tree.Regular, Size: int64(len(manifest)), SHA256: store.Digest([]byte(manifest)),
		}}
		alice.send("PUT", site+"/versions/1.0.0", wire.UploadType, upload(files, manifest)).want(201)
		if got := contents(alice.do("GET", site+"/versions/1.0.0/bundle", nil).want(200)); !slices.Equal(got,
			[]string{manifest}) {
			t.Errorf("%q", got)
		}
	})
}
