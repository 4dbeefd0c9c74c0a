package hubserver_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
)

const plan = baseFiles + "/plan"

// treeOf is the set of these files, contents by path.
func treeOf(t testing.TB, contents map[string]string) tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for path, content := range contents {
		entries = append(entries, entry(path, tree.Regular, content))
	}
	files, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// full is the manifest that lists all of a set.
func full(files tree.Tree) wire.Manifest {
	return wire.Manifest{Tree: files.Digest(), Files: append([]tree.Entry{}, files...)}
}

// delta is the manifest that leads from one set to another.
func delta(from, to tree.Tree) wire.Manifest {
	d := tree.DeltaOf(from, to)
	return wire.Manifest{Tree: to.Digest(), Base: from.Digest(), Put: d.Put, Remove: d.Remove}
}

// blob is the member of a push that uploads a blob.
func blob(content string) file { return file{name: "blobs/" + sha([]byte(content)), content: content} }

// uploadOf is a push of a manifest and members.
func uploadOf(t testing.TB, m any, members ...file) typed {
	t.Helper()
	return framed(tarOf(t, append([]file{manifestMember(t, m)}, members...)...))
}

// manifestMember is the first member of a push: m in JSON, unless it is a text.
func manifestMember(t testing.TB, m any) file {
	t.Helper()
	text, ok := m.(string)
	if !ok {
		data, err := wire.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	return file{name: "manifest.json", content: text}
}

// noisy makes n contents of so many bytes that do not compress: f00, f01 and on.
func noisy(n, size int) map[string]string {
	contents := map[string]string{}
	for i := range n {
		b := make([]byte, size)
		rand.Read(b)
		contents[fmt.Sprintf("f%02d", i)] = string(b)
	}
	return contents
}

// blobs are the members that bring all contents of a set.
func blobs(files tree.Tree, contents map[string]string) []file {
	var members []file
	for _, e := range files {
		members = append(members, blob(contents[e.Path]))
	}
	return members
}

// framed is a tar as the body of a push.
func framed(plain []byte) typed {
	var body []byte
	for part := range slices.Chunk(plain, frame.Size) {
		body = frame.Append(body, part)
	}
	return typed{wire.BaseFilesType, body}
}

var zstdEncoded = header{"Content-Encoding": "zstd"}

// push sends a set and the contents that are missing, as a plan says.
func (c *caller) push(contents map[string]string) wire.BaseFilesWritten {
	c.hub.Helper()
	files := treeOf(c.hub, contents)
	p := decoded[wire.Plan](c.post(plan, full(files)).want(200))
	return decoded[wire.BaseFilesWritten](c.put(baseFiles, uploadOf(c.hub, full(files), missing(p, contents)...), zstdEncoded).want(200))
}

// missing are the members that a plan asks for.
func missing(p wire.Plan, contents map[string]string) []file {
	byDigest := map[string]string{}
	for _, content := range contents {
		byDigest[sha([]byte(content))] = content
	}
	var members []file
	for _, digest := range p.Missing {
		members = append(members, blob(byDigest[digest]))
	}
	return members
}

// stored counts the contents of acme.
func (h *testHub) stored() int {
	h.Helper()
	return h.count("SELECT count(*) FROM contents WHERE account = 'acme'")
}

func (h *testHub) wantFiles(contents map[string]string) {
	h.Helper()
	want := map[string]string{}
	for path, content := range contents {
		want[path] = "0644 " + content
	}
	if diff := cmp.Diff(want, tarFiles(h.TB.(*testing.T), h.as("rita").get(baseFiles+"/archive").want(200).body)); diff != "" {
		h.Errorf("the files (-want +got): %.2000s", diff)
	}
}

func TestPutFiles_OnlyMissingBlobs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		noise := make([]byte, 3<<20)
		rand.Read(noise)
		contents := map[string]string{"a": "alpha", "b/c": "", "big": string(noise), "same": "alpha", "text": strings.Repeat("some text ", 300_000)}
		w := hub.as("alice").push(contents)
		if w.Added != 5 || w.Uploaded != 4 || w.BaseFilesPushed != 5 {
			t.Errorf("the first push: %+v", w)
		}
		hub.wantFiles(contents)
		contents["a"], contents["new"] = "beta", "gamma"
		delete(contents, "b/c")
		w = hub.as("alice").push(contents)
		if w.Added != 1 || w.Changed != 1 || w.Removed != 1 || w.Uploaded != 2 {
			t.Errorf("the second push: %+v", w)
		}
		hub.wantFiles(contents)
	})
}

func TestPlanFiles_Unchanged(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		none := strings.Repeat("0", 64)
		p := decoded[wire.Plan](hub.as("alice").post(plan, wire.Manifest{Tree: none}).want(200))
		if diff := cmp.Diff(wire.Plan{NeedFull: true, AllMissing: true, Missing: []string{}}, p); diff != "" {
			t.Errorf("no set is there: %s", diff)
		}
		w := hub.as("alice").push(map[string]string{"a": "alpha"})
		p = decoded[wire.Plan](hub.as("alice").post(plan, wire.Manifest{Tree: w.Tree}).want(200))
		if diff := cmp.Diff(wire.Plan{Current: w.Tree, Unchanged: true, Missing: []string{}}, p); diff != "" {
			t.Errorf("the same set: %s", diff)
		}
		p = decoded[wire.Plan](hub.as("alice").post(plan, wire.Manifest{Tree: none}).want(200))
		if diff := cmp.Diff(wire.Plan{Current: w.Tree, NeedFull: true, Missing: []string{}}, p); diff != "" {
			t.Errorf("another set: %s", diff)
		}
	})
}

func TestPutFiles_Delta(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		contents := map[string]string{"a": "alpha", "b": "beta", "c": "gamma"}
		alice.push(contents)
		before := treeOf(t, contents)
		contents["a"], contents["d/e"] = "delta", "alpha"
		delete(contents, "b")
		m := delta(before, treeOf(t, contents))
		if p := decoded[wire.Plan](alice.post(plan, m).want(200)); !slices.Equal(p.Missing, []string{sha([]byte("delta"))}) || p.NeedFull {
			t.Errorf("the plan is %+v", p)
		}
		w := decoded[wire.BaseFilesWritten](alice.put(baseFiles, uploadOf(t, m, blob("delta")), zstdEncoded).want(200))
		if w.Added != 1 || w.Changed != 1 || w.Removed != 1 || w.Uploaded != 1 || w.Tree != m.Tree {
			t.Errorf("%+v", w)
		}
		hub.wantFiles(contents)

		// The same again, as after a lost answer.
		if w := decoded[wire.BaseFilesWritten](alice.put(baseFiles, uploadOf(t, m, blob("delta")), zstdEncoded).want(200)); w.Added+w.Changed+w.Removed != 0 {
			t.Errorf("again: %+v", w)
		}
		if p := decoded[wire.Plan](alice.post(plan, delta(before, treeOf(t, map[string]string{"x": "x"}))).want(200)); !p.NeedFull || len(p.Missing) != 0 {
			t.Errorf("a plan from a set that no longer exists: %+v", p)
		}
	})
}

func TestPutFiles_OutdatedPlanIs409(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		one, two, three := treeOf(t, map[string]string{"a": "1"}), treeOf(t, map[string]string{"a": "2"}), treeOf(t, map[string]string{"a": "2", "b": "3"})
		p := alice.put(baseFiles, uploadOf(t, full(three), blob("2")), zstdEncoded).problem(409, wire.CodePlanOutdated)
		if !slices.Equal(p.Missing, []string{sha([]byte("3"))}) || p.Current != nil {
			t.Errorf("contents are missing: %+v", p)
		}
		if p := decoded[wire.Plan](alice.post(plan, full(three)).want(200)); !slices.Equal(p.Missing, []string{sha([]byte("3"))}) {
			t.Errorf("what was uploaded is lost: %+v", p)
		}
		alice.push(map[string]string{"a": "1"})
		p = alice.put(baseFiles, uploadOf(t, delta(two, three), blob("3")), zstdEncoded).problem(409, wire.CodePlanOutdated)
		if p.Current == nil || p.Current.Revision != one.Digest() || p.Missing != nil {
			t.Errorf("another set is there: %+v", p)
		}
		hub.wantFiles(map[string]string{"a": "1"})
		if p := decoded[wire.Plan](alice.post(plan, full(three)).want(200)); len(p.Missing) != 0 {
			t.Errorf("what was uploaded is lost: %+v", p)
		}
	})
}

func TestPutFiles_BlobsBelongToAccount(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").push(map[string]string{"a": "a secret of acme"})
		sam := hub.as("sam")
		sam.put("/v1/stacks/sam/site/versions/1.0.0", typed{"application/gzip", gzipped(t, tarOf(t, file{name: "stack.json", content: `{"name": "@sam/site", "version": "1.0.0"}`}))}).want(201)
		sam.post("/v1/apis/upload?account=sam&slug=pets", pets).want(201)
		own := wire.CreateProject{Account: "sam", Slug: "web", Stack: "sam/site", API: mustRef("@sam/pets"), Visibility: wire.Private}
		sam.post("/v1/projects", own).want(201)
		m := full(treeOf(t, map[string]string{"mine": "a secret of acme"}))
		const path = "/v1/projects/sam/web/preview/base-files"
		if p := decoded[wire.Plan](sam.post(path+"/plan", m).want(200)); len(p.Missing) != 1 {
			t.Errorf("the plan is %+v", p)
		}
		if p := decoded[wire.Plan](sam.post(path+"/plan", wire.Manifest{Tree: m.Tree}).want(200)); !p.AllMissing {
			t.Errorf("asked by its digest alone: %+v", p)
		}
		if p := sam.put(path, uploadOf(t, m), zstdEncoded).problem(409, wire.CodePlanOutdated); len(p.Missing) != 1 {
			t.Errorf("the push: %+v", p)
		}
		sam.get(path).problem(404, wire.CodeNotFound)
		sam.get(path+"/archive").problem(404, wire.CodeNotFound)
	})
}

func TestPlanFiles_Compressed(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	data, err := wire.Encode(full(treeOf(t, map[string]string{"a": "alpha"})))
	if err != nil {
		t.Fatal(err)
	}
	const json = "application/json"
	if p := decoded[wire.Plan](alice.post(plan, typed{json, zstded(t, data)}, zstdEncoded).want(200)); len(p.Missing) != 1 {
		t.Errorf("%+v", p)
	}
	alice.post(plan, typed{json, data}, zstdEncoded).problem(422, wire.CodeInvalidBody)
	alice.post(plan, typed{json, zstded(t, data)[:20]}, zstdEncoded).problem(400, wire.CodeInvalidBody)
	long := `{"tree": "` + sha(nil) + `", "base": "` + sha(nil) + `", "remove": [` + strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 18_000) + `"x"]}`
	alice.post(plan, typed{json, zstded(t, []byte(long))}, zstdEncoded).problem(413, wire.CodeTooLarge)
	alice.post(plan, typed{json, data}, header{"Content-Encoding": "gzip"}).problem(415, wire.CodeUnsupportedMediaType)
	alice.post(plan, typed{"text/plain", data}).problem(415, wire.CodeUnsupportedMediaType)
	alice.post(plan, `{"tree": "1"`).problem(400, wire.CodeInvalidJSON)
}

// hostile are manifests that no set can have, with the status and what the answer says.
func hostile(t *testing.T) map[string]struct {
	manifest any
	status   int
	says     string
} {
	good := full(treeOf(t, map[string]string{"a": "alpha"}))
	with := func(entries ...tree.Entry) wire.Manifest {
		return wire.Manifest{Tree: tree.Tree(entries).Digest(), Files: entries}
	}
	digest := sha([]byte("alpha"))
	sized := func(path string, size int64) tree.Entry {
		return tree.Entry{Path: path, Mode: tree.Regular, Size: size, SHA256: digest}
	}
	var many []tree.Entry
	for i := range 21 {
		many = append(many, sized(fmt.Sprintf("f%02d", i), 5))
	}
	other := good
	other.Tree = strings.Repeat("0", 64)
	type row = struct {
		manifest any
		status   int
		says     string
	}
	rows := map[string]row{
		"no tree":                  {`{"files": []}`, 422, "/tree"},
		"files and put":            {`{"tree": "` + good.Tree + `", "files": [], "put": []}`, 422, "not both"},
		"put without base":         {`{"tree": "` + good.Tree + `", "put": [{"path": "a", "mode": "0644", "size": 5, "sha256": "` + digest + `"}]}`, 422, "/base"},
		"an invalid base":          {`{"tree": "` + good.Tree + `", "base": "x"}`, 422, "/base"},
		"an unknown member":        {`{"tree": "` + good.Tree + `", "files": [], "x": 1}`, 422, "/x"},
		"another tree":             {other, 422, good.Tree},
		"alike but for case":       {with(sized("A", 5), sized("a", 5)), 422, `"a"`},
		"twice":                    {with(sized("a", 5), sized("a", 5)), 422, `"a"`},
		"file and directory":       {with(sized("a", 5), sized("a/b", 5)), 422, `"a/b"`},
		"a content with two sizes": {with(sized("a", 5), sized("b", 6)), 422, `"b"`},
		"an invalid mode":          {with(tree.Entry{Path: "a", Mode: "0777", Size: 5, SHA256: digest}), 422, "0777"},
		"a negative size":          {with(sized("a", -1)), 422, "negative"},
		"an invalid digest":        {with(tree.Entry{Path: "a", Mode: tree.Regular, SHA256: "X"}), 422, "sha256"},
		"too many files":           {with(many...), 413, "at most 20"},
		"a large file":             {with(sized("big", 1001)), 413, `"big"`},
		"a large set":              {with(sized("a", 999), sized("b", 999), sized("c", 999)), 413, "2000"},
	}
	for _, path := range badPaths() {
		if strings.ToValidUTF8(path, "") == path {
			rows["the path "+fmt.Sprintf("%.40q", path)] = row{with(sized(path, 5)), 422, "path"}
		}
	}
	return rows
}

// smaller makes limits that a test can reach.
func smaller(cfg *hubserver.Config) {
	cfg.Limits.BaseFiles, cfg.Limits.BaseFileBytes, cfg.Limits.BaseFilesBytes = 20, 1000, 2000
}

func TestPutFiles_RejectsInvalidManifest(t *testing.T) {
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		for name, row := range hostile(t) {
			for way, a := range map[string]*answer{
				"planned": alice.post(plan, row.manifest),
				"pushed":  alice.put(baseFiles, uploadOf(t, row.manifest, blob("alpha")), zstdEncoded),
			} {
				if a.status != row.status || !strings.Contains(string(a.body), strings.ReplaceAll(row.says, `"`, `\"`)) {
					t.Errorf("%s, %s: status %d, want %d: %s", name, way, a.status, row.status, a.body)
				}
			}
		}
		alice.get(baseFiles).problem(404, wire.CodeNotFound)
		if n := hub.stored(); n != 0 {
			t.Errorf("%d contents are stored", n)
		}
	})
}

func TestPutFiles_RejectsMismatchedUpload(t *testing.T) {
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		m := full(treeOf(t, map[string]string{"a": "alpha", "b": "beta"}))
		manifest, err := wire.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		named := func(name, content string) file { return file{name: name, content: content} }
		alpha, digest := blob("alpha"), "blobs/"+sha([]byte("beta"))
		plain := tarOf(t, named("manifest.json", string(manifest)), alpha)
		bomb := frame.Append(nil, make([]byte, 5<<20))
		for name, c := range map[string]struct {
			body   typed
			status int
			says   string
		}{
			"another content":           {uploadOf(t, m, alpha, named(digest, "gama")), 422, digest},
			"a shorter content":         {uploadOf(t, m, alpha, named(digest, "bet")), 422, "3 bytes"},
			"a longer content":          {uploadOf(t, m, alpha, named(digest, "betaa")), 422, "5 bytes"},
			"a content twice":           {uploadOf(t, m, alpha, alpha), 422, "already sent"},
			"a content of no file":      {uploadOf(t, m, alpha, blob("gamma")), 422, "not in the manifest"},
			"a file by its path":        {uploadOf(t, m, alpha, named("b", "beta")), 422, `\"b\"`},
			"an invalid blob name":      {uploadOf(t, m, alpha, named("blobs/../b", "beta")), 422, "sha256"},
			"a link":                    {uploadOf(t, m, alpha, file{name: digest, kind: tar.TypeSymlink, link: "/etc/passwd"}), 422, digest},
			"a device":                  {uploadOf(t, m, alpha, file{name: digest, kind: tar.TypeChar}), 422, digest},
			"no manifest":               {framed(tarOf(t, alpha)), 422, "manifest.json"},
			"nothing":                   {framed(tarOf(t)), 422, "manifest.json"},
			"no frame":                  {typed{wire.BaseFilesType, nil}, 422, "manifest.json"},
			"an invalid manifest":       {uploadOf(t, "{", alpha), 400, "JSON"},
			"a mere question":           {uploadOf(t, wire.Manifest{Tree: m.Tree}, alpha), 422, "no files"},
			"no zstd":                   {typed{wire.BaseFilesType, plain}, 422, "not zstd"},
			"no tar":                    {framed([]byte(strings.Repeat("text ", 1000))), 422, "tar"},
			"a tar that breaks off":     {framed(plain[:len(plain)-1024-510]), 400, "ended"},
			"a frame that breaks off":   {typed{wire.BaseFilesType, framed(plain).data[:100]}, 400, "ended"},
			"a frame that is too large": {typed{wire.BaseFilesType, slices.Concat(framed(plain).data, bomb)}, 422, "4 MiB"},
			"something after the end":   {framed(append(bytes.Clone(plain), "more"...)), 422, "after its end"},
			"zeros without end":         {typed{wire.BaseFilesType, slices.Concat(framed(plain).data, bytes.Repeat(frame.Append(nil, make([]byte, 4<<20)), 10))}, 413, "too large"},
		} {
			a := alice.put(baseFiles, c.body, zstdEncoded)
			if a.status != c.status || !strings.Contains(string(a.body), c.says) {
				t.Errorf("%s: status %d, want %d and %q: %s", name, a.status, c.status, c.says, a.body)
			}
		}
		alice.put(baseFiles, framed(plain)).problem(415, wire.CodeUnsupportedMediaType)
		alice.put(baseFiles, framed(plain), header{"Content-Encoding": "gzip"}).problem(415, wire.CodeUnsupportedMediaType)
		alice.get(baseFiles).problem(404, wire.CodeNotFound)
		if n := hub.stored(); n != 0 {
			t.Errorf("%d contents are stored", n)
		}
	})
}

func TestPutFiles_LargeBlobAmongOthers(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	contents := noisy(39, 100<<10) // with the start of the large one, nearly a frame
	contents["large"] = noisy(1, int(hubserver.DefaultLimits.BaseFileBytes))["f00"]
	files := treeOf(t, contents)
	plain := tarOf(t, append([]file{manifestMember(t, full(files))}, blobs(files, contents)...)...)
	hub.as("alice").put(baseFiles, largeFrames(plain), zstdEncoded).want(200)
	hub.wantFiles(contents)
}

// largeFrames is a tar as the body of a push, in frames as large as the hub takes.
func largeFrames(plain []byte) typed {
	var body []byte
	for part := range slices.Chunk(plain, frame.MaxSize) {
		body = frame.Append(body, part)
	}
	return typed{wire.BaseFilesType, body}
}

func TestUpload_CutsLargeFramesIntoPacks(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := noisy(30, 100)
		for i := range 6 {
			contents[fmt.Sprintf("f%02d.large", 5*i)] = strings.Repeat(fmt.Sprint("text ", i), 600_000)
		}
		files := treeOf(t, contents)
		plain := tarOf(t, append([]file{manifestMember(t, full(files))}, blobs(files, contents)...)...)
		hub.as("alice").put(baseFiles, largeFrames(plain), zstdEncoded).want(200)
		hub.wantFiles(contents)
		if n := hub.count("SELECT max(length) FROM packs"); n > frame.Size {
			t.Errorf("a pack holds %d bytes, want at most %d", n, frame.Size)
		}
	})
}

// decoded returns how many bytes of packs an archive of the set has to decode.
func (h *testHub) decoded(files tree.Tree) (bytes int64) {
	h.Helper()
	err := h.store.Read(h.Context(), func(v *store.View) error {
		reader := v.BlobReader("acme")
		stored, err := reader.Locate(h.Context(), files)
		for _, f := range stored {
			err = errors.Join(err, reader.Copy(h.Context(), io.Discard, f.Blob))
		}
		bytes = reader.Decoded()
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return bytes
}

func TestGetArchive_DecodesEachPackOnce(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	// Each frame holds a few tiny files that are far from each other in the set, and 3 MiB of zeros.
	contents, large := map[string]string{}, map[string]string{}
	var members [][]file
	for i := range 8 {
		var tiny []file
		for j := range 20 {
			text := fmt.Sprint("tiny ", i, j)
			contents[fmt.Sprintf("%02d-%02d", j, i)] = text
			tiny = append(tiny, blob(text))
		}
		zeros := fmt.Sprint(i) + strings.Repeat("\x00", 3<<20)
		large[fmt.Sprint("large", i)] = zeros
		members = append(members, append(tiny, blob(zeros)))
	}
	all := maps.Clone(contents)
	maps.Copy(all, large)
	end := func(files ...file) []byte { return bytes.TrimSuffix(tarOf(t, files...), make([]byte, 1024)) }
	body := frame.Append(nil, end(manifestMember(t, full(treeOf(t, all)))))
	for _, m := range members {
		body = frame.Append(body, end(m...))
	}
	body = frame.Append(body, make([]byte, 1024))
	hub.as("alice").put(baseFiles, typed{wire.BaseFilesType, body}, zstdEncoded).want(200)
	files := treeOf(t, contents)
	hub.as("alice").put(baseFiles, uploadOf(t, full(files)), zstdEncoded).want(200)
	if bytes, limit := hub.decoded(files), files.Bytes()+8*frame.Size; bytes > limit {
		t.Errorf("%d bytes are decoded for %d bytes of files in 8 frames, want at most %d", bytes, files.Bytes(), limit)
	}
	hub.wantFiles(contents)
}

func TestUpload_StoresOnlyContents(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	contents := map[string]string{"a": "alpha", "b": "beta"}
	files := treeOf(t, contents)
	m := manifestMember(t, full(files))
	m.content += strings.Repeat(" ", 12<<10)
	plain := tarOf(t, append([]file{m}, blobs(files, contents)...)...)
	hub.as("alice").put(baseFiles, largeFrames(append(plain, make([]byte, 500<<10)...)), zstdEncoded).want(200)
	hub.wantFiles(contents)
	if n := hub.count("SELECT sum(length) FROM packs"); n > 4<<10 {
		t.Errorf("the packs of 9 bytes of contents hold %d bytes", n)
	}
	second := blob("beta")
	second.records = map[string]string{"comment": strings.Repeat("x", 300<<10)}
	contents["c"] = "gamma"
	body := framed(tarOf(t, manifestMember(t, full(treeOf(t, contents))), blob("alpha"), second, blob("gamma")))
	p := hub.as("alice").put(baseFiles, body, zstdEncoded).problem(422, wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, second.name) {
		t.Errorf("%q does not name %s", p.Detail, second.name)
	}
}

// sparse is the member of a push that uploads a blob of so many bytes as a sparse
// file: all after start is a hole.
func sparse(t *testing.T, start string, size int) (content string, member []byte) {
	t.Helper()
	content = start + strings.Repeat("\x00", size-len(start))
	var records string
	for _, r := range []string{"GNU.sparse.major=0", "GNU.sparse.minor=1", "GNU.sparse.name=" + blob(content).name,
		fmt.Sprint("GNU.sparse.size=", size), "GNU.sparse.numblocks=1", fmt.Sprint("GNU.sparse.map=0,", len(start))} {
		n := len(r) + 2 + 2 // the length itself has two digits
		if n > 99 {
			n++
		}
		records += fmt.Sprintf("%d %s\n", n, r)
	}
	end := func(f file) []byte { return bytes.TrimSuffix(tarOf(t, f), make([]byte, 1024)) }
	extended := end(file{name: "x", content: records})
	copy(extended[:512], retyped(extended[:512], 'x'))
	return content, append(extended, end(file{name: "s", content: start})...)
}

// retyped is a tar's header with another kind.
func retyped(header []byte, kind byte) []byte {
	h := bytes.Clone(header)
	h[156] = kind
	copy(h[148:156], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

func TestUpload_RejectsSparseFiles(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	content, member := sparse(t, "start", 2000)
	other := strings.Repeat("other", 500)
	files := treeOf(t, map[string]string{"other": other, "sparse": content})
	plain := bytes.TrimSuffix(tarOf(t, manifestMember(t, full(files))), make([]byte, 1024))
	plain = append(append(plain, member...), tarOf(t, blob(other))...)
	p := hub.as("alice").put(baseFiles, framed(plain), zstdEncoded).problem(422, wire.CodeInvalidBody)
	if !strings.Contains(p.Detail, "sparse") {
		t.Errorf("%q does not say why", p.Detail)
	}
	if n := hub.stored(); n != 0 {
		t.Errorf("%d contents are stored", n)
	}
}

func TestPutFiles_DatabaseFailureIsNotBlamedOnCaller(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		const member = 200 * 512 // of a tar, with its header
		contents := noisy(40, member-512)
		files := treeOf(t, contents)
		plain := tarOf(t, append([]file{manifestMember(t, full(files))}, blobs(files, contents)...)...)
		first := len(plain)%member - 1024 // the manifest; so much is a tar's end
		body := frame.Append(nil, plain[:first])
		for part := range slices.Chunk(plain[first:], member) { // so that no content goes on in the next
			body = frame.Append(body, part)
		}
		hub.sql("DROP TABLE packs")
		hub.as("alice").put(baseFiles, typed{wire.BaseFilesType, body}, zstdEncoded).problem(500, wire.CodeInternal)
	})
}

func TestPutFiles_RejectsMismatchedDelta(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		base := treeOf(t, map[string]string{"a": "alpha", "b": "beta"})
		alice.push(map[string]string{"a": "alpha", "b": "beta"})
		good := delta(base, treeOf(t, map[string]string{"a": "alpha", "b": "beta", "c": "gamma"}))
		change := func(f func(*wire.Manifest)) wire.Manifest {
			m := good
			m.Put = slices.Clone(m.Put)
			f(&m)
			return m
		}
		for name, c := range map[string]struct {
			manifest wire.Manifest
			says     string
		}{
			"another tree":          {change(func(m *wire.Manifest) { m.Put[0].Path = "d" }), "the tree"},
			"a clash with the base": {change(func(m *wire.Manifest) { m.Put[0].Path = "A" }), `\"A\"`},
			"below a file":          {change(func(m *wire.Manifest) { m.Put[0].Path = "a/x" }), `\"a/x\"`},
			"removing nothing":      {change(func(m *wire.Manifest) { m.Remove = []string{"none"} }), `\"none\"`},
			"a size that is wrong":  {change(func(m *wire.Manifest) { m.Put[0] = entry("c", tree.Regular, "alpha"); m.Put[0].Size = 7 }), ""},
		} {
			members := []file{blob("gamma")}
			if c.says == "" {
				members = nil
			}
			if a := alice.put(baseFiles, uploadOf(t, c.manifest, members...), zstdEncoded); a.status != 422 || !strings.Contains(string(a.body), c.says) {
				t.Errorf("%s: status %d: %s", name, a.status, a.body)
			}
		}
		hub.wantFiles(map[string]string{"a": "alpha", "b": "beta"})
	})
}

func TestPutFiles_RejectsWrongSize(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.push(map[string]string{"a": "alpha"})
		lie := entry("b", tree.Regular, "alpha")
		lie.Size = 4
		m := full(tree.Tree{lie})
		alice.post(plan, m).problem(422, wire.CodeInvalidBody)
		alice.put(baseFiles, uploadOf(t, m), zstdEncoded).problem(422, wire.CodeInvalidBody)
	})
}

// cut sends the first n bytes of a push, and breaks the connection.
func (c *caller) cut(body typed, n int) {
	c.hub.Helper()
	c.breakOff(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body.data), body.data[:n]))
}

// breakOff sends the start of a push, from the header with its length, and
// breaks the connection.
func (c *caller) breakOff(start string) {
	c.hub.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.hub.url, "http://"))
	if err != nil {
		c.hub.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Encoding: zstd\r\n%s",
		baseFiles, c.token, wire.BaseFilesType, start)
	conn.(*net.TCPConn).CloseWrite()
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	io.Copy(io.Discard, conn) // until the hub is done with it
	conn.Close()
}

func TestPutFiles_BrokenPushKeepsBlobs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := noisy(40, 100<<10)
		files := treeOf(t, contents)
		body := uploadOf(t, full(files), blobs(files, contents)...)
		hub.as("alice").cut(body, len(body.data)*3/4)
		p := decoded[wire.Plan](hub.as("alice").post(plan, full(files)).want(200))
		if n := len(p.Missing); n < 8 || n > 22 { // a frame more than what was cut
			t.Errorf("%d of 40 contents are missing", n)
		}
		hub.as("alice").get(baseFiles).problem(404, wire.CodeNotFound)
		w := decoded[wire.BaseFilesWritten](hub.as("alice").put(baseFiles, uploadOf(t, full(files), missing(p, contents)...), zstdEncoded).want(200))
		if w.Uploaded != len(p.Missing) {
			t.Errorf("%+v", w)
		}
		hub.wantFiles(contents)
	})
}

func TestPutFiles_BrokenPushKeepsNoWrongBlob(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := noisy(4, 10<<10)
		files := treeOf(t, contents)
		members := blobs(files, contents)
		wrong := strings.TrimPrefix(members[1].name, "blobs/")
		members[1].content = strings.Repeat("x", len(members[1].content))
		var data []byte
		for part := range slices.Chunk(tarOf(t, append([]file{manifestMember(t, full(files))}, members...)...), 15<<10) { // a content and a half
			data = frame.Append(data, part)
		}
		body := typed{wire.BaseFilesType, data}
		for cut := 1; cut < len(body.data); cut += len(body.data) / 20 {
			hub.as("alice").cut(body, cut)
			p := decoded[wire.Plan](hub.as("alice").post(plan, full(files)).want(200))
			if !slices.Contains(p.Missing, wrong) {
				t.Fatalf("cut after %d of %d bytes: what is missing is %v", cut, len(body.data), p.Missing)
			}
		}
		hub.as("alice").push(contents)
		hub.wantFiles(contents)
	})
}

func TestPutFiles_BrokenPushKeepsNoPartialBlob(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := map[string]string{"a": "alpha", "b": "beta"}
		files := treeOf(t, contents)
		body := uploadOf(t, full(files), blob("alpha"), file{name: blob("beta").name, content: "atem"})
		// That the connection breaks is known here before what is wrong in its last frame.
		hub.as("alice").breakOff(fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nno chunk\r\n", len(body.data), body.data))
		p := decoded[wire.Plan](hub.as("alice").post(plan, full(files)).want(200))
		if len(p.Missing) != 2 {
			t.Errorf("missing is %v, want both", p.Missing)
		}
	})
}

// noteWaiting makes the database note, in noted, how the transactions that INSERT
// into or UPDATE a table wait for the disk: in full, or not at all.
func (h *testHub) noteWaiting(write, table string) {
	h.Helper()
	if store.Path(h.address) != "" {
		h.sql("CREATE TRIGGER note_" + table + " AFTER " + write + " ON " + table + " BEGIN INSERT INTO noted SELECT '" + table + "', synchronous = 2 FROM pragma_synchronous; END")
		return
	}
	h.sql("CREATE FUNCTION note_" + table + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO noted SELECT '" + table + "', current_setting('synchronous_commit') = 'on'; RETURN NEW; END $$")
	h.sql("CREATE TRIGGER note AFTER " + write + " ON " + table + " FOR EACH ROW EXECUTE FUNCTION note_" + table + "()")
}

func TestPutFiles_OneSyncedTransaction(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.sql("CREATE TABLE noted (what text, in_full boolean)")
		hub.noteWaiting("INSERT", "packs")
		hub.noteWaiting("INSERT", "base_sets")
		hub.as("alice").push(noisy(80, 100<<10))
		if n := hub.count("SELECT count(*) FROM noted WHERE what = 'base_sets' AND in_full"); n != 1 {
			t.Errorf("%d transactions that name a set wait for the disk, want 1", n)
		}
		if n := hub.count("SELECT count(*) FROM noted WHERE what = 'packs' AND NOT in_full"); n < 2 {
			t.Errorf("%d packs were stored without a wait for the disk, want some", n)
		}
	})
}

func TestTokenUse_IsStoredByNoRequest(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.as("alice").get("/v1/whoami").want(200)
		hub.sql("UPDATE tokens SET last_used_at = 1")
		hub.sql("CREATE TABLE noted (what text, in_full boolean)")
		hub.noteWaiting("UPDATE", "tokens")
		for range 2 {
			hub.as("alice").get("/v1/whoami").want(200)
		}
		if n := hub.count("SELECT count(*) FROM noted"); n != 0 {
			t.Errorf("requests stored %d uses", n)
		}
		for range 2 {
			if err := hub.server.SaveTokenUses(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := hub.count("SELECT count(*) FROM noted WHERE NOT in_full"); n != 1 {
			t.Errorf("%d uses were stored without a wait for the disk, want 1", n)
		}
		if n := hub.count("SELECT count(*) FROM tokens WHERE last_used_at > 1"); n != 1 {
			t.Errorf("%d tokens are marked as used", n)
		}
	})
}

func TestSeedFiles_RefusedWhenFilesExist(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		seed := header{"Content-Encoding": "zstd", "If-None-Match": "*"}
		body := uploadOf(t, full(treeOf(t, map[string]string{"a": "alpha"})), blob("alpha"))
		hub.as("alice").put(baseFiles, body, seed).want(200)
		hub.as("alice").put(baseFiles, body, seed).problem(412, wire.CodeSetExists)
	})
}

func TestPutArchive_EqualAddsNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		body := archive(t, file{name: "a", content: "alpha"}, file{name: "b", content: "beta"}, file{name: "c", content: "alpha"})
		for range 3 {
			hub.as("alice").put(baseFiles, body).want(200)
		}
		hub.as("alice").push(map[string]string{"other": "alpha"})
		if n, packs := hub.stored(), hub.count("SELECT count(*) FROM packs"); n != 2 || packs != 1 {
			t.Errorf("%d contents in %d packs, want 2 in 1", n, packs)
		}
	})
}
