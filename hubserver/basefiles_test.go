package hubserver_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store/storetest"
)

func entry(path string, mode tree.Mode, content string) tree.Entry {
	return tree.Entry{Path: path, Mode: mode, Size: int64(len(content)), SHA256: sha([]byte(content))}
}

func TestPutArchive_ReplacesFiles(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.get(baseFiles).problem(404, wire.CodeNotFound)
		first := archive(t, file{name: "./", kind: tar.TypeDir, mode: 0o755},
			file{name: "./b/run", content: "#!", mode: 0o700}, file{name: "a", content: "one"}, file{name: "gone"})
		w := decoded[wire.BaseFilesWritten](alice.put(baseFiles, first).want(200))
		files := tree.Tree{entry("a", tree.Regular, "one"), entry("b/run", tree.Executable, "#!"),
			entry("gone", tree.Regular, "")}
		want := wire.BaseFilesWritten{Project: mustRef("@acme/web"), Tree: files.Digest(), BaseFilesPushed: 3, Added: 3,
			Uploaded: 3, BytesReceived: int64(len(first.data))}
		if diff := cmp.Diff(want, w, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		got := alice.get(baseFiles).want(200)
		set := decoded[wire.BaseFiles](got)
		if diff := cmp.Diff([]tree.Entry(files), set.Files); diff != "" || got.etag() != `"`+w.Tree+`"` || set.Count != 3 ||
			set.Bytes != 5 || set.UpdatedBy != "alice" {
			t.Errorf("%s%+v, ETag %s", diff, set, got.etag())
		}
		second := archive(t, file{name: "a", content: "two"}, file{name: "b/run", content: "#!", mode: 0o755},
			file{name: "new"})
		w = decoded[wire.BaseFilesWritten](hub.as("anna").put(baseFiles, second).want(200))
		if w.Added != 1 || w.Changed != 1 || w.Removed != 1 || w.BaseFilesPushed != 3 {
			t.Errorf("the second push: %+v", w)
		}
		p := decoded[wire.Project](alice.get(web).want(200))
		if p.BaseFiles == nil || p.BaseFiles.Tree != w.Tree || p.BaseFiles.Count != 3 || p.BaseFiles.Bytes != 5 {
			t.Errorf("the project shows %+v", p.BaseFiles)
		}
	})
}

func TestPutArchive_DetectsCompression(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		plain := tarOf(t, file{name: "a", content: strings.Repeat("text ", 1000)})
		gz, zst := gzipped(t, plain), zstded(t, plain)
		for name, c := range map[string]struct {
			body   typed
			header header
		}{
			"plain":                   {typed{"application/x-tar", plain}, nil},
			"plain, unnamed":          {typed{"", plain}, nil},
			"plain as octets":         {typed{"application/octet-stream", plain}, nil},
			"gzip by type":            {typed{"application/gzip", gz}, nil},
			"gzip by encoding":        {typed{"application/x-tar", gz}, header{"Content-Encoding": "gzip"}},
			"gzip, unnamed":           {typed{"", gz}, nil},
			"gzip by its first bytes": {typed{"application/x-tar", gz}, nil},
			"zstd by type":            {typed{"application/zstd", zst}, nil},
			"zstd by encoding":        {typed{"", zst}, header{"Content-Encoding": "zstd"}},
			"zstd, unnamed":           {typed{"", zst}, nil},
			"zstd as octets":          {typed{"application/octet-stream", zst}, nil},
			"with a parameter":        {typed{"application/x-tar; charset=binary", plain}, nil},
		} {
			w := decoded[wire.BaseFilesWritten](hub.as("alice").put(baseFiles, c.body, c.header).want(200))
			if w.BytesReceived != int64(len(c.body.data)) || w.BaseFilesPushed != 1 {
				t.Errorf("%s: %+v", name, w)
			}
		}
		for name, c := range map[string]struct {
			body   typed
			header header
			status int
		}{
			"another type":           {typed{"application/zip", plain}, nil, 415},
			"no type":                {typed{"tar tar", plain}, nil, 415},
			"another encoding":       {typed{"application/x-tar", plain}, header{"Content-Encoding": "br"}, 415},
			"two encodings":          {typed{"application/x-tar", plain}, header{"Content-Encoding": "gzip, zstd"}, 415},
			"plain, but called gzip": {typed{"application/gzip", plain}, nil, 422},
			"plain, but called zstd": {typed{"application/zstd", plain}, nil, 422},
			"gzip, but called zstd":  {typed{"", gz}, header{"Content-Encoding": "zstd"}, 422},
		} {
			if a := hub.as("alice").put(baseFiles, c.body, c.header); a.status != c.status {
				t.Errorf("%s: status %d, want %d: %s", name, a.status, c.status, a.body)
			}
		}
	})
}

func TestPutArchive_EqualSetChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(baseFiles, archive(t, file{name: "a", content: "x"})).want(200)
		before := hub.as("alice").get(baseFiles).body
		w := decoded[wire.BaseFilesWritten](
			hub.as("anna").put(baseFiles, archive(t, file{name: "./a", content: "x", mode: 0o640})).want(200))
		if w.Added+w.Changed+w.Removed != 0 {
			t.Errorf("%+v", w)
		}
		if after := hub.as("alice").get(baseFiles).body; !bytes.Equal(before, after) {
			t.Errorf("it was %s, and is %s", before, after)
		}
	})
}

func TestPutArchive_SeedRefusedWhenFilesExist(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		seed := header{"If-None-Match": "*"}
		hub.as("alice").put(baseFiles, archive(t, file{name: "a"}), seed).want(200)
		hub.as("alice").put(baseFiles, archive(t, file{name: "b"}), seed).problem(412, wire.CodeSetExists)
		if set := decoded[wire.BaseFiles](hub.as("alice").get(baseFiles).want(200)); set.Files[0].Path != "a" {
			t.Errorf("%+v", set.Files)
		}
	})
}

func TestPutArchive_ChecksIfMatch(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		match := func(etag string) header { return header{"If-Match": etag} }
		for _, absent := range []string{"*", `"x"`} {
			if p := alice.put(baseFiles, archive(t, file{name: "a"}), match(absent)).problem(412,
				wire.CodeRevisionChanged); p.Current != nil {
				t.Errorf("%s: current %+v of no set", absent, p.Current)
			}
		}
		alice.put(baseFiles, archive(t, file{name: "a"})).want(200)
		first := alice.get(baseFiles).etag()
		alice.put(baseFiles, archive(t, file{name: "b"}), match(first)).want(200)
		second := alice.get(baseFiles).etag()
		for _, stale := range []string{first, "W/" + second, ""} {
			p := alice.put(baseFiles, archive(t, file{name: "c"}), match(stale)).problem(412, wire.CodeRevisionChanged)
			if p.Current == nil || `"`+p.Current.Revision+`"` != second {
				t.Errorf("%s: current %+v, want %s", stale, p.Current, second)
			}
		}
		if etag := alice.get(baseFiles).etag(); etag != second {
			t.Errorf("the base files are %s, want %s", etag, second)
		}
		alice.put(baseFiles, archive(t, file{name: "c"}), match("*")).want(200)

		etag := alice.get(baseFiles).etag()
		statuses := make([]int, 8)
		var running sync.WaitGroup
		for i := range statuses {
			body := archive(t, file{name: fmt.Sprint("of ", i)})
			running.Go(func() {
				a, err := alice.try("PUT", baseFiles, body, match(etag))
				if err != nil {
					t.Error(err)
					return
				}
				statuses[i] = a.status
			})
		}
		running.Wait()
		slices.Sort(statuses)
		if want := []int{200, 412, 412, 412, 412, 412, 412, 412}; !slices.Equal(statuses, want) {
			t.Errorf("statuses %v, want %v", statuses, want)
		}
	})
}

func TestPutArchive_OneOfManySeedsWins(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		const tries = 8
		count := atOnce(t, tries, func(i int) (*answer, error) {
			return alice.try("PUT", baseFiles, archive(t, file{name: fmt.Sprint(i)}), header{"If-None-Match": "*"})
		})
		if diff := cmp.Diff(map[int]int{200: 1, 412: tries - 1}, count); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPutArchive_EmptySet(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(baseFiles, archive(t)).want(200)
		if set := decoded[wire.BaseFiles](hub.as("rita").get(baseFiles).want(200)); len(set.Files) != 0 || set.Count != 0 {
			t.Errorf("%+v", set)
		}
		if a := hub.as("rita").get(baseFiles + "/archive").want(200); len(tarFiles(t, a.body)) != 0 {
			t.Error("the archive holds files")
		}
	})
}

// tarFiles reads an archive into mode and content by path.
func tarFiles(t testing.TB, data []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = fmt.Sprintf("%04o %s", h.Mode, content)
	}
}

func TestGetArchive_RoundTrip(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		long := strings.Repeat("long/", 150) + "é"
		alice := hub.as("alice")
		w := decoded[wire.BaseFilesWritten](alice.put(baseFiles, archive(t,
			file{name: "run", content: "#!", mode: 0o755}, file{name: long, content: "x"}, file{name: "empty"},
			file{name: "same", content: "x"})).want(200))
		want := map[string]string{"run": "0755 #!", long: "0644 x", "empty": "0644 ", "same": "0644 x"}
		for accepted, compressed := range map[string]bool{
			"": false, "identity": false, "gzip": false, "zstd": true, "gzip, zstd;q=0.5": true, "zstd;q=0": false,
			"zstd ; q=1": true, "zstd;q=0.0, gzip": false,
		} {
			a := hub.as("rita").get(baseFiles+"/archive", header{"Accept-Encoding": accepted}).want(200)
			data := a.body
			if a.header.Get("Content-Encoding") == "zstd" != compressed {
				t.Errorf("Accept-Encoding %q: Content-Encoding %q", accepted, a.header.Get("Content-Encoding"))
			}
			if compressed {
				data = unzstd(t, data)
			}
			if diff := cmp.Diff(want, tarFiles(t, data)); diff != "" {
				t.Errorf("Accept-Encoding %q: %s", accepted, diff)
			}
			suffix := map[bool]string{true: "-zstd"}[compressed]
			if a.etag() != `"`+w.Tree+suffix+`"` {
				t.Errorf("ETag %s of the tree %s", a.etag(), w.Tree)
			}
		}
		hub.as("rita").get(baseFiles+"/archive", header{"If-None-Match": `"` + w.Tree + `"`}).want(304)
		hub.as("rita").get(baseFiles, header{"If-None-Match": `"` + w.Tree + `"`}).want(304)
		again := alice.put(baseFiles, typed{"", alice.get(baseFiles + "/archive").body}).want(200)
		if tree := decoded[wire.BaseFilesWritten](again).Tree; tree != w.Tree {
			t.Errorf("what came back is the tree %s, not %s", tree, w.Tree)
		}
	})
}

func unzstd(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plain, err := r.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// readOn lets n readers fetch the archive again and again until stop is called;
// each hands what it got to check.
func (h *testHub) readOn(n int, check func(tree string, files map[string]string)) (stop func()) {
	rita := h.as("rita")
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range n {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				a, err := rita.try("GET", baseFiles+"/archive", nil)
				if err != nil {
					h.Error(err)
					return
				}
				check(strings.Trim(a.etag(), `"`), tarFiles(h, a.body))
			}
		})
	}
	return func() {
		close(done)
		readers.Wait()
	}
}

func TestGetArchive_ReadersSeeOneSetOrTheOther(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		bodies, known := make([]typed, 3), map[string]bool{}
		for i := range bodies {
			content := fmt.Sprint("of set ", i)
			bodies[i] = archive(t, file{name: "a", content: content}, file{name: "b", content: content})
			known[decoded[wire.BaseFilesWritten](alice.put(baseFiles, bodies[i]).want(200)).Tree] = true
		}
		stop := hub.readOn(2, func(tree string, files map[string]string) {
			if files["a"] != files["b"] || !known[tree] {
				t.Errorf("a mixed set: %v, ETag %s", files, tree)
			}
		})
		for i := range 30 {
			alice.put(baseFiles, bodies[i%len(bodies)]).want(200)
		}
		stop()
	})
}

func needPrograms(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			message := "needs the program " + program + ": install it"
			if os.Getenv(storetest.RequireVariable) != "" {
				t.Fatal(message)
			}
			t.Skip(message)
		}
	}
}

func plantFiles(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell runs a command line in dir with alice's token in $TOKEN.
func (h *testHub) shell(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TOKEN="+h.as("alice").token, "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func (h *testHub) wantBaseFiles(t *testing.T, want ...string) {
	t.Helper()
	var paths []string
	for _, f := range decoded[wire.BaseFiles](h.as("rita").get(baseFiles).want(200)).Files {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
}

func TestPutBaseFiles_AcceptsTarFromCurl(t *testing.T) {
	needPrograms(t, "tar", "curl")
	hub := one(t, nil)
	hub.project()
	dir := plantFiles(t, map[string]string{"index.html": "<p>", "src/main.js": "1", ".tool/web/client.json": "{}",
		".env.example": "A="})
	for _, options := range [][2]string{{"", ""}, {"z", ""}, {"z", "-H Content-Encoding:gzip"},
		{"", "-H Expect:100-continue"}} {
		out := hub.shell(t, dir, fmt.Sprintf(
			`tar -c%sf - --exclude=./.tool . | curl -fsS %s -T - -H "Authorization: Bearer $TOKEN" %s%s`, options[0], options[1],
			hub.url, baseFiles))
		if !strings.Contains(out, `"baseFilesPushed":3`) {
			t.Errorf("tar -c%sf, curl %s: %s", options[0], options[1], out)
		}
	}
	hub.wantBaseFiles(t, ".env.example", "index.html", "src/main.js")
}

// The README's line sends what is committed: git archive starts with a global pax header.
func TestPutBaseFiles_AcceptsReadmeLineWithGitArchive(t *testing.T) {
	needPrograms(t, "git", "curl")
	readme, err := os.ReadFile("../hubclient/README.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?s)\n(git archive [^\n]+\|\n +curl [^\n]+)\n`).FindSubmatch(readme)
	if line == nil {
		t.Fatal("hubclient/README.md has no line with git archive and curl")
	}
	const project = "https://hub.example.com/v1/projects/acme/web/preview/base-files"
	if !bytes.Contains(line[1], []byte(project)) {
		t.Fatalf("the README's line does not send to %s:\n%s", project, line[1])
	}
	hub := one(t, nil)
	hub.project()
	dir := plantFiles(t, map[string]string{
		"apps/web/index.html": "<p>", "apps/web/src/main.js": "1", "apps/web/.gitignore": ".env\n",
		"apps/web/.env":                "SECRET=1",
		"apps/web/.tool/x/client.json": "{}", ".tool/web/client.json": "{}", "other": "",
	})
	hub.shell(t, dir, "git init -q && git add -A && git commit -qm files")
	command := strings.ReplaceAll(string(line[1]), project, hub.url+baseFiles)
	if out := hub.shell(t, filepath.Join(dir, "apps", "web"), command); !strings.Contains(out, `"baseFilesPushed":3`) {
		t.Error(out)
	}
	hub.wantBaseFiles(t, ".gitignore", "index.html", "src/main.js")
}

// Two writers replace a set under eight readers.
func TestGetArchive_WholeUnderConcurrentPushes(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		const sets, files = 6, 12
		swaps := rounds(60, 2000)
		contents := make([]map[string]string, sets)
		known := map[string]string{} // what all contents of a set say, by its digest
		for i := range contents {
			contents[i] = map[string]string{}
			for k := range files {
				contents[i][fmt.Sprint("f", k)] = fmt.Sprint("of set ", i)
			}
			known[treeOf(t, contents[i]).Digest()] = fmt.Sprint("of set ", i)
			hub.as("alice").push(contents[i])
		}
		var writers sync.WaitGroup
		var read atomic.Int64
		stop := hub.readOn(8, func(tree string, got map[string]string) {
			said, ok := known[tree]
			for path, content := range got {
				ok = ok && content == "0644 "+said && path != ""
			}
			if read.Add(1); !ok || len(got) != files {
				t.Errorf("a set that was never pushed: ETag %s, %v", tree, got)
			}
		})
		for n, name := range []string{"alice", "anna"} {
			writer := hub.as(name)
			writers.Go(func() {
				for i := range swaps / 2 {
					body := uploadOf(treeOf(t, contents[(2*i+n)%sets]))
					if a, err := writer.try("PUT", baseFiles, body); err != nil || a.status != 200 {
						t.Errorf("%v, %v", a, err)
					}
				}
			})
		}
		writers.Wait()
		stop()
		t.Logf("%d swaps, %d sets read", swaps, read.Load())
	})
}
