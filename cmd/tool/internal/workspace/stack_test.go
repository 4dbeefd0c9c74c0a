package workspace_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
)

const stackJSON = ".tool/web/stack.json"

func TestStack_NameIsAccountAndSlug(t *testing.T) {
	w := newWorkspace(t, map[string]string{stackJSON: `{"name": "@acme/web", "description": "free", "version": 1}`})
	s, err := project(t, w).Stack()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Name(); err != nil || got.String() != "@acme/web" {
		t.Errorf("name %s, %v", got, err)
	}
}

func TestStack_SetNameAddsAnAbsentName(t *testing.T) {
	w := newWorkspace(t, map[string]string{stackJSON: "{\n  \"version\": \"0.1.0\"\n}\n"})
	name, err := ref.New("acme", "web")
	if err != nil {
		t.Fatal(err)
	}
	s, err := project(t, w).Stack()
	if err != nil || s.Named() {
		t.Fatalf("named, or %v", err)
	}
	_, err = s.Name()
	wantFault(t, err, failure.CodeInvalidFile, stackJSON+`: no "name"`)
	for range 2 { // the second one finds a name
		if err := s.SetName(name); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := read(t, w.Dir, stackJSON),
		"{\n  \"version\": \"0.1.0\",\n  \"name\": \"@acme/web\"\n}\n"; got != want {
		t.Errorf("stack.json is %s, want %s", got, want)
	}
}

func TestStack_RejectsUnscopedName(t *testing.T) {
	for text, reason := range map[string]string{
		`{"name": "web"}`:          `:1:10: name: "web" is not of the form @account/slug`,
		`{"name": "@/web"}`:        `:1:10: name: "" is not an account`,
		`{"name": "acme/web"}`:     `:1:10: name: "acme/web" is not of the form @account/slug`,
		`{"name": 1}`:              `:1:10: name is a number: a string was expected`,
		`{"name": "@a/b" // scope`: `:1:17: JSON has no comments`,
		``:                         `:1:1: the file is empty`,
	} {
		_, err := project(t, newWorkspace(t, map[string]string{stackJSON: text})).Stack()
		e := wantFault(t, err, failure.CodeInvalidFile, stackJSON+reason)
		if strings.Contains(reason, "form") && !strings.Contains(e.Hint, "@account/web") {
			t.Errorf("%s: hint %q", text, e.Hint)
		}
	}
	_, err := project(t, newWorkspace(t, map[string]string{clientJSON: "{}"})).Stack()
	if e := wantFault(t, err, failure.CodeInvalidFile, stackJSON+": no such file"); !strings.Contains(e.Hint,
		`"name": "@account/web"`) {
		t.Errorf("hint %q", e.Hint)
	}
}

func TestStack_RequiresVersionToPublish(t *testing.T) {
	for text, reason := range map[string]string{
		`{"name": "@a/b"}`:                       `: no "version"`,
		`{"name": "@a/b", "version": 1}`:         `:1:29: version is a number: a string was expected`,
		`{"name": "@a/b", "version": "v1.0.0"}`:  `:1:29: "v1.0.0" is not a version`,
		`{"name": "@a/b", "version": "1.0"}`:     `:1:29: "1.0" is not a version`,
		`{"name": "@a/b", "version": "1.0.0+a"}`: `:1:29: "1.0.0+a" is not a version`,
	} {
		s, err := project(t, newWorkspace(t, map[string]string{stackJSON: text})).Stack()
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Version()
		if e := wantFault(t, err, failure.CodeInvalidFile, stackJSON+reason); strings.Contains(reason, "not a") &&
			!strings.Contains(e.Hint, "1.4.0-rc.1") {
			t.Errorf("%s: hint %q", text, e.Hint)
		}
	}
	s, err := project(t, newWorkspace(t,
		map[string]string{stackJSON: `{"name": "@a/b", "version": "1.2.0-rc.1"}`})).Stack()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Version(); v != "1.2.0-rc.1" || err != nil {
		t.Errorf("Version = %q, %v", v, err)
	}
}

func TestGenerated_ListsManifestPaths(t *testing.T) {
	for text, want := range map[string][]string{
		`{"files": {"src/b.ts": {"hash": 1}, "./src//a.ts": null, "src/b.ts/": {}}}`: {"src/a.ts", "src/b.ts"},
		`{"files": ["x/../b.ts", "a.ts", "b.ts"], "tool": "1.0"}`:                    {"a.ts", "b.ts"},
		`{"files": {}}`: nil,
		`{"files": []}`: nil,
	} {
		got, err := project(t, newWorkspace(t,
			map[string]string{clientJSON: "{}", ".tool/web/manifest.json": text})).Generated()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, paths (-want +got):\n%s", text, err, diff)
		}
	}
	if got, err := project(t, newWorkspace(t, map[string]string{clientJSON: "{}"})).Generated(); len(got) != 0 ||
		err != nil {
		t.Errorf("without a manifest: %v, %v", got, err)
	}
}

func TestGenerated_RejectsInvalidManifest(t *testing.T) {
	const name = ".tool/web/manifest.json"
	for text, want := range map[string]struct {
		code   wire.Code
		reason string
	}{
		`{}`: {failure.CodeInvalidFile, `: no "files"`},
		`{"files": "a.ts"}`: {failure.CodeInvalidFile,
			":1:11: files is a string: an object or array of paths was expected"},
		`{"files": ["a.ts", {}]}`:   {failure.CodeInvalidFile, ":1:20: a file's path is an object: a string was expected"},
		`{"files": [""]}`:           {failure.CodeInvalidFile, `:1:12: generated file: "" names no file`},
		`{"files": ["src/.."]}`:     {failure.CodeInvalidFile, `:1:12: generated file: "src/.." names no file`},
		`{"files": {"a": 1, "a":2}`: {failure.CodeInvalidFile, `:1:20: "a" is set twice`},
		`{"files": [".."]}`:         {failure.CodeOutsideWorkspace, `:1:12: generated file: ".." leads out of the workspace`},
		`{"files": ["/a"]}`:         {failure.CodeOutsideWorkspace, `:1:12: generated file: "/a" is absolute`},
		`{"files": {"../a": {}}}`: {failure.CodeOutsideWorkspace,
			`:1:12: generated file: "../a" leads out of the workspace`},
		`{"files": ["a\\b"]}`: {failure.CodeInvalidFile, `:1:12: generated file: "a\\b" holds a backslash`},
	} {
		_, err := project(t, newWorkspace(t, map[string]string{clientJSON: "{}", name: text})).Generated()
		wantFault(t, err, want.code, name+want.reason)
	}
}

func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		`{"name": "@a/b", "version": "1.0.0"}`, `{"files": {"a/b": {}, "./c": 1}}`, `{"files": ["../a", "C:/x"]}`,
		`{"files": ["\u0000"]}`,
		`{"project": "@a/b", "revision": "0"}`, `{"name": 1}`, `{"files": [[]]}`,
	} {
		f.Add([]byte(seed))
	}
	w := newWorkspace(f, map[string]string{clientJSON: "{}"})
	p := project(f, w)
	names := []string{stackJSON, ".tool/web/manifest.json", ".tool/web/pulled.json"}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range names {
			write(t, w.Dir, name, string(text))
		}
		stack, err := p.Stack()
		wantReadable(t, err)
		if err == nil {
			v, err := stack.Version()
			wantReadable(t, err)
			if err == nil && !version.Valid(v) {
				t.Errorf("%q gives the version %q", text, v)
			}
		}
		paths, err := p.Generated()
		wantReadable(t, err)
		for _, path := range paths {
			if !filepath.IsLocal(path) || path == "." || strings.ContainsAny(path, "\\\x00") {
				t.Errorf("%q gives the path %q", text, path)
			}
		}
		_, err = p.Bases()
		wantReadable(t, err)
	})
}

// wantReadable fails on any error but that a file is invalid.
func wantReadable(t *testing.T, err error) {
	t.Helper()
	var e failure.Failure
	if err != nil && (!errors.As(err, &e) || e.Code != failure.CodeInvalidFile && e.Code != failure.CodeOutsideWorkspace) {
		t.Errorf("error %v", err)
	}
}
