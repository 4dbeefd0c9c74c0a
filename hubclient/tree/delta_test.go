package tree_test

import (
	"errors"
	"fmt"
	"maps"
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

func TestDelta_LeadsFromOneTreeToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := set(t, "from"), set(t, "to")
		d := tree.DeltaOf(from, to)
		got, err := from.Apply(d)
		if err != nil || !slices.Equal(got, to) {
			t.Errorf("%v by %v is %v, %v", from, d, got, err)
		}
		if diff := tree.Diff(from, to); len(d.Put) != len(diff.Added)+len(diff.Changed) || !slices.Equal(d.Remove, diff.Removed) {
			t.Errorf("%v is longer than %v", d, diff)
		}
	})
}

func TestDelta_ApplyEqualsNewTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := set(t, "from")
		d := tree.Delta{Put: entries(t, "put")}
		all := map[string]tree.Entry{}
		for _, e := range from {
			all[e.Path] = e
		}
		for _, e := range from {
			if rapid.Bool().Draw(t, "remove "+e.Path) {
				d.Remove = append(d.Remove, e.Path)
				delete(all, e.Path)
			}
		}
		twice := false
		for i, e := range d.Put {
			twice = twice || slices.Contains(d.Remove, e.Path) ||
				slices.ContainsFunc(d.Put[:i], func(o tree.Entry) bool { return o.Path == e.Path })
			all[e.Path] = e
		}
		want, wantErr := tree.New(slices.Collect(maps.Values(all)))
		got, err := from.Apply(d)
		if twice {
			wantErr = errors.New("put twice, or put and removed")
		}
		if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%v by %v is %v, %v, want %v, %v", from, d, got, err, want, wantErr)
		}
	})
}

func TestDelta_RejectsMismatchByPath(t *testing.T) {
	from, err := tree.New([]tree.Entry{entry("a"), entry("dir/b")})
	if err != nil {
		t.Fatal(err)
	}
	bad := entry("x")
	bad.Mode = "0777"
	for want, d := range map[string]tree.Delta{
		"../x":  {Put: []tree.Entry{entry("../x")}},
		"x":     {Put: []tree.Entry{bad}},
		"A":     {Put: []tree.Entry{entry("A")}},
		"a/b":   {Put: []tree.Entry{entry("a/b")}},
		"dir/b": {Put: []tree.Entry{entry("dir")}},
		"none":  {Remove: []string{"none"}},
		"a":     {Remove: []string{"a", "a"}},
	} {
		var path *tree.PathError
		if _, err := from.Apply(d); !errors.As(err, &path) || path.Path != want {
			t.Errorf("%+v: %v, want an error about %q", d, err, want)
		}
	}
	if len(from) != 2 || from[0] != entry("a") {
		t.Errorf("the set itself became %v", from)
	}
}

func BenchmarkApply(b *testing.B) {
	var all []tree.Entry
	for i := range 20_000 {
		all = append(all, entry(fmt.Sprintf("src/area%02d/feature%02d/file%d.ts", i%7, i/7%37, i)))
	}
	from, err := tree.New(all)
	if err != nil {
		b.Fatal(err)
	}
	changed := from[100]
	changed.Size++
	for name, d := range map[string]tree.Delta{
		"change": {Put: []tree.Entry{changed}}, "add": {Put: []tree.Entry{entry("src/new")}},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := from.Apply(d); err != nil {
					b.Fatal(err)
				}
			}
		})
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
