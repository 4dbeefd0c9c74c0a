package tree_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/tree"
)

var digest = strings.Repeat("0123456789abcdef", 4)

func entry(path string) tree.Entry {
	return tree.Entry{Path: path, Mode: tree.Regular, Size: 3, SHA256: digest}
}

// parse reads the canonical form of a tree from a stranger: checked first.
func parse(canonical []byte) (tree.Tree, error) {
	if err := tree.Check(canonical, nil); err != nil {
		return nil, err
	}
	return tree.Read(canonical)
}

func TestTree_IsIndependentOfOrder(t *testing.T) {
	a, err := tree.New([]tree.Entry{entry("b/c"), entry("a"), entry("b-x")})
	if err != nil {
		t.Fatal(err)
	}
	b, err := tree.New([]tree.Entry{entry("b-x"), entry("b/c"), entry("a")})
	if err != nil {
		t.Fatal(err)
	}
	if a.Digest() != b.Digest() || a.Bytes() != 9 {
		t.Errorf("%s and %s, %d bytes", a.Digest(), b.Digest(), a.Bytes())
	}
	want := "0644 3 " + digest + " a\n0644 3 " + digest + " b-x\n0644 3 " + digest + " b/c\n"
	if diff := cmp.Diff(want, string(a.Canonical())); diff != "" {
		t.Error(diff)
	}
	back, err := parse(a.Canonical())
	if err != nil || !slices.Equal(back, a) {
		t.Errorf("Parse = %v, %v", back, err)
	}
}

func TestTree_RejectsInvalidPaths(t *testing.T) {
	for _, path := range []string{
		"", "/abs", "//srv/s", "a//b", "a/", "./a", "a/./b", "..", "../x", "a/../../x", `..\x`, `C:\x`, "a\x00b", "a\nb",
		"a\x7fb", "a\u0085b",
		"a\u202eb", "a\u2066b", "\xff", "e\u0301", strings.Repeat("a", 1025), ".tool", ".tool/web/client.json", ".TOOL/x",
		"a/.tool", "apps/.Tool/x", ".git", ".git/hooks/pre-commit", "a/b/.GIT/config", ".hg/hgrc", "a/.svn/x", "a/.git /x",
		"a/.git./x", "a/.git. ./x",
		"git~1/config", "a/GIT~1", "tool~1/x", ".git:x", "a/.git::$INDEX_ALLOCATION/x", "a/.g\u200cit/config", ".git\ufeff/x",
		"\u206a.TOOL/x", ".\u017fvn/x",
	} {
		var bad *tree.PathError
		if err := tree.CheckPath(path); !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("CheckPath(%q) = %v, want a PathError", path, err)
		}
	}
	for _, path := range []string{"a", "a/b", ".env", "é", "a b", "~", "C:x", ".toolignore", ".gitignore", "a/.github/x",
		".git-x", "git~", "git~12", "x~1", ".tools", "git", "a~", "CON", strings.Repeat("a", 1024), "日本/語.txt", "a:b"} {
		if err := tree.CheckPath(path); err != nil {
			t.Error(err)
		}
	}
}

func TestTree_RejectsConflictingPaths(t *testing.T) {
	for _, pair := range [][2]string{
		{"a", "a"}, {"A", "a"}, {"dir/A", "DIR/a"}, {"straße", "STRASSE"}, {"\u212a", "k"}, {"É", "é"}, {"a", "a/b"},
		{"a/b", "a/b/c/d"}, {"A", "a/b"},
		{"README", "readme"}, {"Makefile", "MAKEFILE"}, {"a.TXT", "a.txt"}, {"x/Y/z", "x/y/Z"}, {"a/B/c", "A/b/C"},
		{".ENV", ".env"}, {"z", "Z/z"}, {"a b", "A B"},
		{"ﬀ", "ff"}, {"ﬁle", "FILE"}, {"ﬆ", "st"}, {"ẞ", "ss"}, {"ß", "SS"}, {"ß", "ẞ"}, {"ŉ", "ʼn"}, {"ǰ", "J\u030c"},
		{"Ω", "ω"}, {"\u2126", "ω"}, {"Å", "å"}, {"\u212b", "å"}, {"µ", "μ"},
		{"Σ", "ς"}, {"σ", "ς"}, {"ſ", "s"}, {"ſ", "S"}, {"Ǆ", "ǆ"}, {"ǅ", "Ǆ"}, {"ϐ", "β"}, {"ϑ", "θ"}, {"ϖ", "π"},
		{"Я", "я"}, {"Ա", "ա"}, {"ა", "Ა"}, {"Ꭰ", "ꭰ"}, {"𐐀", "𐐨"}, {"Ⅷ", "ⅷ"}, {"Ⓐ", "ⓐ"}, {"ＡＢ", "ａｂ"}, {"İ", "i\u0307"},
		{"é", "e\u0301"}, {"Å", "A\u030a"}, {"ñ", "N\u0303"}, {"한", "\u1112\u1161\u11ab"}, {"ệ", "e\u0323\u0302"},
		{"dir/é", "dir/É"},
	} {
		var bad *tree.PathError
		if _, err := tree.New([]tree.Entry{entry(pair[0]), entry(pair[1])}); !errors.As(err, &bad) {
			t.Errorf("%q and %q: %v, want a PathError", pair[0], pair[1], err)
		}
	}
	if _, err := tree.New([]tree.Entry{entry("a"), entry("a.b"), entry("ab/c")}); err != nil {
		t.Error(err)
	}
}

func TestTree_RejectsEachLetterInBothCases(t *testing.T) {
	letters := 0
	for r := range rune(unicode.MaxRune) {
		other := unicode.SimpleFold(r)
		if other == r || tree.CheckPath(string(r)) != nil || tree.CheckPath(string(other)) != nil {
			continue
		}
		letters++
		if _, err := tree.New([]tree.Entry{entry(string(r)), entry(string(other))}); err == nil {
			t.Errorf("%q and %q are in one set", r, other)
		}
	}
	t.Logf("%d letters", letters)
}

func TestTree_RejectsInvalidEntries(t *testing.T) {
	for name, e := range map[string]tree.Entry{
		"mode":   {Path: "a", Mode: "0777", SHA256: digest},
		"size":   {Path: "a", Mode: tree.Regular, Size: -1, SHA256: digest},
		"digest": {Path: "a", Mode: tree.Regular, SHA256: strings.ToUpper(digest)},
	} {
		if _, err := tree.New([]tree.Entry{e}); err == nil {
			t.Errorf("a wrong %s is taken", name)
		}
	}
}

func TestDiff_AddedChangedRemoved(t *testing.T) {
	from, _ := tree.New([]tree.Entry{entry("gone"), entry("mode"), entry("same"), entry("size")})
	mode, size := entry("mode"), entry("size")
	mode.Mode, size.Size = tree.Executable, 4
	to, _ := tree.New([]tree.Entry{entry("same"), mode, size, entry("new")})
	want := tree.Difference{Added: []string{"new"}, Changed: []string{"mode", "size"}, Removed: []string{"gone"}}
	if diff := cmp.Diff(want, tree.Diff(from, to)); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("0644 3 " + digest + " a\n"))
	f.Add([]byte("0755 0 " + digest + " a b\n0644 1 " + digest + " c\n"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := parse(data)
		if err == nil && string(files.Canonical()) != string(data) {
			t.Errorf("Parse(%q) reads back as %q", data, files.Canonical())
		}
	})
}

// What a patch makes is bounded, and only one patch makes a given valid tree.
func FuzzApply(f *testing.F) {
	from, _ := tree.New([]tree.Entry{entry("a"), entry("b/c d"), entry("e")})
	line := "0755 4 " + digest + " "
	f.Add([]byte(line + "a\n- b/c d\n" + line + "f\n"))
	f.Add(from.Canonical())
	f.Add([]byte("- x\n"))
	f.Add([]byte("- \n-\n"))
	f.Fuzz(func(t *testing.T, patch []byte) {
		base := from.Canonical()
		to, err := tree.Apply(base, patch)
		if err != nil || tree.Check(to, base) != nil {
			return
		}
		again, err := tree.Patch(base, to)
		if err != nil || string(again) != string(patch) || len(to) > len(base)+len(patch) {
			t.Errorf("%q makes %q, which %q makes, %v", patch, to, again, err)
		}
	})
}

func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"a/b", "../x", "é", "a\u202eb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if tree.CheckPath(path) != nil {
			return
		}
		for segment := range strings.SplitSeq(path, "/") {
			if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, tree.Unprintable) {
				t.Errorf("%q is taken", path)
			}
			switch name := strings.ToLower(strings.TrimRight(segment, ". ")); name {
			case ".git", ".hg", ".svn", ".tool", "git~1":
				t.Errorf("%q is taken", path)
			}
		}
	})
}
