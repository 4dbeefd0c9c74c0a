package basefiles_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/hubclient/tree"
)

// rehash chooses and hashes anew, and returns which files were read for it:
// what the cache knows is done in one step before the first file is read.
func rehash(t testing.TB, o basefiles.Options) (set tree.Tree, read int) {
	t.Helper()
	s := choose(t, o)
	known := -1
	named, err := s.Hash(ctx, func(files int, _ int64) {
		if known < 0 {
			known = files
		}
	})
	must(t, err)
	if want := named.Tree.Digest(); named.Digest != want {
		t.Errorf("the set's digest is %s, want %s", named.Digest, want)
	}
	return named.Tree, len(s.Files) - known
}

// settled plants files that are old enough to be remembered, hashes them once,
// and returns the options with which they were.
func settled(t testing.TB, files map[string]string) basefiles.Options {
	t.Helper()
	o := at(plant(t, files))
	o.CacheDir = filepath.Join(t.TempDir(), "not", "yet", "there")
	for name := range files {
		age(t, filepath.Join(o.Root, name))
	}
	if _, read := rehash(t, o); read != len(files) {
		t.Fatalf("%d of %d files read without a cache", read, len(files))
	}
	return o
}

func cacheFile(t testing.TB, o basefiles.Options) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "*"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("files in the cache's directory: %q", files)
	}
	return files[0]
}

func TestCache_SkipsUnchangedFiles(t *testing.T) {
	o := settled(t, named("a", "b/c", "cafe\u0301", "d"))
	first := hash(t, choose(t, at(o.Root)))
	set, read := rehash(t, o)
	if diff := cmp.Diff(first, set); diff != "" || read != 0 {
		t.Errorf("%d files read, set (-first +second):\n%s", read, diff)
	}
}

func TestCache_RereadsChangedFiles(t *testing.T) {
	for what, change := range map[string]func(name string){
		"size":                                   func(name string) { write(t, name, "longer than it was"); age(t, name) },
		"time":                                   func(name string) { must(t, os.Chtimes(name, past, past.Add(1))) },
		"content, with the former size and time": func(name string) { write(t, name, "B"); age(t, name) },
		"inode, with the former size and time": func(name string) {
			write(t, name+"2", "B")
			age(t, name+"2")
			must(t, os.Rename(name+"2", name))
		},
	} {
		t.Run(what, func(t *testing.T) {
			o := settled(t, named("a", "b", "c"))
			if choose(t, o).Files[0].Changed == 0 && strings.Contains(what, "former") {
				t.Skip("this platform tells neither inode nor the time of a change")
			}
			name := filepath.Join(o.Root, "b")
			change(name)
			text, err := os.ReadFile(name)
			must(t, err)
			set, read := rehash(t, o)
			if read != 1 || set[1].SHA256 != digest(string(text)) {
				t.Errorf("%d files read, digest %s, want that of %q", read, set[1].SHA256, text)
			}
		})
	}
}

func TestCache_SurvivesAddedAndRemovedFiles(t *testing.T) {
	o := settled(t, named("b", "d", "f"))
	for _, name := range []string{"a", "c", "g"} {
		write(t, filepath.Join(o.Root, name), name)
		age(t, filepath.Join(o.Root, name))
	}
	must(t, os.Remove(filepath.Join(o.Root, "d")))
	if set, read := rehash(t, o); read != 3 || len(set) != 5 {
		t.Errorf("%d of %d files read, want 3 of 5", read, len(set))
	}
	if _, read := rehash(t, o); read != 0 {
		t.Errorf("%d files read the third time", read)
	}
}

// rehash holds the digest that comes with the set against the set itself.
func TestCache_DigestMatchesTreeAfterRandomChanges(t *testing.T) {
	o := settled(t, named("b", "d/e", "f"))
	o.AllowEmpty = true
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		name := filepath.Join(o.Root, []string{"a", "b", "c", "d/e", "f", "g"}[r.IntN(6)])
		_, err := os.Stat(name)
		switch there := err == nil; {
		case there && r.IntN(3) == 0:
			must(t, os.Chmod(name, []os.FileMode{0o644, 0o755}[r.IntN(2)]))
		case there && r.IntN(2) == 0:
			must(t, os.Remove(name))
		default:
			write(t, name, strings.Repeat("x", r.IntN(4)))
			if r.IntN(4) > 0 { // else it is too young to be remembered
				age(t, name)
			}
		}
		set, _ := rehash(t, o)
		if diff := cmp.Diff(hash(t, choose(t, basefiles.Options{Workspace: o.Root, Root: o.Root, AllowEmpty: true})), set,
			cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("set (-without a cache +with it):\n%s", diff)
		}
		if again, read := rehash(t, o); read == 0 && !slices.Equal(again, set) {
			t.Fatalf("%v became %v", set, again)
		}
	}
}

func TestCache_DistrustsFilesAsRecentAsItself(t *testing.T) {
	o := settled(t, named("a", "old"))
	for _, when := range []time.Time{time.Now(), time.Now().Add(time.Hour)} {
		must(t, os.Chtimes(filepath.Join(o.Root, "a"), when, when))
		for range 2 {
			if _, read := rehash(t, o); read != 1 {
				t.Errorf("a file of %v: %d files read, want it alone", when, read)
			}
		}
	}
}

func TestCache_NeverStoresMode(t *testing.T) {
	o := settled(t, named("a"))
	must(t, os.Chmod(filepath.Join(o.Root, "a"), 0o755))
	if set, _ := rehash(t, o); set[0].Mode != tree.Executable {
		t.Errorf("mode %s", set[0].Mode)
	}
}

func TestCache_IsSeparatePerRoot(t *testing.T) {
	o := settled(t, named("a", "sub/a"))
	sub := basefiles.Options{Workspace: o.Workspace, Root: filepath.Join(o.Root, "sub"), CacheDir: o.CacheDir}
	for range 2 {
		for _, o := range []basefiles.Options{o, sub} {
			set, _ := rehash(t, o)
			if last := set[len(set)-1]; last.SHA256 != digest("sub/a") {
				t.Errorf("%s has the wrong digest", last.Path)
			}
		}
	}
	if _, read := rehash(t, sub); read != 0 {
		t.Errorf("%d files read", read)
	}
}

func TestCache_KeepsProgressAfterFailure(t *testing.T) {
	o := at(plant(t, named("a", "b", "z")))
	o.CacheDir = t.TempDir()
	for _, name := range []string{"a", "b", "z"} {
		age(t, filepath.Join(o.Root, name))
	}
	s := choose(t, o)
	must(t, os.Remove(filepath.Join(o.Root, "z")))
	if _, err := s.Hash(ctx, nil); err == nil {
		t.Fatal("a file that went away did not fail")
	}
	write(t, filepath.Join(o.Root, "z"), "new")
	if _, read := rehash(t, o); read != 1 {
		t.Errorf("%d files read, want the one that failed", read)
	}
}

func TestCache_RebuildsWhenDamaged(t *testing.T) {
	damages := map[string]func(b []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"cut":            func(b []byte) []byte { return b[:len(b)/2] },
		"cut at start":   func(b []byte) []byte { return b[:5] },
		"another format": func(b []byte) []byte { return bytes.Replace(b, []byte(" 4\n"), []byte(" 1\n"), 1) },
		"one bit":        func(b []byte) []byte { b[len(b)-3] ^= 1; return b },
		"longer":         func(b []byte) []byte { return append(b, "more"...) },
	}
	for what, damage := range damages {
		t.Run(what, func(t *testing.T) {
			o := settled(t, named("a", "b"))
			file := cacheFile(t, o)
			whole, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, damage(bytes.Clone(whole)), 0o600))
			if _, read := rehash(t, o); read != 2 {
				t.Errorf("%d files read with a damaged cache", read)
			}
			if _, read := rehash(t, o); read != 0 {
				t.Errorf("%d files read with a rebuilt cache", read)
			}
			rebuilt, err := os.ReadFile(cacheFile(t, o))
			must(t, err)
			if !bytes.Equal(whole, rebuilt) {
				t.Error("the rebuilt cache is another")
			}
		})
	}
}

func TestCache_UnwritableIsNoFailure(t *testing.T) {
	o := at(plant(t, named("a")))
	o.CacheDir = filepath.Join(o.Root, "a")
	hash(t, choose(t, o))
	o.CacheDir = filepath.Join(plant(t, named("file")), "file", "below")
	hash(t, choose(t, o))
}

func TestCache_IsPrivateAndHoldsNoContent(t *testing.T) {
	o := settled(t, map[string]string{"a": "a secret content"})
	file := cacheFile(t, o)
	is, err := os.Stat(file)
	must(t, err)
	text, err := os.ReadFile(file)
	must(t, err)
	if is.Mode().Perm() != 0o600 || strings.Contains(string(text), "secret") {
		t.Errorf("mode %v, content %q", is.Mode(), text)
	}
}

func FuzzCache(f *testing.F) {
	o := settled(f, named("a", "b/c"))
	file := cacheFile(f, o)
	whole, err := os.ReadFile(file)
	must(f, err)
	want, _ := rehash(f, o)
	const body = len("tool hashes 4\n") + 9
	f.Add(whole, false)
	f.Add(whole[:body], true)
	f.Add(whole[:body+65], true)
	f.Add(append(bytes.Clone(whole[:body+65]), "a\n b\t\n"...), true)
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if mend && len(b) >= body {
			copy(b, whole[:body-9])
			copy(b[body-9:], fmt.Sprintf("%08x\n", crc32.Checksum(b[body:], crc32.MakeTable(crc32.Castagnoli))))
		}
		must(t, os.WriteFile(file, b, 0o600))
		set, err := choose(t, o).Hash(ctx, nil)
		must(t, err)
		if diff := cmp.Diff(want, set.Tree); diff != "" && !mend {
			t.Errorf("set (-want +got):\n%s", diff)
		}
	})
}
