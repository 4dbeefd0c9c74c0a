package basefiles

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"strings"
	"sync"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// Contents opens the contents of a set that was hashed. It keeps directories
// open from one file to the next, until it is closed.
type Contents struct {
	set *Selection

	mu   sync.Mutex
	idle []*opener
}

// Contents returns what opens the contents of s, once Hash has returned.
func (s *Selection) Contents() *Contents { return &Contents{set: s} }

// Open returns the content of e, an entry of the set that Hash returned. It
// reads e.Size bytes whose digest is e.SHA256, or fails before the last of them.
// Several goroutines may call it at a time.
func (c *Contents) Open(e tree.Entry) (io.ReadCloser, error) {
	s := c.set
	i, ok := slices.BinarySearchFunc(s.Files, e.Path, func(f *File, path string) int { return strings.Compare(f.Path, path) })
	if !ok {
		return nil, failure.New(failure.CodeInvalidFile, "%q is not in the set", e.Path)
	}
	file := s.Files[i]
	o, err := c.take()
	if err != nil {
		return nil, s.unreadable("", err)
	}
	defer c.give(o)
	f, is, err := o.open(file.OnDisk)
	if err != nil {
		return nil, s.unreadable(file.OnDisk, err)
	}
	r := &content{file: f, left: e.Size, digest: e.SHA256, set: s, of: file}
	if is.Stamp != file.Stamp || file.Changed == 0 { // it may be the same all the same
		r.hash = sha256.New()
	}
	return r, nil
}

// take returns an opener that nobody uses.
func (c *Contents) take() (*opener, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := len(c.idle) - 1; last >= 0 {
		o := c.idle[last]
		c.idle = c.idle[:last]
		return o, nil
	}
	root, err := c.set.open()
	if err != nil {
		return nil, err
	}
	return newOpener(root), nil
}

func (c *Contents) give(o *opener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, o)
}

// Close closes what is open, once nobody calls Open any more.
func (c *Contents) Close() {
	for _, o := range c.idle {
		o.close()
	}
	c.idle = nil
}

// content hands out a file's bytes, the last of them only when all are right:
// when the file's stamp is what it was when it was hashed, from the first byte to
// the last, or else the digest is.
type content struct {
	file   *file
	hash   hash.Hash // nil: the stamp tells
	left   int64     // bytes to come
	digest string
	end    error // what every further Read returns

	set *Selection // for its failures
	of  *File
}

func (c *content) Read(p []byte) (int, error) {
	if c.left == 0 && c.end == nil { // an empty file
		c.end = c.verdict()
	}
	if c.end != nil {
		return 0, c.end
	}
	n, err := c.file.Read(p[:min(int64(len(p)), c.left)])
	if c.hash != nil {
		c.hash.Write(p[:n])
	}
	c.left -= int64(n)
	switch {
	case err == io.EOF:
		c.end = c.set.changed(c.of.OnDisk)
	case err != nil:
		c.end = c.set.unreadable(c.of.OnDisk, err)
	case c.left == 0:
		c.end = c.verdict()
	}
	if c.end != nil && c.end != io.EOF {
		return 0, c.end
	}
	return n, nil
}

// verdict is io.EOF when what was read is what was hashed.
func (c *content) verdict() error {
	same := false
	if c.hash == nil {
		is, err := c.file.stat()
		same = err == nil && is.Stamp == c.of.Stamp
	} else {
		n, _ := c.file.Read(make([]byte, 1))
		same = n == 0 && hex.EncodeToString(c.hash.Sum(nil)) == c.digest
	}
	if !same {
		return c.set.changed(c.of.OnDisk)
	}
	return io.EOF
}

func (c *content) Close() error { return c.file.Close() }
