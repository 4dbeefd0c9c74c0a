package tree

import (
	"fmt"
	"slices"
	"strings"
)

// Base is a snapshot that a delta may start from; the zero value is no base. Files is
// called when the files are needed, and returns nil if they are no longer known.
type Base struct {
	Digest string
	Files  func() Tree
}

// Delta is the difference between two trees, as a hub applies it.
type Delta struct {
	Put    []Entry  // added or changed, in path order
	Remove []string // in path order
}

// DeltaOf returns the delta between two trees.
func DeltaOf(from, to Tree) Delta {
	var d Delta
	compare(from, to, func(before, after *Entry) {
		switch {
		case after == nil:
			d.Remove = append(d.Remove, before.Path)
		case before == nil || *before != *after:
			d.Put = append(d.Put, *after)
		}
	})
	return d
}

// Difference is the difference between two trees, as people read it. Each list is in
// path order.
type Difference struct {
	Added, Changed, Removed []string
}

// Diff returns the difference between two trees. A file is changed if its mode or its
// blob is.
func Diff(from, to Tree) Difference {
	var d Difference
	compare(from, to, func(before, after *Entry) {
		switch {
		case before == nil:
			d.Added = append(d.Added, after.Path)
		case after == nil:
			d.Removed = append(d.Removed, before.Path)
		case *before != *after:
			d.Changed = append(d.Changed, after.Path)
		}
	})
	return d
}

// compare calls visit for each path of two trees, in path order, with nil for the tree
// that does not have it.
func compare(from, to Tree, visit func(before, after *Entry)) {
	for len(from) > 0 || len(to) > 0 {
		switch {
		case len(from) == 0 || len(to) > 0 && to[0].Path < from[0].Path:
			visit(nil, &to[0])
			to = to[1:]
		case len(to) == 0 || from[0].Path < to[0].Path:
			visit(&from[0], nil)
			from = from[1:]
		default:
			visit(&from[0], &to[0])
			from, to = from[1:], to[1:]
		}
	}
}

// Apply returns t changed by d; t itself stays unchanged. The error is a *PathError
// that names an invalid or conflicting entry, or a path to remove that does not exist.
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
		return nil, &PathError{remove[0], "it is removed, but does not exist or is also put"}
	}
	return to, to.checkAdded(added)
}

// checkAdded is [CheckTogether] for a tree in which only the paths of added are new.
func (t Tree) checkAdded(added []string) error {
	if len(added) == 0 {
		return nil
	}
	files := make(map[string]string, len(added)) // by their folded names
	above := map[string]string{}                 // their directories
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

// directories yields the directories above path, the nearest first.
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
		return &PathError{path, "it is listed twice"}
	}
	return &PathError{path, fmt.Sprintf("it differs from %q only in case", other)}
}

func beneath(path, file string) error {
	return &PathError{path, fmt.Sprintf("%q is a file, not a directory", file)}
}
