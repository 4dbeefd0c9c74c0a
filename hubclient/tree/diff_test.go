package tree_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/projecthub/hubclient/tree"
)

// entries draws entries of few paths, so that sets meet, and clash.
func entries(t *rapid.T, name string) []tree.Entry {
	part := rapid.SampledFrom([]string{"a", "A", "b", "é", "c.d"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tree.Entry {
		e := entry(strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "path"), "/"))
		e.Size = rapid.Int64Range(0, 2).Draw(t, "size")
		return e
	}), 0, 6).Draw(t, name)
}

func set(t *rapid.T, name string) tree.Tree {
	return rapid.Custom(func(t *rapid.T) tree.Tree {
		files, err := tree.New(entries(t, name))
		if err != nil {
			t.Skip(err)
		}
		return files
	}).Draw(t, name)
}

func TestDiff_NamesWhatDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := set(t, "from"), set(t, "to")
		was, is := map[string]tree.Entry{}, map[string]tree.Entry{}
		for _, e := range from {
			was[e.Path] = e
		}
		var want tree.Difference
		for _, e := range to {
			is[e.Path] = e
			if before, ok := was[e.Path]; !ok {
				want.Added = append(want.Added, e.Path)
			} else if before != e {
				want.Changed = append(want.Changed, e.Path)
			}
		}
		for _, e := range from {
			if _, ok := is[e.Path]; !ok {
				want.Removed = append(want.Removed, e.Path)
			}
		}
		if got := tree.Diff(from, to); !reflect.DeepEqual(got, want) {
			t.Errorf("from %v to %v is %v, want %v", from, to, got, want)
		}
	})
}

// manyEntries are two trees of so many files that whole blocks of lines are the same.
func manyEntries(t *rapid.T) (from, to tree.Tree) {
	for i := range rapid.IntRange(0, 300).Draw(t, "files") {
		from = append(from, entry(fmt.Sprintf("dir%d/%04d", i/100, i)))
	}
	to = slices.Clone(from)
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		i := rapid.IntRange(0, len(to)).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "change") {
		case 0:
			to = append(to, entry(fmt.Sprintf("dir%d/%04d+", i/100, i)))
		case 1:
			to = slices.Delete(to, i, min(i+1, len(to)))
		case 2:
			if i < len(to) {
				to[i].Size++
			}
		}
	}
	to, err := tree.New(slices.CompactFunc(sorted(to), func(a, b tree.Entry) bool { return a.Path == b.Path }))
	if err != nil {
		t.Fatal(err)
	}
	return from, to
}

func sorted(files tree.Tree) tree.Tree {
	slices.SortFunc(files, func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) })
	return files
}

func TestPatch_MakesTheOtherTree(t *testing.T) {
	for _, many := range []bool{false, true} {
		rapid.Check(t, func(t *rapid.T) {
			var from, to tree.Tree
			if many {
				from, to = manyEntries(t)
			} else {
				from, to = set(t, "from"), set(t, "to")
			}
			a, b := from.Canonical(), to.Canonical()
			if err := tree.Check(b, a); err != nil {
				t.Fatal(err)
			}
			patch, err := tree.Patch(a, b)
			if err != nil {
				t.Fatal(err)
			}
			made, err := tree.Apply(a, patch)
			if err != nil || string(made) != string(b) {
				t.Errorf("%q makes %q, want %q, %v", patch, made, b, err)
			}
			var got tree.Difference
			err = tree.Changes(a, b, func(before, after *tree.Entry) error {
				switch {
				case before == nil:
					got.Added = append(got.Added, after.Path)
				case after == nil:
					got.Removed = append(got.Removed, before.Path)
				default:
					got.Changed = append(got.Changed, after.Path)
				}
				return nil
			})
			if want := tree.Diff(from, to); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, want %v, %v", got, want, err)
			}
		})
	}
}

// What Check has seen before saves no check of anything else.
func TestCheck_FindsWhatParseFinds(t *testing.T) {
	var long []tree.Entry
	for i := range 200 {
		long = append(long, entry(fmt.Sprintf("m/%04d", i)))
	}
	known := tree.Tree(long).Canonical()
	line := func(path string) string { return "0644 3 " + digest + " " + path + "\n" }
	last := line("m/0199")
	for name, list := range map[string]string{
		"a path that leads out": line("../x") + string(known),
		"a file and directory":  line("m") + string(known),
		"only the case differs": line("M/0001") + string(known),
		"a path twice":          string(known) + last,
		"a path before another": string(known) + line("m/0100a"),
		"a path after itself":   strings.Replace(string(known), last, line("m/0150")+last, 1),
		"no mode":               strings.Replace(string(known), "0644 3 "+digest+" m/0150", "0600 3 "+digest+" m/0150", 1),
		"a size with a plus":    strings.Replace(string(known), "0644 3 "+digest+" m/0150", "0644 +3 "+digest+" m/0150", 1),
		"a size with a zero":    strings.Replace(string(known), "0644 3 "+digest+" m/0150", "0644 03 "+digest+" m/0150", 1),
		"no digest":             strings.Replace(string(known), digest+" m/0150", digest[1:]+" m/0150", 1),
		"a removal":             strings.Replace(string(known), "0644 3 "+digest+" m/0150", "- m/0150", 1),
		"no last newline":       strings.TrimSuffix(string(known), "\n"),
		"no path":               "0644 3 " + digest + " \n" + string(known),
		"an empty line":         "\n" + string(known),
		"one word":              string(known) + "x\n",
	} {
		if list == string(known) {
			t.Fatal(name)
		}
		if err := tree.Check([]byte(list), known); err == nil {
			t.Errorf("%s passes", name)
		}
		if _, err := parse([]byte(list)); err == nil {
			t.Errorf("%s passes without a known list", name)
		}
	}
}

func BenchmarkTree(b *testing.B) {
	var all []tree.Entry
	for i := range 20_000 {
		all = append(all, entry(fmt.Sprintf("src/area%02d/feature%02d/file%d.ts", i%7, i/7%37, i)))
	}
	from, err := tree.New(all)
	if err != nil {
		b.Fatal(err)
	}
	canonical := from.Canonical()
	for name, read := range map[string]func([]byte) (tree.Tree, error){"read": tree.Read, "parse": parse} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := read(canonical); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("digest", func(b *testing.B) {
		for range b.N {
			from.Digest()
		}
	})
}
