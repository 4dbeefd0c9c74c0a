//go:build unix

package golden_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The ordinary run makes a few of each; the numbers that were promised take a
// while:
//
//	go test ./golden -run 'Cut|Killed' -cuts 1000 -kills 300 -timeout 2h
var (
	cuts  = flag.Int("cuts", 6, "pushes that are cut on their way")
	kills = flag.Int("kills", 6, "times that the hub is killed")
)

// scatter gives the app files with new contents, most of which do not compress,
// and returns their digests by path.
func (w *world) scatter(files, size int) map[string]string {
	w.t.Helper()
	digests := map[string]string{}
	for i := range files {
		content := make([]byte, size/2+mathrand.IntN(size))
		rand.Read(content)
		name := fmt.Sprintf("src/part%d/file%d.bin", i%7, i)
		w.write(name, string(content))
		digests[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return digests
}

// holds returns the digests of the base files that the hub lists, nil for no set.
func (w *world) holds() map[string]string {
	w.t.Helper()
	text, status := w.fetch(aliceWeb + "/preview/base-files")
	if status == http.StatusNotFound {
		return nil
	}
	var set struct {
		Files []struct{ Path, SHA256 string }
	}
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		w.t.Fatalf("%d %s: %v", status, text, err)
	}
	digests := map[string]string{}
	for _, f := range set.Files {
		if strings.HasPrefix(f.Path, "src/") {
			digests[f.Path] = f.SHA256
		}
	}
	return digests
}

// archived returns the digests of the base files as the hub's archive holds them.
func (w *world) archived() map[string]string {
	w.t.Helper()
	text, status := w.fetch(aliceWeb + "/preview/base-files/archive")
	if status == http.StatusNotFound {
		return nil
	}
	digests := map[string]string{}
	for r := tar.NewReader(strings.NewReader(text)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return digests
		}
		if err != nil {
			w.t.Fatalf("the archive: %d %v", status, err)
		}
		hash := sha256.New()
		if _, err := io.Copy(hash, r); err != nil {
			w.t.Fatal(err)
		}
		if strings.HasPrefix(h.Name, "src/") {
			digests[h.Name] = fmt.Sprintf("%x", hash.Sum(nil))
		}
	}
}

func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

func TestPush_CutPushResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src"}`)
	tap := w.through()
	const files, size = 200, 50 << 10 // 10 MB
	var sent, needed int64
	for range *cuts {
		want := w.scatter(files, size)
		tap.up.Store(0)
		tap.left.Store(mathrand.Int64N(files * size))
		w.pushFiles()
		tap.left.Store(-1)
		sent, needed = sent+tap.up.Load(), needed+files*size
		if !same(want, w.holds()) || !same(want, w.archived()) {
			t.Fatal("the hub holds another set than was pushed")
		}
	}
	if ratio := float64(sent) / float64(needed); ratio > 1.3 {
		t.Errorf("%d cut pushes sent %.2f times what they had to", *cuts, ratio)
	} else {
		t.Logf("%d cut pushes, all of them whole at their end, sent %.2f times what they had to", *cuts, ratio)
	}
}

func TestPush_UnchangedSetIsNotListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src"}`)
	w.scatter(600, 10)
	w.pushFiles()
	tap := w.through()
	w.forget()
	tap.up.Store(0)
	w.pushFiles()
	if up := tap.up.Load(); up > 600 {
		t.Errorf("%d bytes went up", up)
	}
}

func TestHub_KilledLosesNoAcknowledgedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src"}`)
	former := w.holds()
	acknowledged := 0
	for range *kills {
		want := w.scatter(60, 50<<10)
		c := w.command("push", "web", "--base-files-only", "--no-input", "--timeout", "30s")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(mathrand.IntN(150)) * time.Millisecond) // a random moment of the push, or after it
		listen, db := w.hub.listen, w.hub.db
		w.hub.cmd.Process.Kill()
		w.hub.cmd.Wait()
		w.hub.once.Do(func() {})
		w.hub = startHub(t, db, "--listen", listen)
		err := c.Wait()
		now := w.archived()
		switch {
		case !same(now, w.holds()):
			t.Fatal("the archive is not the set that is listed")
		case err == nil && !same(now, want):
			t.Fatalf("a set that was acknowledged is lost\n%s", &stderr)
		case !same(now, want) && !same(now, former):
			t.Fatal("the set is mixed")
		}
		if err == nil {
			acknowledged++
		}
		former = now
	}
	t.Logf("%d of %d pushes were acknowledged, none of them lost", acknowledged, *kills)
}
