package hubserver_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/wire"
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

func TestManifest_StopsAtTheLimitOfFiles(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	for list, entry := range map[string]string{"files": `{},`, "put": `{},`, "remove": `"",`} {
		body := small(t, 1<<20, func(w io.Writer) {
			fmt.Fprintf(w, `{"tree": "%[1]s", "base": "%[1]s", "%[2]s": [%[3]s`, sha(nil), list, strings.Repeat(entry, 2_000_000))
		})
		took := allocated(func() {
			alice.post(plan, typed{"application/json", body}, zstdEncoded).problem(413, wire.CodeTooLarge)
		})
		if took > 96<<20 { // the contract's check of the exchange included
			t.Errorf("%d bytes of %q: %d MiB were allocated", len(body), list, took>>20)
		}
	}
	if now, peak := hub.server.Reserved(); now != 0 || peak > 32<<20 {
		t.Errorf("%d bytes are reserved, %d at most", now, peak)
	}
}

func TestArchive_ReservesWhatItExpandsTo(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	body := small(t, 1<<20, func(w io.Writer) {
		archive := tar.NewWriter(w)
		zeros := make([]byte, 25<<20)
		for i := range 4 {
			if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprint("f", i), Size: int64(len(zeros)), Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
			archive.Write(zeros)
		}
		archive.Close()
	})
	hub.as("alice").put(baseFiles, typed{"application/zstd", body}).want(200)
	if now, peak := hub.server.Reserved(); now != 0 || peak > 64<<20 {
		t.Errorf("%d bytes are reserved, %d at most", now, peak)
	}
}

func TestArchive_TakesTheLargestFiles(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	var files []file
	for i := range 3 {
		files = append(files, file{name: fmt.Sprint("f", i), content: fmt.Sprint(i) + noise(25<<20-1)})
	}
	hub.as("alice").put(baseFiles, archive(t, files...)).want(200)
	if now, peak := hub.server.Reserved(); now != 0 || peak > 96<<20 {
		t.Errorf("%d bytes are reserved, %d at most", now, peak)
	} else {
		t.Logf("%d MiB were reserved at most", peak>>20)
	}
}

func TestArchive_RefusesLongHeaders(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	records := map[string]string{"HUB.comment": strings.Repeat("x", 900<<10)}
	p := hub.as("alice").put(baseFiles, typed{"", gzipped(t, tarOf(t, file{name: "a", records: records}))}).problem(422, wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, "headers") {
		t.Errorf("%q does not name the headers", p.Detail)
	}
}

func TestPutFiles_ReservesTheSetThatADeltaChanges(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	contents := map[string]string{}
	for i := range 10_000 {
		contents[fmt.Sprintf("%s/%s/%d", strings.Repeat("a", 200), strings.Repeat("b", 200), i)] = ""
	}
	before := treeOf(t, contents)
	alice.put(baseFiles, uploadOf(t, full(before), blob("")), zstdEncoded).want(200)
	contents["more"] = "more"
	upload := uploadOf(t, delta(before, treeOf(t, contents)), blob("more"))
	now, peak := hub.server.Peak(func() { alice.put(baseFiles, upload, zstdEncoded).want(200) })
	if list := int64(len(before.Canonical())); now != 0 || peak < 8*list {
		t.Errorf("%d bytes are reserved, %d at most, for a push of %d that changes a list of %d", now, peak, len(upload.data), list)
	}
	now, peak = hub.server.Peak(func() { alice.delete(web).want(200) })
	if list := int64(len(before.Canonical())); now != 0 || peak < 4*list {
		t.Errorf("%d bytes are reserved, %d at most, to delete a list of %d", now, peak, list)
	}
}

func TestPutConfig_ReservesTheConfigThatItReplaces(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	alice.put(clientCfg, `{"settings": {"a": "`+strings.Repeat("x", 1<<20-100)+`"}}`).want(200)
	now, peak := hub.server.Peak(func() { alice.put(clientCfg, `{"settings": {}}`).want(200) })
	if now != 0 || peak < 3<<20 {
		t.Errorf("%d bytes are reserved, %d at most, to replace a config of 1 MiB", now, peak)
	}
}

func TestBundle_IsStreamedInPieces(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	big := bundle(t, "2.0.0", file{name: "noise", content: noise(16 << 20)})
	hub.as("alice").put(site+"/versions/2.0.0", big).want(201)
	conn, err := net.Dial("tcp", strings.TrimPrefix(hub.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s/versions/2.0.0/bundle HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", site, hub.as("alice").token)
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if now, _ := hub.server.Reserved(); now > 1<<20 {
		t.Errorf("%d bytes are reserved for one reader of a bundle", now)
	}
	rest, err := io.ReadAll(conn)
	if err != nil || !bytes.HasSuffix(rest, big.data) {
		t.Errorf("%d bytes came, %v", len(rest), err)
	}
}

func TestBundle_RefusesDamagedPiece(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.sql("UPDATE pieces SET sha256 = 'other' WHERE kind = 'bundle'")
		hub.as("alice").get(site+"/versions/1.0.0/bundle").problem(500, wire.CodeDamaged)
	})
}
