// Package tree describes files by path, mode, size and digest: the base files of a
// project, and the files of a stack's bundle.
//
// It reads no file and knows no network. Client and hub both use it, so that a digest
// means the same tree to both.
package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Mode is the part of a file's mode that a tree keeps: whether the file is executable.
type Mode string

// The modes of files.
const (
	Regular    Mode = "0644"
	Executable Mode = "0755"
)

// ModeOf returns the mode of a file with the permission bits perm.
func ModeOf(perm uint32) Mode {
	if perm&0o111 != 0 {
		return Executable
	}
	return Regular
}

// Entry is one file of a tree.
type Entry struct {
	Path   string `json:"path"`
	Mode   Mode   `json:"mode"`
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // of the blob, 64 lower-case hex digits
}

// Tree is a list of files in the byte order of their paths.
type Tree []Entry

// Snapshot is a tree with its digest.
type Snapshot struct {
	Tree   Tree
	Digest string // see [Tree.Digest]
}

// Snapshot returns t with its digest.
func (t Tree) Snapshot() Snapshot { return Snapshot{t, t.Digest()} }

// DigestSize is the length of a digest, in hex digits.
const DigestSize = 2 * sha256.Size

// ValidDigest reports whether s is a SHA-256 as 64 lower-case hex digits.
func ValidDigest(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return len(s) == DigestSize
}

// New sorts entries into a Tree. The error is a *PathError that names the first
// entry that is invalid or conflicts with another.
func New(entries []Entry) (Tree, error) {
	t := Tree(slices.Clone(entries))
	slices.SortFunc(t, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	paths := make([]string, len(t))
	for i, e := range t {
		if err := e.check(); err != nil {
			return nil, err
		}
		paths[i] = e.Path
	}
	if err := CheckTogether(paths); err != nil {
		return nil, err
	}
	return t, nil
}

func (e Entry) check() error {
	switch {
	case e.Mode != Regular && e.Mode != Executable:
		return &PathError{e.Path, fmt.Sprintf("mode %q is neither 0644 nor 0755", e.Mode)}
	case e.Size < 0:
		return &PathError{e.Path, "its size is negative"}
	case !ValidDigest(e.SHA256):
		return &PathError{e.Path, "its sha256 is not 64 lower-case hex digits"}
	}
	return CheckPath(e.Path)
}

// Digest returns the SHA-256 of the canonical form.
func (t Tree) Digest() string { return DigestOf(t.Canonical()) }

// DigestOf returns the digest of the tree with this canonical form.
func DigestOf(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Bytes returns the size of all files together.
func (t Tree) Bytes() int64 {
	var n int64
	for _, e := range t {
		n += e.Size
	}
	return n
}

// Digests returns the digest of each file.
func (t Tree) Digests() []string {
	digests := make([]string, len(t))
	for i, e := range t {
		digests[i] = e.SHA256
	}
	return digests
}

// Parts splits the files into parts of at most so many files and bytes, or of one larger file.
func (t Tree) Parts(files int, bytes int64) iter.Seq[Tree] {
	return func(yield func(Tree) bool) {
		for len(t) > 0 {
			n, size := 1, t[0].Size
			for n < min(len(t), files) && size+t[n].Size <= bytes {
				size += t[n].Size
				n++
			}
			if !yield(t[:n]) {
				return
			}
			t = t[n:]
		}
	}
}

// Canonical returns a line for each file: mode, size, sha256 and path, separated by spaces.
func (t Tree) Canonical() []byte {
	n := 0
	for _, e := range t {
		n += len(e.Path) + 96
	}
	b := make([]byte, 0, n)
	for _, e := range t {
		b = e.appendLine(b)
	}
	return b
}

func (e Entry) appendLine(b []byte) []byte {
	b = append(b, e.Mode...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, e.Size, 10)
	b = append(b, ' ')
	b = append(b, e.SHA256...)
	b = append(b, ' ')
	b = append(b, e.Path...)
	return append(b, '\n')
}

// Read parses the canonical form of a tree that was checked before it was written.
func Read(canonical []byte) (Tree, error) {
	t := make(Tree, 0, bytes.Count(canonical, []byte{'\n'}))
	for line := range strings.Lines(string(canonical)) {
		e, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of a tree %w", len(t)+1, err)
		}
		t = append(t, e)
	}
	return t, nil
}

var errLine = errors.New("is not mode, size, sha256 and path")

func parseLine(line string) (Entry, error) {
	mode, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	size, rest, _ := strings.Cut(rest, " ")
	digest, path, ok := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || !ok || !strings.HasSuffix(line, "\n") {
		return Entry{}, errLine
	}
	return Entry{path, Mode(mode), n, digest}, nil
}

// Difference is the difference between two trees, each list in path order.
type Difference struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// Empty reports whether the two trees are the same.
func (d Difference) Empty() bool { return len(d.Added)+len(d.Changed)+len(d.Removed) == 0 }

// Diff returns the difference between two trees: a file is changed if its mode or blob is.
func Diff(from, to Tree) Difference {
	var d Difference
	for len(from) > 0 || len(to) > 0 {
		switch {
		case len(from) == 0 || len(to) > 0 && to[0].Path < from[0].Path:
			d.Added = append(d.Added, to[0].Path)
			to = to[1:]
		case len(to) == 0 || from[0].Path < to[0].Path:
			d.Removed = append(d.Removed, from[0].Path)
			from = from[1:]
		default:
			if from[0] != to[0] {
				d.Changed = append(d.Changed, to[0].Path)
			}
			from, to = from[1:], to[1:]
		}
	}
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
