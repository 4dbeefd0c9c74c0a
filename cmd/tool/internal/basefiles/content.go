package basefiles

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/fault"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Open returns the content of e, an entry of the set that Hash returned. It
// reads e.Size bytes whose digest is e.SHA256, or fails before the last of them.
func (s *Selection) Open(e tree.Entry) (io.ReadCloser, error) {
	i, ok := slices.BinarySearchFunc(s.Files, e.Path, func(f *File, path string) int { return strings.Compare(f.Path, path) })
	if !ok {
		return nil, fault.New(wire.CodeInvalidFile, "%q is not in the set", e.Path)
	}
	onDisk := s.Files[i].OnDisk
	root, err := s.open()
	if err != nil {
		return nil, s.unreadable("", err)
	}
	o := newOpener(root)
	defer o.close()
	f, _, err := o.open(onDisk)
	if err != nil {
		return nil, s.unreadable(onDisk, err)
	}
	return &content{file: f, hash: sha256.New(), left: e.Size, digest: e.SHA256, set: s, onDisk: onDisk}, nil
}

// content hands out a file's bytes, the last of them only when all are right.
type content struct {
	file   *os.File
	hash   hash.Hash
	left   int64 // bytes to come
	digest string
	end    error // what every further Read returns

	set    *Selection // for its failures
	onDisk string
}

func (c *content) Read(p []byte) (int, error) {
	if c.left == 0 && c.end == nil { // an empty file
		c.end = c.verdict()
	}
	if c.end != nil {
		return 0, c.end
	}
	n, err := c.file.Read(p[:min(int64(len(p)), c.left)])
	c.hash.Write(p[:n])
	c.left -= int64(n)
	switch {
	case err == io.EOF:
		c.end = c.set.changed(c.onDisk)
	case err != nil:
		c.end = c.set.unreadable(c.onDisk, err)
	case c.left == 0:
		c.end = c.verdict()
	}
	if c.end != nil && c.end != io.EOF {
		return 0, c.end
	}
	return n, nil
}

// verdict is io.EOF when the file ends here and its digest is right.
func (c *content) verdict() error {
	n, _ := c.file.Read(make([]byte, 1))
	if n > 0 || hex.EncodeToString(c.hash.Sum(nil)) != c.digest {
		return c.set.changed(c.onDisk)
	}
	return io.EOF
}

func (c *content) Close() error { return c.file.Close() }
