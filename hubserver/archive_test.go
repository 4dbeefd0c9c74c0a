package hubserver_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store/storetest"
)

// rawTar is a tar of one member whose name is in the header byte by byte,
// however bad it is.
func rawTar(name string, kind byte) []byte {
	var block [512]byte
	copy(block[:100], name)
	copy(block[100:], "0000644\x000000000\x000000000\x0000000000000\x0000000000000\x00        ")
	block[156] = kind
	copy(block[257:], "ustar\x0000")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(block[:], make([]byte, 1024)...)
}

// badPaths cannot name a base file, in whatever way they come.
func badPaths() []string {
	bad := []string{
		"", ".", "..", "../x", "../../etc/passwd", "a/../x", "a/../../x", "a/..", "./..", "./../x", "././x", "./././x", "a/.",
		"a/./b", "a//b", "a///b", ".//x",
		"/", "/abs", "/etc/passwd", "//srv/share", "///x", "/..", "/../x", "./", ".//",
		`..\x`, `..\..\x`, `a\b`, `\x`, `C:\x`, `C:\Windows\system32`, `\\srv\share`, `\\?\C:\x`, `a\..\..\b`, `\`, `a/b\c`,
		"\xff", "a\xc0\xafb", "..\xc0\xafx", "\xed\xa0\x80", "\xf5\x80\x80\x80", "caf\xe9", "a\x80", "\xfe\xff",
		"e\u0301", "A\u030a", "o\u0302\u0323", "\u1112\u1161\u11ab", "\u212b", "\u2126", "\u212a", "n\u0303/x", "x/u\u0308",
		"\u0344", "\uf900",
		".tool", ".tool/x", ".tool/web/client.json", ".tool/web/stack.json", ".TOOL/x", ".Tool", ".tOoL/a/b", "./.tool/x",
		"a/.tool/x", ".git", ".git/config", "a/.git/hooks/post-checkout", "a/.GIT /x", "git~1/config", ".g\u200cit/x",
		".hg/hgrc", "a/.svn/x",
		strings.Repeat("a", 1025), strings.Repeat("a/", 600) + "b", strings.Repeat("x", 5000), strings.Repeat("é", 513),
	}
	for r := rune(1); r < 0x20; r++ {
		bad = append(bad, "a"+string(r)+"b")
	}
	for r := rune(0x7f); r < 0xa0; r++ {
		bad = append(bad, string(r))
	}
	for _, r := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		bad = append(bad, "gnp"+string(r)+".exe")
	}
	return bad
}

// oddPaths look dangerous somewhere, but name a base file like any other: the hub
// never makes a file of one.
var oddPaths = []string{
	"a", "a/b/c", ".env", ".gitignore", "~", "~/.ssh/id_rsa", "C:x", "a:stream", "CON", "nul.txt", "COM¹", "a.", " ", " a",
	"a b/c d", "%2e%2e/x", "..;/x", "...", "..a", "a..", "a..b", ".a./b",
	".toolignore", "xx.tool", "a/.github/x", "-rf", "--", "$(id)", "`id`", "'", `"`, "<script>alert(1)</script>", "a|b",
	"*", "?", "a&b", "#", ";", "stack.json", "manifest.json", "node_modules/x",
	"__proto__", "constructor", "日本/語.txt", "é", "ß", "😀", "a\u00a0b", "\u3000", "a\u200bb", "\ufeffx", "a\u2215b",
	"a\u2044b", "\u2028", strings.Repeat("x", 256), strings.Repeat("é", 512), strings.Repeat("d/", 200) + "f",
	"UPPER/Case", "0",
}

// asTar writes one empty file called name, by a record of its own where the
// header has no room or no way to hold it.
func asTar(t *testing.T, name string) []byte {
	t.Helper()
	if len(name) <= 100 {
		return rawTar(name, tar.TypeReg)
	}
	return tarOf(t, file{name: name})
}

func TestPutArchive_RejectsInvalidPaths(t *testing.T) {
	all := append(badPaths(), oddPaths...)
	if t.Logf("%d names, %d of them bad", len(all), len(badPaths())); len(all) < 150 {
		t.Errorf("there are only %d names", len(all))
	}
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.put(baseFiles, archive(t, file{name: "kept"})).want(200)
		before := alice.get(baseFiles).body
		for _, name := range badPaths() {
			a := alice.put(baseFiles, typed{"application/x-tar", asTar(t, name)})
			if a.status != 422 {
				t.Errorf("%q: status %d: %s", name, a.status, a.body)
				continue
			}
			p := a.problem(422, wire.CodeInvalidBody)
			if quoted := fmt.Sprintf("%q", strings.TrimPrefix(name, "./")); !strings.Contains(p.Detail, quoted) &&
				len(name) <= 1024 {
				t.Errorf("%q: %q does not name it", name, p.Detail)
			}
		}
		if after := alice.get(baseFiles).body; !bytes.Equal(before, after) {
			t.Errorf("the set was %s, and is %s", before, after)
		}
		for _, name := range oddPaths {
			alice.put(baseFiles, typed{"application/x-tar", asTar(t, name)}).want(200)
			set := decoded[wire.BaseFiles](alice.get(baseFiles).want(200))
			if len(set.Files) != 1 || set.Files[0].Path != name {
				t.Errorf("%q became %+v", name, set.Files)
			}
		}
	})
}

func TestPutArchive_RejectsIrregularFiles(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	for _, kind := range []byte{tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo, tar.TypeCont,
		'A', 'Z', tar.TypeGNUSparse, 'V', 'M', 'D'} {
		for _, name := range []string{"odd", "../odd"} {
			p := hub.as("alice").put(baseFiles, typed{"application/x-tar", rawTar(name, kind)}).problem(422,
				wire.CodeInvalidBody)
			if kind != tar.TypeGNUSparse && !strings.Contains(p.Detail, name) {
				t.Errorf("a member of kind %q: %q does not name it", kind, p.Detail)
			}
		}
	}
	for _, kind := range []byte{tar.TypeDir, 0} { // an old tar marks a directory by nothing but the slash
		w := decoded[wire.BaseFilesWritten](
			hub.as("alice").put(baseFiles, typed{"application/x-tar", rawTar("dir/", kind)}).want(200))
		if w.BaseFilesPushed != 0 {
			t.Errorf("a directory of kind %q counts as a file", kind)
		}
	}
}

func TestPutArchive_RejectsSparseFiles(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		const message = "needs the program tar: install it"
		if os.Getenv(storetest.RequireVariable) != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	hub := one(t, nil)
	hub.project()
	name := filepath.Join(t.TempDir(), "sparse.bin")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 1<<20); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"--format=gnu", "--format=pax --sparse-version=0.0",
		"--format=pax --sparse-version=0.1", "--format=pax --sparse-version=1.0"} {
		args := append(strings.Fields(format), "-cSf", "-", "-C", filepath.Dir(name), filepath.Base(name))
		data, err := exec.CommandContext(t.Context(), "tar", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		p := hub.as("alice").put(baseFiles, typed{"", data}).problem(422, wire.CodeInvalidBody)
		if !strings.Contains(p.Detail, "sparse") {
			t.Errorf("%s: %q", format, p.Detail)
		}
	}
}

func TestPutArchive_RejectsConflictingPaths(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	for _, pair := range [][2]string{
		{"a", "a"}, {"./a", "a"}, {"a", "A"}, {"README.md", "readme.MD"}, {"é", "É"}, {"ß", "SS"}, {"ﬁ", "fi"}, {"σ", "ς"},
		{"Ω", "ω"}, {"Я/x", "я/x"}, {"ǆ", "Ǆ"}, {"ŉ", "ʼn"},
		{"a", "a/b"}, {"a/b/c", "a"}, {"A", "a/b"}, {"x/y", "x/y/z/w"}, {"é", "É/x"},
	} {
		p := hub.as("alice").put(baseFiles, archive(t, file{name: pair[0]}, file{name: pair[1]})).problem(422,
			wire.CodeInvalidBody)
		if !strings.Contains(p.Detail, fmt.Sprintf("%q", strings.TrimPrefix(pair[1], "./"))) &&
			!strings.Contains(p.Detail, fmt.Sprintf("%q", pair[0])) {
			t.Errorf("%q: %q names neither", pair, p.Detail)
		}
	}
	hub.as("alice").get(baseFiles).problem(404, wire.CodeNotFound)
}

func TestPutArchive_TruncatedChangesNothing(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	alice.put(baseFiles, archive(t, file{name: "kept"})).want(200)
	etag := alice.get(baseFiles).etag()
	long := strings.Repeat("long/", 40)
	whole := tarOf(t, file{name: "a", content: strings.Repeat("x", 700)}, file{name: long + "b", content: "y"},
		file{name: "zeros", content: string(make([]byte, 2048))})
	cut := func(data []byte, mediaType string, step int) (count int) {
		for n := 0; n < len(data); n += step {
			count++
			if a := alice.put(baseFiles, typed{mediaType, data[:n]}); a.status != 400 && a.status != 422 {
				t.Errorf("%d of %d bytes of %s: status %d: %s", n, len(data), mediaType, a.status, a.body)
			}
		}
		return count
	}
	end := len(whole) - 1024 // from where on nothing but the end is missing
	n := cut(whole[:end+512], "application/x-tar", 64)
	n += cut(gzipped(t, whole), "application/gzip", 7)
	n += cut(zstded(t, whole), "application/zstd", 7)
	if now := alice.get(baseFiles).etag(); now != etag {
		t.Errorf("the set changed from %s to %s", etag, now)
	}
	alice.put(baseFiles, typed{"application/x-tar", whole[:end+512]}).want(
		200) // one block of zeros is an end to every tar
	t.Logf("%d cuts", n)
	for name, data := range map[string][]byte{
		"garbage":           bytes.Repeat([]byte("garbage "), 200),
		"text":              []byte("hello"),
		"garbage in gzip":   gzipped(t, bytes.Repeat([]byte("garbage "), 200)),
		"a broken checksum": append(bytes.Repeat([]byte{'a'}, 148), whole[148:]...),
		"gzip, then dirt":   append(gzipped(t, whole), "dirt"...),
		"zstd, then dirt":   append(zstded(t, whole), "dirt"...),
	} {
		if a := alice.put(baseFiles, typed{"", data}); a.status != 400 && a.status != 422 {
			t.Errorf("%s: status %d: %s", name, a.status, a.body)
		}
	}
}

func TestPutArchive_LimitIsNamed(t *testing.T) {
	smaller := func(cfg *hubserver.Config) {
		cfg.Limits.BaseFiles, cfg.Limits.BaseFileBytes, cfg.Limits.BaseFilesBytes = 20, 1000, 5000
	}
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		many := func(n, size int) (files []file) {
			for i := range n {
				files = append(files, file{name: fmt.Sprint("f", i), content: strings.Repeat("x", size)})
			}
			return files
		}
		alice.put(baseFiles, archive(t, many(20, 0)...)).want(200)
		alice.put(baseFiles, archive(t, many(5, 1000)...)).want(200)
		etag := alice.get(baseFiles).etag()
		directories := make([]file, 500)
		for i := range directories {
			directories[i] = file{name: fmt.Sprintf("d%d/", i), kind: tar.TypeDir}
		}
		inflates := append(tarOf(t, file{name: "a"}), make([]byte, 1<<20)...)
		for name, c := range map[string]struct {
			body  typed
			limit string
		}{
			"too many files": {typed{"", gzipped(t, tarOf(t, many(21, 0)...))}, "at most 20"},
			"a large file": {typed{"",
				gzipped(t, tarOf(t, file{name: "big", content: strings.Repeat("x", 1001)}))},
				`"big" is too large: this hub accepts at most 1000 bytes`},
			"a large set": {typed{"", gzipped(t, tarOf(t, many(6, 1000)...))}, "at most 5000 bytes"},
			"a large file, its size alone": {typed{"",
				gzipped(t, tarOf(t, file{name: "big", content: strings.Repeat("x", 1001)})[:512])}, "1000"},
			"directories without end":   {typed{"", gzipped(t, tarOf(t, directories...))}, "the archive is too large"},
			"zeros after the end, gzip": {typed{"", gzipped(t, inflates)}, "the archive is too large"},
			"zeros after the end, zstd": {typed{"", zstded(t, inflates)}, "the archive is too large"},
			"a declared length":         {typed{"application/x-tar", make([]byte, 100_000)}, "the archive is too large"},
		} {
			p := alice.put(baseFiles, c.body).problem(413, wire.CodeTooLarge)
			if !strings.Contains(p.Detail, c.limit) {
				t.Errorf("%s: %q does not say %q", name, p.Detail, c.limit)
			}
		}
		skipped := bytes.Repeat([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, 1<<14) // frames of zstd without content
		for name, c := range map[string]struct {
			method, path string
			body         typed
			encoding     string
		}{
			"an archive, gzip": {"PUT", baseFiles, typed{"application/gzip", bytes.Repeat(gzipped(t, nil), 6000)}, ""},
			"an archive, zstd": {"PUT", baseFiles, typed{"application/zstd", skipped}, ""},
		} {
			headers := []header{}
			if c.encoding != "" {
				headers = append(headers, header{"Content-Encoding": c.encoding})
			}
			req, err := alice.request(c.method, c.path, c.body, headers...)
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = -1 // it does not say how long it is
			a, err := alice.send(req)
			if err != nil {
				t.Fatal(err)
			}
			if p := a.problem(413, wire.CodeTooLarge); !strings.Contains(p.Detail, "is too large") {
				t.Errorf("%s that inflates to nothing: %s", name, p.Detail)
			}
		}
		if now := alice.get(baseFiles).etag(); now != etag {
			t.Errorf("the set changed from %s to %s", etag, now)
		}
	})
}

func TestPutArchive_ZstdWindowLimitIsNamed(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]byte{tarOf(t, file{name: "a"}), make([]byte, 1<<20)} {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := hub.as("alice").put(baseFiles, typed{"application/zstd", b.Bytes()}).problem(422, wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, "8 MiB") {
		t.Errorf("%q does not name the limit", p.Detail)
	}
}
