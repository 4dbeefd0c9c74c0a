package hubserver_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
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

// question asks for all that a set has.
func question(files tree.Tree) wire.PlanBaseFiles {
	q := wire.PlanBaseFiles{Tree: files.Digest()}
	for _, e := range files {
		if !slices.Contains(q.Digests, e.SHA256) {
			q.Digests = append(q.Digests, e.SHA256)
		}
	}
	return q
}

// uploadOf is a push of a list of files, and of these contents.
func uploadOf(files tree.Tree, contents ...string) typed {
	return upload(store.Compress(files.Canonical()), contents...)
}

// patchOf is a push of a list that is a patch of another one.
func patchOf(t testing.TB, base, files tree.Tree, contents ...string) typed {
	t.Helper()
	patch, err := tree.Patch(base.Canonical(), files.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	return upload(store.Compress(patch), contents...)
}

func upload(list []byte, contents ...string) typed {
	body := framed(nil, list)
	for _, content := range contents {
		body = framed(body, store.Compress([]byte(content)))
	}
	return typed{wire.UploadType, body}
}

// framed appends a frame after its length.
func framed(body, frame []byte) []byte {
	return append(binary.AppendUvarint(body, uint64(len(frame))), frame...)
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

// all are the contents of a set in the order of their paths.
func all(contents map[string]string) (list []string) {
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		list = append(list, contents[path])
	}
	return list
}

// push sends a set and the contents that are missing, as a plan says.
func (c *caller) push(contents map[string]string) wire.BaseFilesWritten {
	c.hub.Helper()
	files := treeOf(c.hub, contents)
	p := decoded[wire.PlannedBaseFiles](c.post(plan, question(files)).want(200))
	return decoded[wire.BaseFilesWritten](c.put(baseFiles, uploadOf(files, missing(p, contents)...)).want(200))
}

// missing are the contents that a plan asks for.
func missing(p wire.PlannedBaseFiles, contents map[string]string) (list []string) {
	byDigest := map[string]string{}
	for _, content := range contents {
		byDigest[sha([]byte(content))] = content
	}
	for _, digest := range p.Missing {
		list = append(list, byDigest[digest])
	}
	return list
}

// stored counts the contents of the project web.
func (h *testHub) stored() int {
	h.Helper()
	return h.count("SELECT count(*) FROM blobs b JOIN resources r ON r.id = b.resource_id WHERE r.slug = 'web'")
}

func (h *testHub) wantFiles(contents map[string]string) {
	h.Helper()
	want := map[string]string{}
	for path, content := range contents {
		want[path] = "0644 " + content
	}
	got := tarFiles(h.TB.(*testing.T), h.as("rita").get(baseFiles+"/archive").want(200).body)
	if diff := cmp.Diff(want, got); diff != "" {
		h.Errorf("the files (-want +got): %.2000s", diff)
	}
}

func TestPutFiles_OnlyMissingBlobs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := map[string]string{
			"a": "alpha", "b/c": "", "big": noisy(1, 3<<20)["f00"], "same": "alpha",
			"text": strings.Repeat("some text ", 300_000),
		}
		w := hub.as("alice").push(contents)
		if w.Added != 5 || w.Uploaded != 4 || w.BaseFilesPushed != 5 || w.BytesReceived < 3<<20 {
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
		ask := func(q wire.PlanBaseFiles, want wire.PlannedBaseFiles) {
			t.Helper()
			if diff := cmp.Diff(want, decoded[wire.PlannedBaseFiles](hub.as("alice").post(plan, q).want(200))); diff != "" {
				t.Errorf("%+v: %s", q, diff)
			}
		}
		ask(wire.PlanBaseFiles{Tree: none}, wire.PlannedBaseFiles{Missing: []string{}})
		w := hub.as("alice").push(map[string]string{"a": "alpha"})
		ask(wire.PlanBaseFiles{Tree: w.Tree}, wire.PlannedBaseFiles{Current: w.Tree, Unchanged: true, Missing: []string{}})
		ask(wire.PlanBaseFiles{Tree: none}, wire.PlannedBaseFiles{Current: w.Tree, Missing: []string{}})
		alpha := sha([]byte("alpha"))
		ask(wire.PlanBaseFiles{Tree: w.Tree, Digests: []string{alpha}},
			wire.PlannedBaseFiles{Current: w.Tree, Unchanged: true, Missing: []string{}})
		ask(wire.PlanBaseFiles{Tree: none, Digests: []string{alpha, none}},
			wire.PlannedBaseFiles{Current: w.Tree, Missing: []string{none}})
		hub.sql("DELETE FROM blobs WHERE sha256 = '" + alpha + "'") // as after a repair
		ask(wire.PlanBaseFiles{Tree: w.Tree, Digests: []string{alpha}},
			wire.PlannedBaseFiles{Current: w.Tree, Missing: []string{alpha}})
	})
}

func TestPlanFiles_RejectsInvalidBody(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	alice.post(plan, `{"tree": "1"`).problem(400, wire.CodeInvalidJSON)
	alice.post(plan, `{"tree": "1"}`).problem(422, wire.CodeInvalidBody)
	alice.post(plan, `{"tree": "`+sha(nil)+`", "digests": ["x"]}`).problem(422, wire.CodeInvalidBody)
	alice.post(plan, `{"tree": "`+sha(nil)+`", "files": []}`).problem(422, wire.CodeInvalidBody)
	alice.post(plan, wire.PlanBaseFiles{Tree: sha(nil), Digests: make([]string, 20_001)}).problem(413, wire.CodeTooLarge)
	alice.post(plan, typed{"text/plain", []byte("{}")}).problem(415, wire.CodeUnsupportedMediaType)
}

func TestPutFiles_Patch(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		contents := map[string]string{"a": "alpha", "b": "beta", "c": "gamma"}
		alice.push(contents)
		before := treeOf(t, contents)
		contents["a"], contents["d/e"] = "delta", "alpha"
		delete(contents, "b")
		files := treeOf(t, contents)
		p := decoded[wire.PlannedBaseFiles](alice.post(plan, question(files)).want(200))
		if !slices.Equal(p.Missing, []string{sha([]byte("delta"))}) || p.Current != before.Digest() {
			t.Errorf("the plan is %+v", p)
		}
		on := baseFiles + "?base=" + before.Digest()
		w := decoded[wire.BaseFilesWritten](alice.put(on, patchOf(t, before, files, "delta")).want(200))
		if w.Added != 1 || w.Changed != 1 || w.Removed != 1 || w.Uploaded != 1 || w.Tree != files.Digest() {
			t.Errorf("%+v", w)
		}
		hub.wantFiles(contents)

		// The same again, as after a lost answer.
		gone := alice.put(on, patchOf(t, before, files, "delta")).problem(409, wire.CodePlanOutdated)
		if gone.Current == nil || gone.Current.Revision != files.Digest() {
			t.Errorf("again: %+v", gone)
		}
		alice.put(baseFiles+"?base=x", uploadOf(files)).problem(422, wire.CodeInvalidBody)
		alice.put(baseFiles+"?base="+files.Digest(), patchOf(t, before, files)).problem(422, wire.CodeInvalidBody)
	})
}

func TestPutFiles_OutdatedPlanIs409(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		one, two, three := treeOf(t, map[string]string{"a": "1"}), treeOf(t, map[string]string{"a": "2"}),
			treeOf(t, map[string]string{"a": "2", "b": "3"})
		p := alice.put(baseFiles, uploadOf(three, "2")).problem(409, wire.CodePlanOutdated)
		if !slices.Equal(p.Missing, []string{sha([]byte("3"))}) || p.Current != nil {
			t.Errorf("contents are missing: %+v", p)
		}
		lost := func(want ...string) {
			t.Helper()
			p := decoded[wire.PlannedBaseFiles](alice.post(plan, question(three)).want(200))
			if !slices.Equal(p.Missing, append([]string{}, want...)) {
				t.Errorf("what was uploaded is lost: %+v", p)
			}
		}
		lost(sha([]byte("3")))
		alice.push(map[string]string{"a": "1"})
		p = alice.put(baseFiles+"?base="+two.Digest(), patchOf(t, two, three, "3")).problem(409, wire.CodePlanOutdated)
		if p.Current == nil || p.Current.Revision != one.Digest() || p.Missing != nil {
			t.Errorf("another set is there: %+v", p)
		}
		hub.wantFiles(map[string]string{"a": "1"})
		lost(sha([]byte("3")))
	})
}

func TestPutFiles_BlobsBelongToProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").post("/v1/projects", newProject("other")).want(201)
		hub.as("alice").push(map[string]string{"a": "a secret of web"})
		const path = "/v1/projects/acme/other/preview/base-files"
		files := treeOf(t, map[string]string{"mine": "a secret of web"})
		_, restricted := hub.as("alice").create(wire.CreateToken{
			Name: "other", Scopes: wire.Scopes, Restriction: onlyProject("acme", "other"),
		})
		if p := decoded[wire.PlannedBaseFiles](restricted.post(path+"/plan", question(files)).want(200)); len(
			p.Missing) != 1 {
			t.Errorf("the plan is %+v", p)
		}
		if p := restricted.put(path, uploadOf(files)).problem(409, wire.CodePlanOutdated); len(p.Missing) != 1 {
			t.Errorf("the push: %+v", p)
		}
		restricted.get(path).problem(404, wire.CodeNotFound)
		restricted.get(path+"/archive").problem(404, wire.CodeNotFound)
	})
}

// badList is a list that no set can have, with the status and what the answer says.
type badList struct {
	list   string
	status int
	says   string
}

func badLists() map[string]badList {
	digest := sha([]byte("alpha"))
	line := func(path string, size int64) string {
		return string(tree.Tree{{Path: path, Mode: tree.Regular, Size: size, SHA256: digest}}.Canonical())
	}
	var many string
	for i := range 21 {
		many += line(fmt.Sprintf("f%02d", i), 5)
	}
	rows := map[string]badList{
		"no line":                  {"text\n", 422, "list of files"},
		"no end of a line":         {strings.TrimSuffix(line("a", 5), "\n"), 422, "list of files"},
		"alike but for case":       {line("A", 5) + line("a", 5), 422, `"a"`},
		"twice":                    {line("a", 5) + line("a", 5), 422, `"a"`},
		"out of order":             {line("b", 5) + line("a", 5), 422, "list of files"},
		"file and directory":       {line("a", 5) + line("a/b", 5), 422, `"a/b"`},
		"a content with two sizes": {line("a", 5) + line("b", 6), 422, `"b"`},
		"an invalid mode":          {strings.Replace(line("a", 5), "0644", "0777", 1), 422, "0777"},
		"a negative size":          {line("a", -1), 422, "list of files"},
		"an invalid digest":        {strings.Replace(line("a", 5), digest, strings.ToUpper(digest), 1), 422, "list of files"},
		"too many files":           {many, 413, "at most 20"},
		"a large file":             {line("big", 1001), 413, `"big"`},
		"a large set": {line("a", 999) + strings.ReplaceAll(line("b", 999)+line("c", 999), digest, sha(nil)),
			413, "2000"},
	}
	for _, path := range badPaths() {
		rows["the path "+fmt.Sprintf("%.40q", path)] = badList{line(path, 5), 422, "list of files"}
	}
	return rows
}

// smaller makes limits that a test can reach.
func smaller(cfg *hubserver.Config) {
	cfg.Limits.BaseFiles, cfg.Limits.BaseFileBytes, cfg.Limits.BaseFilesBytes = 20, 1000, 2000
}

func TestPutFiles_RejectsInvalidList(t *testing.T) {
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		for name, row := range badLists() {
			a := alice.put(baseFiles, upload(store.Compress([]byte(row.list)), "alpha"))
			if a.status != row.status || !strings.Contains(string(a.body), strings.ReplaceAll(row.says, `"`, `\"`)) {
				t.Errorf("%s: status %d, want %d: %s", name, a.status, row.status, a.body)
			}
		}
		alice.get(baseFiles).problem(404, wire.CodeNotFound)
		if n := hub.stored(); n != 0 {
			t.Errorf("%d contents are stored", n)
		}
	})
}

func TestPutFiles_RejectsInvalidPatch(t *testing.T) {
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		contents := map[string]string{"y": "alpha", "z": "beta"}
		alice.push(contents)
		before := treeOf(t, contents)
		same, _, _ := strings.Cut(string(before.Canonical()), "\n")
		rows := badLists()
		rows["a file that is not there"] = badList{"- c\n", 422, `"c"`}
		rows["a file that stays"] = badList{same + "\n", 422, "already"}
		rows["a path twice"] = badList{"- y\n- y\n", 422, "list of files"}
		rows["too large"] = badList{strings.Repeat("x", 16<<20+1), 413, "list of files"}
		for name, row := range rows {
			list := upload(store.Compress([]byte(row.list)))
			a := alice.put(baseFiles+"?base="+before.Digest(), list)
			if a.status != row.status || !strings.Contains(string(a.body), strings.ReplaceAll(row.says, `"`, `\"`)) {
				t.Errorf("%s: status %d, want %d: %s", name, a.status, row.status, a.body)
			}
		}
		hub.wantFiles(contents)
		if now := hub.reserved(); now != 0 {
			t.Errorf("%d bytes are reserved", now)
		}
	})
}

func TestPutFiles_RejectsMismatchedUpload(t *testing.T) {
	eachWith(t, smaller, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		files := treeOf(t, map[string]string{"a": "alpha", "b": "beta"})
		list, alpha := store.Compress(files.Canonical()), store.Compress([]byte("alpha"))
		with := func(frames ...[]byte) typed {
			body := framed(nil, list)
			for _, f := range frames {
				body = framed(body, f)
			}
			return typed{wire.UploadType, body}
		}
		whole := uploadOf(files, "alpha", "beta").data
		for name, c := range map[string]struct {
			body   typed
			status int
			says   string
		}{
			"another content":           {uploadOf(files, "alpha", "gama"), 422, "not in the list"},
			"a content of no file":      {uploadOf(files, "alpha", "gamma"), 422, "not in the list"},
			"nothing":                   {typed{wire.UploadType, nil}, 422, "no list of files"},
			"a list that is no zstd":    {typed{wire.UploadType, framed(nil, files.Canonical())}, 422, "not a supported zstd frame"},
			"a content that is no zstd": {with([]byte("alpha")), 422, "not a supported zstd frame"},
			"a tar":                     {typed{wire.UploadType, tarOf(t, file{name: "a"})}, 422, "not a supported zstd frame"},
			"two frames as one":         {with(slices.Concat(alpha, alpha)), 422, "one frame"},
			"something after a frame":   {with(append(bytes.Clone(alpha), 0)), 422, "one frame"},
			"an empty frame":            {with(nil), 422, "not a supported zstd frame"},
			"a length that breaks off":  {typed{wire.UploadType, append(framed(nil, list), 0x80)}, 400, "ended"},
			"a length without end": {
				typed{wire.UploadType, append(framed(nil, list), bytes.Repeat([]byte{0xff}, 11)...)}, 422, "overflow",
			},
			"a length of no frame": {
				typed{wire.UploadType, binary.AppendUvarint(framed(nil, list), 1<<63)}, 413, "too large",
			},
			"a frame that breaks off": {typed{wire.UploadType, whole[:len(whole)-3]}, 400, "ended"},
			"a content that is too large": {
				with(store.Compress(make([]byte, 5<<20))), 413, "too large",
			},
		} {
			a := alice.put(baseFiles, c.body)
			if a.status != c.status || !strings.Contains(string(a.body), c.says) {
				t.Errorf("%s: status %d, want %d and %q: %s", name, a.status, c.status, c.says, a.body)
			}
		}
		for _, encoding := range []string{"gzip", "zstd"} {
			alice.put(baseFiles, uploadOf(files), header{"Content-Encoding": encoding}).problem(415,
				wire.CodeUnsupportedMediaType)
		}
		alice.get(baseFiles).problem(404, wire.CodeNotFound)
		if n := hub.stored(); n > 1 {
			t.Errorf("%d contents are stored", n)
		}
		alice.put(baseFiles, uploadOf(files, "alpha", "beta", "alpha")).want(200)
	})
}

func TestPutFiles_LargeBlobAmongOthers(t *testing.T) {
	takesLong(t)
	hub := one(t, nil)
	hub.project()
	contents := noisy(39, 100<<10)
	contents["large"] = noisy(1, int(hubserver.DefaultLimits.BaseFileBytes))["f00"]
	contents["zeros"] = strings.Repeat("\x00", int(hubserver.DefaultLimits.BaseFileBytes))
	hub.as("alice").put(baseFiles, uploadOf(treeOf(t, contents), all(contents)...)).want(200)
	hub.wantFiles(contents)
}

func TestPutFiles_DatabaseFailureIsNotBlamedOnCaller(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := noisy(80, 100<<10)
		hub.sql("ALTER TABLE blobs RENAME TO gone")
		hub.as("alice").put(baseFiles, uploadOf(treeOf(t, contents), all(contents)...)).problem(500, wire.CodeInternal)
	})
}

// cut sends the first n bytes of a push, and breaks the connection.
func (c *caller) cut(body typed, n int) {
	c.hub.Helper()
	c.breakOff(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body.data), body.data[:n]))
}

// breakOff sends the start of a push, from the header with its length, and breaks the connection.
func (c *caller) breakOff(start string) {
	c.hub.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.hub.url, "http://"))
	if err != nil {
		c.hub.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s",
		baseFiles, c.token, wire.UploadType, start)
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
		body := uploadOf(files, all(contents)...)
		hub.as("alice").cut(body, len(body.data)*3/4)
		p := decoded[wire.PlannedBaseFiles](hub.as("alice").post(plan, question(files)).want(200))
		if n := len(p.Missing); n < 8 || n > 12 {
			t.Errorf("%d of 40 contents are missing", n)
		}
		hub.as("alice").get(baseFiles).problem(404, wire.CodeNotFound)
		w := decoded[wire.BaseFilesWritten](
			hub.as("alice").put(baseFiles, uploadOf(files, missing(p, contents)...)).want(200))
		if w.Uploaded != len(p.Missing) {
			t.Errorf("%+v", w)
		}
		hub.wantFiles(contents)
	})
}

func TestSeedFiles_RefusedWhenFilesExist(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		seed := header{"If-None-Match": "*"}
		body := uploadOf(treeOf(t, map[string]string{"a": "alpha"}), "alpha")
		hub.as("alice").put(baseFiles, body, seed).want(200)
		hub.as("alice").put(baseFiles, body, seed).problem(412, wire.CodeSetExists)
	})
}

func TestPutArchive_EqualAddsNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		body := archive(t, file{name: "a", content: "alpha"}, file{name: "b", content: "beta"},
			file{name: "c", content: "alpha"})
		for range 3 {
			hub.as("alice").put(baseFiles, body).want(200)
		}
		hub.as("alice").push(map[string]string{"other": "alpha"})
		if n, rows := hub.stored(), hub.count("SELECT count(*) FROM revisions WHERE kind = 'files'"); n != 2 || rows != 2 {
			t.Errorf("%d contents in %d revisions, want 2 and 2", n, rows)
		}
	})
}

func TestPutFiles_BlobsBelongToAccount(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").push(map[string]string{"a": "a secret of acme"})
		sam := hub.as("sam")
		kit := file{name: "stack.json", content: `{"name": "@sam/site", "version": "1.0.0"}`}
		sam.put("/v1/stacks/sam/site/versions/1.0.0", typed{"application/gzip", gzipped(t, tarOf(t, kit))}).want(201)
		sam.post("/v1/apis/upload?account=sam&slug=pets", pets).want(201)
		own := wire.CreateProject{Account: "sam", Slug: "web", Stack: "sam/site", API: mustRef("@sam/pets"),
			Visibility: wire.Private}
		sam.post("/v1/projects", own).want(201)
		files := treeOf(t, map[string]string{"mine": "a secret of acme"})
		const path = "/v1/projects/sam/web/preview/base-files"
		if p := decoded[wire.PlannedBaseFiles](sam.post(path+"/plan", question(files)).want(200)); len(p.Missing) != 1 {
			t.Errorf("the plan is %+v", p)
		}
		if p := decoded[wire.PlannedBaseFiles](
			sam.post(path+"/plan", wire.PlanBaseFiles{Tree: files.Digest()}).want(200)); p.Unchanged {
			t.Errorf("asked by its digest alone: %+v", p)
		}
		if p := sam.put(path, uploadOf(files)).problem(409, wire.CodePlanOutdated); len(p.Missing) != 1 {
			t.Errorf("the push: %+v", p)
		}
		sam.get(path).problem(404, wire.CodeNotFound)
		sam.get(path+"/archive").problem(404, wire.CodeNotFound)
	})
}

func TestPutFiles_BrokenPushKeepsNoWrongBlob(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		contents := noisy(4, 10<<10)
		files := treeOf(t, contents)
		sent := all(contents)
		wrong := sha([]byte(sent[1]))
		sent[1] = strings.Repeat("x", len(sent[1]))
		body := uploadOf(files, sent...)
		for cut := 1; cut < len(body.data); cut += len(body.data) / 20 {
			hub.as("alice").cut(body, cut)
			p := decoded[wire.PlannedBaseFiles](hub.as("alice").post(plan, question(files)).want(200))
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
		files := treeOf(t, map[string]string{"a": "alpha", "b": "beta"})
		body := uploadOf(files, "alpha", "atem")
		// That the connection breaks is known here before what is wrong in its last frame.
		hub.as("alice").breakOff(fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nno chunk\r\n", len(body.data),
			body.data))
		p := decoded[wire.PlannedBaseFiles](hub.as("alice").post(plan, question(files)).want(200))
		if !slices.Contains(p.Missing, sha([]byte("beta"))) {
			t.Errorf("missing is %v, want beta", p.Missing)
		}
		if n := hub.count("SELECT count(*) FROM blobs WHERE sha256 = '" + sha([]byte("atem")) + "'"); n != 0 {
			t.Errorf("%d blobs that no list names are stored", n)
		}
	})
}

// noteWaiting makes the database note, in noted, how the transactions that INSERT
// into or UPDATE a table wait for the disk: in full, or not at all.
func (h *testHub) noteWaiting(write, table string) {
	h.Helper()
	if sqldb.Path(h.address) != "" {
		h.sql("CREATE TRIGGER note_" + table + " AFTER " + write + " ON " + table +
			" BEGIN INSERT INTO noted SELECT '" + table + "', synchronous = 2 FROM pragma_synchronous; END")
		return
	}
	h.sql("CREATE FUNCTION note_" + table + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO noted SELECT '" +
		table + "', current_setting('synchronous_commit') = 'on'; RETURN NEW; END $$")
	h.sql("CREATE TRIGGER note AFTER " + write + " ON " + table + " FOR EACH ROW EXECUTE FUNCTION note_" + table + "()")
}

func TestPutFiles_SyncsAllTransactions(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.sql("CREATE TABLE noted (what text, in_full boolean)")
		hub.noteWaiting("INSERT", "blobs")
		hub.noteWaiting("INSERT", "revisions")
		hub.as("alice").push(noisy(80, 100<<10))
		if n := hub.count("SELECT count(*) FROM noted WHERE what = 'revisions' AND in_full"); n != 1 {
			t.Errorf("%d transactions that name a set wait for the disk, want 1", n)
		}
		if n := hub.count("SELECT count(*) FROM noted WHERE what = 'blobs' AND in_full"); n != 80 {
			t.Errorf("%d blobs were stored with a wait for the disk, want 80", n)
		}
	})
}

func TestTokenUse_IsStoredByNoRequest(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.as("alice").get("/v1/whoami").want(200)
		hub.sql("UPDATE tokens SET used_at = 1")
		hub.sql("CREATE TABLE noted (what text, in_full boolean)")
		hub.noteWaiting("UPDATE", "tokens")
		for range 2 {
			hub.as("alice").get("/v1/whoami").want(200)
		}
		if n := hub.count("SELECT count(*) FROM noted"); n != 0 {
			t.Errorf("requests stored %d uses", n)
		}
		for range 2 {
			if err := hub.server.SaveUses(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := hub.count("SELECT count(*) FROM noted"); n != 1 {
			t.Errorf("%d uses were stored, want 1", n)
		}
		if n := hub.count("SELECT count(*) FROM tokens WHERE used_at > 1"); n != 1 {
			t.Errorf("%d tokens are marked as used", n)
		}
	})
}

// resized is a set that claims another size of a file.
func resized(files tree.Tree, path string, size int64) tree.Tree {
	files = slices.Clone(files)
	files[slices.IndexFunc(files, func(e tree.Entry) bool { return e.Path == path })].Size = size
	return files
}

func TestPutFiles_RejectsAnotherSizeOfAStoredBlob(t *testing.T) {
	evil := string(tarOf(t, file{name: "../../evil", content: "x"}))
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		contents := map[string]string{"a": "alpha", "p.bin": evil}
		alice.push(contents)
		refused := func(a *answer) {
			t.Helper()
			if p := a.problem(422, wire.CodeInvalidBody); !strings.Contains(p.Detail, `"p.bin"`) {
				t.Error(p.Detail)
			}
		}
		for _, size := range []int64{0, 3, int64(len(evil)) + 512} {
			refused(alice.put(baseFiles, uploadOf(resized(treeOf(t, contents), "p.bin", size))))
		}
		hub.wantFiles(contents)

		stack := map[string]string{"stack.json": manifest("1.1.0").content, "p.bin": evil}
		files := treeOf(t, stack)
		const versions = site + "/versions/"
		alice.put(versions+"1.1.0", uploadOf(files, all(stack)...)).want(201)
		stack["stack.json"] = manifest("1.2.0").content
		files = resized(treeOf(t, stack), "p.bin", 0)
		refused(alice.put(versions+"1.2.0", uploadOf(files, stack["stack.json"])))
		alice.get(versions+"1.2.0").problem(404, wire.CodeNotFound)
	})
}

func TestGetArchive_RejectsAnotherSizeOfAStoredBlob(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").push(map[string]string{"a": "alpha", "b": "beta"})
		files := resized(treeOf(t, map[string]string{"a": "alpha", "b": "beta"}), "a", 0)
		id := hub.count("SELECT id FROM resources WHERE kind = 'project'")
		before, err := hub.store.View(t.Context()).Newest(int64(id), store.Files)
		if err != nil {
			t.Fatal(err)
		}
		w, err := store.PrepareFiles(before, files.Canonical(), map[string]bool{sha([]byte("alpha")): true},
			store.Author{User: "alice"})
		if err != nil {
			t.Fatal(err)
		}
		err = hub.store.Write(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.WriteFiles(int64(id), w)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		hub.as("rita").get(baseFiles+"/archive").problem(500, wire.CodeDamaged)
		var problems []string
		_, err = hub.store.Check(t.Context(), false, func(p store.Problem) { problems = append(problems, p.Cause.Error()) })
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0], `"a"`) {
			t.Errorf("%q, %v", problems, err)
		}
	})
}
