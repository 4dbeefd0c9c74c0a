package hubserver_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

// allocated returns how many bytes were allocated while f ran, by all tests that run.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// small is a body that becomes far larger.
func small(t *testing.T, window int, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// These tests do not run in parallel, so that what they allocate can be told.

func TestPlan_StopsAtTheLimitOfFiles(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	body := fmt.Sprintf(`{"tree": "%s", "digests": [%s""]}`, sha(nil), strings.Repeat(`"",`, 2_000_000))
	took := allocated(func() { hub.as("alice").post(plan, body).problem(413, wire.CodeTooLarge) })
	if took > 96<<20 { // the contract's check of the exchange included
		t.Errorf("%d bytes: %d MiB were allocated", len(body), took>>20)
	}
	if now := hub.reserved(); now != 0 {
		t.Errorf("%d bytes are reserved", now)
	}
}

func TestList_StopsAtTheLimitOfFiles(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	line := string(treeOf(t, map[string]string{"a": "alpha"}).Canonical())
	body := upload(store.Compress([]byte(strings.Repeat(line, 200_000))))
	took := allocated(func() { hub.as("alice").put(baseFiles, body).problem(413, wire.CodeTooLarge) })
	if took > 128<<20 {
		t.Errorf("%d bytes: %d MiB were allocated", len(body.data), took>>20)
	}
	if now := hub.reserved(); now != 0 {
		t.Errorf("%d bytes are reserved", now)
	}
}

// within has a hub give uploads at most so many bytes of memory.
func within(bytes int64) func(*hubserver.Config) {
	return func(cfg *hubserver.Config) { cfg.Limits.Memory = bytes / 5 * 8 }
}

func TestArchive_NeedsFarLessThanItExpandsTo(t *testing.T) {
	hub := one(t, within(64<<20))
	hub.project()
	body := small(t, 1<<20, func(w io.Writer) {
		archive := tar.NewWriter(w)
		zeros := make([]byte, 25<<20)
		for i := range 4 {
			if err := archive.WriteHeader(
				&tar.Header{Name: fmt.Sprint("f", i), Size: int64(len(zeros)), Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
			archive.Write(zeros)
		}
		archive.Close()
	})
	hub.as("alice").put(baseFiles, typed{"application/zstd", body}).want(200)
	if now := hub.reserved(); now != 0 {
		t.Errorf("%d bytes are reserved", now)
	}
	other := one(t, within(16<<20))
	other.project()
	other.as("alice").put(baseFiles, typed{"application/zstd", body}).problem(413, wire.CodeTooLarge)
}

func TestArchive_TakesTheLargestFiles(t *testing.T) {
	takesLong(t)
	hub := one(t, within(96<<20))
	hub.project()
	var files []file
	for i := range 3 {
		files = append(files, file{name: fmt.Sprint("f", i), content: fmt.Sprint(i) + noise(25<<20-1)})
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	if now := hub.reserved(); now != 0 {
		t.Errorf("%d bytes are reserved", now)
	}
}

func TestArchive_RefusesLongHeaders(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	records := map[string]string{"HUB.comment": strings.Repeat("x", 900<<10)}
	p := hub.as("alice").put(baseFiles, typed{"", gzipped(t, tarOf(t, file{name: "a", records: records}))}).problem(422,
		wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, "headers") {
		t.Errorf("%q does not name the headers", p.Detail)
	}
}

func TestPutFiles_NeedsMemoryForTheSetThatAPatchChanges(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	contents := map[string]string{}
	for i := range 10_000 {
		contents[fmt.Sprintf("%s/%s/%d", strings.Repeat("a", 200), strings.Repeat("b", 200), i)] = ""
	}
	before := treeOf(t, contents)
	alice.put(baseFiles, uploadOf(before, "")).want(200)
	contents["more"] = "more"
	patch := patchOf(t, before, treeOf(t, contents), "more")
	path := baseFiles + "?base=" + before.Digest()
	small := newHub(t, hub.address, within(int64(len(before.Canonical()))))
	small.with(alice.token).put(path, patch).problem(413, wire.CodeTooLarge)
	alice.put(path, patch).want(200)
	for _, h := range []*testHub{hub, small} {
		if now := h.reserved(); now != 0 {
			t.Errorf("%d bytes are reserved", now)
		}
	}
}

func TestBundle_IsStreamedInPieces(t *testing.T) {
	takesLong(t)
	hub := one(t, nil)
	hub.project()
	content := noise(16 << 20)
	hub.as("alice").put(site+"/versions/2.0.0", bundle(t, "2.0.0", file{name: "noise", content: content})).want(201)
	req, err := hub.as("alice").request("GET", site+"/versions/2.0.0/bundle", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := hub.client.Transport.(*recorder).next.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if now := hub.reserved(); now > 36<<20 {
		t.Errorf("%d bytes are reserved for one reader of a bundle", now)
	}
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(rest, []byte(content)) {
		t.Errorf("%d bytes came, %v", len(rest), err)
	}
}

func TestBundle_RefusesDamagedFile(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.flip("blobs", "body", "TRUE")
		hub.as("alice").get(site+"/versions/1.0.0/bundle").problem(500, wire.CodeDamaged)
	})
}
