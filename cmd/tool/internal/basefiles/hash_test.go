package basefiles_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

func TestHash_ReturnsTreeOfFiles(t *testing.T) {
	files := map[string]string{"empty": " ", "src/a.ts": "", "src/b/c.ts": "", "z": strings.Repeat("line\n", 200_000)}
	root := plant(t, files)
	must(t, os.WriteFile(root+"/empty", nil, 0o666))
	must(t, os.Chmod(root+"/src/a.ts", 0o755))
	want, err := tree.New([]tree.Entry{
		{Path: "empty", Mode: tree.Regular, SHA256: digest("")},
		{Path: "src/a.ts", Mode: tree.Executable, Size: 8, SHA256: digest("src/a.ts")},
		{Path: "src/b/c.ts", Mode: tree.Regular, Size: 10, SHA256: digest("src/b/c.ts")},
		{Path: "z", Mode: tree.Regular, Size: 1_000_000, SHA256: digest(files["z"])},
	})
	must(t, err)
	if diff := cmp.Diff(want, hash(t, choose(t, at(root)))); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
}

func TestHash_TenThousandFilesInOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("d%02d/e%d/f%d", i%37, i%5, i)] = fmt.Sprint("content ", i)
	}
	s := choose(t, at(plant(t, files)))
	set := hash(t, s)
	if len(set) != len(files) {
		t.Fatalf("%d of %d files", len(set), len(files))
	}
	for _, e := range set {
		if e.SHA256 != digest(files[e.Path]) {
			t.Errorf("%s has another file's digest", e.Path)
		}
	}
	if _, err := tree.New(set); err != nil {
		t.Error(err)
	}
}

func TestHash_ProgressCountsEachFileOnce(t *testing.T) {
	root := plant(t, map[string]string{"a": strings.Repeat("x", 1<<20), "b": "12345"})
	s := choose(t, at(root))
	files, bytes, calls := 0, int64(0), 0
	_, err := s.Hash(ctx, func(f int, b int64) {
		if f < files || b < bytes {
			t.Errorf("progress went back from %d files, %d bytes to %d, %d", files, bytes, f, b)
		}
		files, bytes = f, b
		calls++
	})
	must(t, err)
	if files != 2 || bytes != 1<<20+5 || bytes != s.Bytes || calls < 6 {
		t.Errorf("%d files, %d bytes after %d calls", files, bytes, calls)
	}
}

func TestHash_RejectsTokenByFileAndLine(t *testing.T) {
	token := pat.New()
	typo := token[:len(token)-1] + "!"
	const piece = 256 << 10 // as much as is read at a time
	for what, c := range map[string]struct {
		text string
		line int
	}{
		"alone":            {token, 1},
		"on a line":        {"a\nb = " + token + "\n", 2},
		"after lookalikes": {"hubpat_\n" + typo + "\nhubpat_hubpat_" + token, 3},
		"at the very end":  {strings.Repeat("x\n", piece) + token, piece + 1},
		"in binary":        {"\x00\xff\n" + token + "\x00", 2},
	} {
		t.Run(what, func(t *testing.T) { wantToken(t, c.text, token, c.line) })
	}
	// Wherever the border between two pieces lies in it.
	for cut := range pat.Length + 1 {
		before := strings.Repeat("0123456\n", piece/8)[:piece-cut]
		wantToken(t, before+token+" and more\n", token, 1+strings.Count(before, "\n"))
	}
}

func wantToken(t *testing.T, text, token string, line int) {
	t.Helper()
	root := plant(t, map[string]string{"a.ts": "", "src/config.ts": text, "z.ts": ""})
	_, err := choose(t, at(root)).Hash(ctx, nil)
	e := wantFault(t, err, failure.CodeTokenInFile,
		fmt.Sprintf("src/config.ts contains an access token on line %d (%s…)", line, token[:12]))
	if e.Hint == "" || strings.Contains(e.Hint, token) {
		t.Errorf("hint %q", e.Hint)
	}
}

func TestHash_AllowsTokenLookalikes(t *testing.T) {
	token := pat.New()
	root := plant(t, map[string]string{"a": token[:len(token)-1], "b": token[1:],
		"c": "hubpat_" + strings.Repeat("a", 38), "d": strings.ToUpper(token)})
	hash(t, choose(t, at(root)))
}

func TestHash_ReportsFirstFailureInOrder(t *testing.T) {
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("f%03d", i)] = "fine"
		if i >= 40 {
			files[fmt.Sprintf("f%03d", i)] = pat.New()
		}
	}
	files["f040"] = strings.Repeat("long enough for others to fail before ", 300_000) + pat.New()
	s := choose(t, at(plant(t, files)))
	for range 10 {
		_, err := s.Hash(ctx, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "f040 contains") {
			t.Fatalf("error %v, want f040's", err)
		}
	}
}

func TestHash_RereadsFileChangedWhileReading(t *testing.T) {
	before, after := strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)
	for what, change := range map[string]func(name string){
		"rewritten": func(name string) { write(t, name, after) },
		"replaced by another": func(name string) {
			write(t, name+".tmp", after)
			must(t, os.Rename(name+".tmp", name))
			must(t, os.Truncate(filepath.Dir(name)+"/kept", 10)) // the open file's other name
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(plant(t, map[string]string{"f": before}), "f")
			s := choose(t, at(filepath.Dir(name)))
			must(t, os.Link(name, filepath.Dir(name)+"/kept"))
			changed := false
			set, err := s.Hash(ctx, func(_ int, bytes int64) {
				if bytes > 0 && !changed {
					changed = true
					change(name)
				}
			})
			must(t, err)
			if want := (entryOf("f", after)); set.Tree[0] != want {
				t.Errorf("entry %+v, want %+v", set.Tree[0], want)
			}
		})
	}
}

var races = flag.Int("races", 30, "rounds in which a file is rewritten while it is hashed")

// As soon as the first piece is read, a writer fills the file with another
// letter, in place. No digest may be of a mixture.
func TestHash_RacesNeverYieldMixedDigest(t *testing.T) {
	const size = 1 << 20
	texts, whole := [26][]byte{}, map[string]bool{}
	for i := range texts {
		texts[i] = bytes.Repeat([]byte{'a' + byte(i)}, size)
		whole[digest(string(texts[i]))] = true
	}
	root := plant(t, map[string]string{"f": string(texts[0])})
	f, err := os.OpenFile(root+"/f", os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	s := choose(t, at(root))
	failed := 0
	for i := range *races {
		var writer sync.WaitGroup
		var once sync.Once
		set, err := s.Hash(ctx, func(_ int, bytes int64) {
			if bytes > 0 {
				once.Do(func() { writer.Go(func() { f.WriteAt(texts[i%len(texts)], 0) }) })
			}
		})
		writer.Wait()
		if err != nil {
			failed++
		} else if !whole[set.Tree[0].SHA256] {
			t.Fatal("the digest of a mixture")
		}
	}
	if failed > *races/2 {
		t.Errorf("%d of %d rounds failed, though the file soon came to rest", failed, *races)
	}
}

func TestHash_FailsByNameWhenFileKeepsChanging(t *testing.T) {
	name := filepath.Join(plant(t, map[string]string{"busy.txt": strings.Repeat("a", 1<<20)}), "busy.txt")
	s := choose(t, at(filepath.Dir(name)))
	reads, before := 0, int64(0)
	_, err := s.Hash(ctx, func(_ int, bytes int64) {
		if bytes > 0 && before == 0 {
			reads++
		}
		before = bytes
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		fmt.Fprint(f, "more")
		must(t, f.Close())
	})
	if reads != 3 {
		t.Errorf("%d tries to read it, want 3", reads)
	}
	wantFault(t, err, failure.CodeInvalidFile, "busy.txt keeps changing while it is read")
}

func TestHash_FailsWhenFileGrowsBeyondLimit(t *testing.T) {
	root := plant(t, named("f"))
	s := choose(t, at(root))
	must(t, os.Truncate(root+"/f", basefiles.UsualLimits.BaseFileBytes+1))
	_, err := s.Hash(ctx, nil)
	wantFault(t, err, wire.CodeTooLarge, "f is too large: it is 25.1 MiB, and a file may be at most 25 MiB")
}

func TestHash_FailsByNameWhenFileIsGone(t *testing.T) {
	root := plant(t, named("a", "dir/b"))
	s := choose(t, at(root))
	must(t, os.Remove(root+"/dir/b"))
	_, err := s.Hash(ctx, nil)
	wantFault(t, err, failure.CodeInvalidFile, "read dir/b: no such file or directory")
}
