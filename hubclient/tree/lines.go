package tree

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
)

// Two trees of 10,000 files often differ in one. What follows compares their canonical
// forms line by line, and parses only the lines that differ.

// Check returns nil if canonical is the canonical form of a tree. The error is a
// *PathError for an invalid tree, and another for a form that is not canonical. known is
// a form that was checked before, or nil: what the two have in common is not checked again.
func Check(canonical, known []byte) error {
	added := false
	err := Changes(known, canonical, func(before, after *Entry) error {
		if after == nil {
			return nil
		}
		added = added || before == nil
		return after.check()
	})
	if err != nil || !added {
		return err
	}
	var paths []string
	err = merge(canonical, nil, func(is, _ line) error {
		paths = append(paths, string(is.path))
		return nil
	})
	if err != nil {
		return err
	}
	return CheckTogether(paths)
}

// Changes calls visit with each file in which two trees differ, given in canonical form,
// in path order, until visit fails; with nil for the tree that does not have it. It fails
// if a line that differs is malformed, or if the lines are not in path order.
func Changes(from, to []byte, visit func(before, after *Entry) error) error {
	return merge(from, to, func(was, is line) error {
		before, err := was.parse()
		if err != nil {
			return err
		}
		after, err := is.parse()
		if err != nil {
			return err
		}
		return visit(before, after)
	})
}

// gone begins a line of a patch about a file that is removed. No mode begins so.
const gone = "- "

// Patch returns the lines of the files that are new or changed in to, and a minus with
// the path of each file that only from has. [Apply] makes to of from and the patch. Both
// are in canonical form.
func Patch(from, to []byte) (patch []byte, err error) {
	err = merge(from, to, func(was, is line) error {
		if is.text == nil {
			patch = append(append(append(patch, gone...), was.path...), '\n')
		} else {
			patch = append(patch, is.text...)
		}
		return nil
	})
	return patch, err
}

// Apply returns the form that [Patch] was given as to. It checks no entries, but fails if a
// line of the patch changes nothing.
func Apply(from, patch []byte) ([]byte, error) {
	to := make([]byte, 0, len(from)+len(patch))
	unused := len(patch)
	err := merge(from, patch, func(was, is line) error {
		unused -= len(is.text)
		if is.text == nil {
			to = append(to, was.text...)
			return nil
		}
		removes := bytes.HasPrefix(is.text, []byte(gone))
		if removes && was.text == nil {
			return fmt.Errorf("a patch removes %q, which does not exist", is.path)
		}
		if !removes {
			to = append(to, is.text...)
		}
		return nil
	})
	if err == nil && unused > 0 {
		err = errors.New("a patch has a line that is in the tree already")
	}
	return to, err
}

// line is a line of a canonical form, or of a patch; the zero value is none.
type line struct{ text, path []byte }

func (l line) parse() (*Entry, error) {
	if l.text == nil {
		return nil, nil
	}
	e, err := parseLine(string(l.text))
	if err == nil && !bytes.Equal(e.appendLine(nil), l.text) {
		err = errLine
	}
	if err != nil {
		return nil, fmt.Errorf("the line of %q %w", l.path, err)
	}
	return &e, nil
}

// merge calls visit with the lines for each path of two trees, in path order, until visit
// fails; with the zero value for the tree that does not have the path. It leaves out the
// lines that are the same in both.
func merge(from, to []byte, visit func(was, is line) error) error {
	a, b := reader{rest: from}, reader{rest: to}
	err := cmp.Or(a.next(), b.next())
	for err == nil && (a.text != nil || b.text != nil) {
		order := bytes.Compare(a.path, b.path)
		switch {
		case a.text == nil:
			order = 1
		case b.text == nil:
			order = -1
		}
		switch {
		case order < 0:
			err = visit(a.line, line{})
		case order > 0:
			err = visit(line{}, b.line)
		case bytes.Equal(a.text, b.text):
			skip(&a, &b)
		default:
			err = visit(a.line, b.line)
		}
		if err == nil && order <= 0 {
			err = a.next()
		}
		if err == nil && order >= 0 {
			err = b.next()
		}
	}
	return err
}

// skip skips lines that are the same in both, several at a time, but for the last ones.
func skip(a, b *reader) {
	const block = 4 << 10
	for len(a.rest) > block && len(b.rest) > block && bytes.Equal(a.rest[:block], b.rest[:block]) {
		last := bytes.LastIndexByte(a.rest[:block], '\n')
		n := bytes.LastIndexByte(a.rest[:max(last, 0)], '\n') + 1 // the last line is read, for its path
		if n == 0 {
			return
		}
		a.rest, b.rest = a.rest[n:], b.rest[n:]
	}
}

type reader struct {
	line
	rest []byte // after the line
}

// next reads a line, the zero value after the last one. The path must be after the last line's.
func (r *reader) next() error {
	before := r.path
	r.line = line{}
	if len(r.rest) == 0 {
		return nil
	}
	end := bytes.IndexByte(r.rest, '\n')
	if end < 0 {
		return errors.New("the last line of a tree does not end")
	}
	r.text, r.path, r.rest = r.rest[:end+1], r.rest[:end], r.rest[end+1:]
	fields := 3 // before the path
	if bytes.HasPrefix(r.text, []byte(gone)) {
		fields = 1
	}
	for range fields {
		r.path = r.path[bytes.IndexByte(r.path, ' ')+1:]
	}
	if before == nil {
		return nil
	}
	switch order := bytes.Compare(before, r.path); {
	case order == 0:
		return alike(string(r.path), string(before))
	case order > 0:
		return fmt.Errorf("a tree's lines are not in path order: %q is after %q", r.path, before)
	}
	return nil
}
