package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

const hub = "https://hub.example.com"

var (
	first  = strings.Repeat("a1", 32)
	second = strings.Repeat("b2", 32)
)

func project(t *testing.T, s string) ref.Ref {
	t.Helper()
	r, err := ref.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSync_RememberLastPerProjectAndHub(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "revisions")
	web, api := project(t, "@acme/web"), project(t, "@acme/api")
	s := state.Sync(dir)
	if got := s.Last(hub, web); got != "" {
		t.Errorf("%q is known before anything was saved", got)
	}
	s.Save(hub, web, first)
	s.Save(hub, api, first)
	s.Save("https://other.example.com", web, first)
	s.Save(hub, web, second)
	for _, test := range []struct {
		hub  string
		r    ref.Ref
		want string
	}{{hub, web, second}, {hub, api, first}, {"https://other.example.com", web, first},
		{"https://other.example.com", api, ""}} {
		if got := state.Sync(dir).Last(test.hub, test.r); got != test.want {
			t.Errorf("Last(%s, %s) = %q, want %q", test.hub, test.r, got, test.want)
		}
	}
}

func TestSync_IgnoreInvalidRevision(t *testing.T) {
	dir := t.TempDir()
	web := project(t, "@acme/web")
	s := state.Sync(dir)
	for _, damaged := range []string{"", "x", first[:63], first + "\n", strings.ToUpper(first)} {
		s.Save(hub, web, damaged)
		if got := s.Last(hub, web); got != "" {
			t.Errorf("%q is taken for a revision", got)
		}
	}
	s.Save(hub, web, first)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if strings.Contains(files[0], "acme") {
		t.Errorf("the name tells the project: %s", files[0])
	}
}

func TestSync_UnwritableStoreIsNoFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		s := state.Sync(dir)
		s.Save(hub, project(t, "@acme/web"), first)
		if got := s.Last(hub, project(t, "@acme/web")); got != "" {
			t.Errorf("%q comes from nowhere", got)
		}
	}
}

func TestSync_RememberLastFilesPerProject(t *testing.T) {
	dir := t.TempDir()
	s := state.Sync(filepath.Join(dir, "not", "yet", "there"))
	web, err := ref.New("acme", "web")
	if err != nil {
		t.Fatal(err)
	}
	other, err := ref.New("acme", "other")
	if err != nil {
		t.Fatal(err)
	}
	files, err := tree.New([]tree.Entry{{Path: "a", Mode: tree.Regular, Size: 1, SHA256: strings.Repeat("0", 64)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.LastFiles("http://hub", web, tree.Snapshot{}); got.Digest != "" {
		t.Errorf("before any push: %v", got)
	}
	s.SaveFiles("http://hub", web, files.Snapshot())
	s.SaveFiles("http://hub", other, tree.Tree{}.Snapshot())
	for r, want := range map[ref.Ref]tree.Tree{web: files, other: {}} {
		got := s.LastFiles("http://hub", r, tree.Snapshot{})
		if got.Digest != want.Digest() {
			t.Errorf("%s: digest %s, want %s", r, got.Digest, want.Digest())
		}
		if diff := cmp.Diff(want, got.Tree); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r, diff)
		}
	}
	if got := s.LastFiles("http://elsewhere", web, tree.Snapshot{}); got.Digest != "" {
		t.Errorf("of another hub: %v", got)
	}
	saved, err := filepath.Glob(filepath.Join(dir, "not", "yet", "there", "*"))
	if err != nil || len(saved) != 2 {
		t.Fatalf("%q, %v", saved, err)
	}
	whole := files.Digest() + "\n" + string(files.Canonical())
	for what, damaged := range map[string]string{
		"empty":              "",
		"cut in the digest":  whole[:63],
		"cut in the files":   whole[:80],
		"another digest":     strings.Repeat("0", 64) + whole[64:],
		"another size":       strings.Replace(whole, " 1 ", " 2 ", 1),
		"no set in its form": tree.DigestOf([]byte("x\n")) + "\nx\n",
		"another kind":       string(files.Canonical()),
	} {
		for _, name := range saved {
			if err := os.WriteFile(name, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.LastFiles("http://hub", web, tree.Snapshot{}); got.Digest != "" || got.Tree != nil {
			t.Errorf("%s: %v", what, got)
		}
	}
}
