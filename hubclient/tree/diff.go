package tree

// Base is a snapshot that the other side may have; the zero value is no base. Files is
// called when the files are needed, and returns nil if they are no longer known.
type Base struct {
	Digest string
	Files  func() Tree
}

// Difference is the difference between two trees, as people read it. Each list is in
// path order.
type Difference struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// Empty reports whether the two trees are the same.
func (d Difference) Empty() bool { return len(d.Added)+len(d.Changed)+len(d.Removed) == 0 }

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

// NotIn returns the indexes of the entries that base does not have as they are.
func (t Tree) NotIn(base Tree) (indexes []int) {
	for i, e := range t {
		for len(base) > 0 && base[0].Path < e.Path {
			base = base[1:]
		}
		if len(base) == 0 || base[0] != e {
			indexes = append(indexes, i)
		}
	}
	return indexes
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
