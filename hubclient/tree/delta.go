package tree

import (
	"fmt"
	"slices"
	"strings"
)

// Base is a set that a delta may start from; the zero value is none. Files is called
// where the files are needed, and returns nil when they are not known after all.
type Base struct {
	Digest string
	Files  func() Tree
}

// Delta leads from one set to another.
type Delta struct {
	Put    []Entry  // added or changed, in path order
	Remove []string // in path order
}

// DeltaOf returns what leads from one set to another.
func DeltaOf(from, to Tree) Delta {
	var d Delta
	i := 0
	for _, e := range to {
		for ; i < len(from) && from[i].Path < e.Path; i++ {
			d.Remove = append(d.Remove, from[i].Path)
		}
		if i < len(from) && from[i].Path == e.Path {
			i++
			if from[i-1] == e {
				continue
			}
		}
		d.Put = append(d.Put, e)
	}
	for ; i < len(from); i++ {
		d.Remove = append(d.Remove, from[i].Path)
	}
	return d
}

// Apply returns the set to which d leads from t, which is left as it is. The
// error is a *PathError that names what cannot be put into the set or beside
// another file of it, or is not there to be removed.
func (t Tree) Apply(d Delta) (Tree, error) {
	put := slices.Clone(d.Put)
	slices.SortStableFunc(put, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for i, e := range put {
		if err := e.check(); err != nil {
			return nil, err
		}
		if i > 0 && put[i-1].Path == e.Path {
			return nil, &PathError{e.Path, "it is put twice"}
		}
	}
	remove := slices.Sorted(slices.Values(d.Remove))
	to := make(Tree, 0, len(t)+len(put))
	var added []string
	for _, e := range t {
		for len(put) > 0 && put[0].Path < e.Path {
			to, added, put = append(to, put[0]), append(added, put[0].Path), put[1:]
		}
		switch {
		case len(put) > 0 && put[0].Path == e.Path:
			e, put = put[0], put[1:]
		case len(remove) > 0 && remove[0] == e.Path:
			remove = remove[1:]
			continue
		}
		to = append(to, e)
	}
	for _, e := range put {
		to, added = append(to, e), append(added, e.Path)
	}
	if len(remove) > 0 {
		return nil, &PathError{remove[0], "it is to be removed, and is not there, or is put too"}
	}
	return to, to.checkAdded(added)
}

// checkAdded is [CheckTogether] for a set of which all but added is known to be right.
func (t Tree) checkAdded(added []string) error {
	if len(added) == 0 {
		return nil
	}
	files := make(map[string]string, len(added)) // by their folded names
	above := map[string]string{}                 // directories of them
	for _, path := range added {
		folded := fold(path)
		if other, ok := files[folded]; ok {
			return alike(path, other)
		}
		files[folded] = path
		for dir := range directories(folded) {
			above[dir] = path
		}
	}
	for _, e := range t {
		folded := fold(e.Path)
		if path, ok := files[folded]; ok && path != e.Path {
			return alike(path, e.Path)
		}
		if path, ok := above[folded]; ok {
			return beneath(path, e.Path)
		}
		for dir := range directories(folded) {
			if path, ok := files[dir]; ok {
				return beneath(e.Path, path)
			}
		}
	}
	return nil
}

// directories yields the directories that path lies in, the nearest first.
func directories(path string) func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			if !yield(path[:i]) {
				return
			}
		}
	}
}

func alike(path, other string) error {
	if other == path {
		return &PathError{path, "it stands there twice"}
	}
	return &PathError{path, fmt.Sprintf("it differs from %q in nothing but case", other)}
}

func beneath(path, file string) error {
	return &PathError{path, fmt.Sprintf("%q is a file, so nothing can be below it", file)}
}
