package preview_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/store/storetest"
)

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// needsNode skips a test where node or the packages of package-lock.json are missing.
func needsNode(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("node")
	if _, none := os.Stat("../node_modules"); err == nil && none == nil {
		return
	}
	const message = "needs node 20 or newer, and npm ci in hubserver/page"
	if os.Getenv(storetest.RequireVariable) != "" {
		t.Fatal(message)
	}
	t.Skip(message)
}

func TestBuild_IsOfTheseSources(t *testing.T) {
	t.Parallel()
	files := []string{"build.mjs", "preview/frame.html", "package-lock.json"}
	for _, dir := range []string{"editor", "preview/page", "preview/src", "static/preview", "style"} {
		sources, err := os.ReadDir(filepath.Join("..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sources {
			files = append(files, dir+"/"+s.Name())
		}
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, file := range files {
		hash.Write([]byte(file + "\x00"))
		hash.Write(append(read(t, "..", file), 0))
	}
	if got, want := strings.TrimSpace(string(read(t, "dist/SOURCES"))), hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Error("the sources changed after dist was built: run npm ci and node build.mjs in hubserver/page")
	}
}

func TestBuild_IsReproducible(t *testing.T) {
	t.Parallel()
	needsNode(t)
	dir := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "node", "../build.mjs", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, name := range []string{"frame.html", "packages.json", "LICENCES", "SCRIPTS", "inner.js", "SOURCES"} {
		if !bytes.Equal(read(t, dir, "preview", name), read(t, "dist", name)) {
			t.Errorf("dist/%s is not what the sources build", name)
		}
	}
	built, err := filepath.Glob("../static/dist/*")
	if err != nil || len(built) == 0 {
		t.Fatalf("no scripts of pages: %v", err)
	}
	for _, path := range built {
		if name := filepath.Base(path); !bytes.Equal(read(t, dir, "page", name), read(t, path)) {
			t.Errorf("static/dist/%s is not what the sources build", name)
		}
	}
}

func TestBuild_CompressesWhatItBuilt(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]preview.File{"frame.html": preview.Frame, "packages.json": preview.Packages} {
		if !bytes.Equal(read(t, "dist", name), file.Content()) {
			t.Errorf("dist/%s.gz is of another dist/%s", name, name)
		}
	}
}

func TestScripts_PassTheirOwnTests(t *testing.T) {
	t.Parallel()
	needsNode(t)
	if output, err := exec.CommandContext(t.Context(), "node", "--test", "test/").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestFile_InflatesItsContentOnce(t *testing.T) {
	t.Parallel()
	for _, file := range []preview.File{preview.Frame, preview.Packages} {
		first, second := file.Content(), file.Content()
		if len(first) <= len(file.Gzipped) || &first[0] != &second[0] || len(first) != len(second) {
			t.Errorf("%s: each caller gets bytes of their own", file.Name)
		}
	}
}
