package tree_test

import (
	"fmt"
	"reflect"
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
	for name, read := range map[string]func([]byte) (tree.Tree, error){"read": tree.Read, "parse": tree.Parse} {
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
