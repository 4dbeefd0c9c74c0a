package basefiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"
	"sync"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// Blobs opens the blobs of a hashed selection. It keeps directories open from one
// file to the next until it is closed.
type Blobs struct {
	selection *Selection

	mu     sync.Mutex // guards opener, and its use
	opener *opener    // nil before the first blob
}

// Blobs returns a Blobs for s; call it after Hash.
func (s *Selection) Blobs() *Blobs { return &Blobs{selection: s} }

// Open opens the blob of e, an entry of the tree that Hash returned. The reader
// returns e.Size bytes whose digest is e.SHA256, or fails before the last of them.
// Several goroutines may call Open.
func (b *Blobs) Open(e tree.Entry) (io.ReadCloser, error) {
	s := b.selection
	byPath := func(f *File, path string) int { return strings.Compare(f.Path, path) }
	i, ok := slices.BinarySearchFunc(s.Files, e.Path, byPath)
	if !ok {
		return nil, failure.New(failure.CodeInvalidFile, "%q is not in the selection", e.Path)
	}
	file := s.Files[i]
	f, is, err := b.open(file.OnDisk)
	if err != nil {
		return nil, s.unreadable(file.OnDisk, err)
	}
	r := &blob{file: f, left: e.Size, digest: e.SHA256, selection: s, selected: file}
	if is.Stamp != file.Stamp || file.Changed == 0 { // the stamp proves nothing, so the digest has to
		r.hash = sha256.New()
	}
	return r, nil
}

func (b *Blobs) open(onDisk string) (f *file, is info, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opener == nil {
		if b.opener, err = b.selection.opener(); err != nil {
			return nil, is, err
		}
	}
	return b.opener.open(onDisk)
}

// Close closes the directories that Open kept open.
func (b *Blobs) Close() {
	if b.opener != nil {
		b.opener.close()
	}
}

// blob reads one file. It returns the last bytes only after it has checked that the
// file is what was hashed: by its stamp before and after, else by its digest.
type blob struct {
	file   *file
	hash   hash.Hash // nil if the stamp is enough
	left   int64     // bytes not read yet
	digest string
	end    error // returned by every further Read

	selection *Selection // names the file in errors
	selected  *File
}

func (b *blob) Read(p []byte) (int, error) {
	if b.left == 0 && b.end == nil { // the file is empty
		b.end = b.check()
	}
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.file.Read(p[:min(int64(len(p)), b.left)])
	if b.hash != nil {
		b.hash.Write(p[:n])
	}
	b.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF):
		b.end = b.selection.changed(b.selected.OnDisk)
	case err != nil:
		b.end = b.selection.unreadable(b.selected.OnDisk, err)
	case b.left == 0:
		b.end = b.check()
	}
	if b.end != nil && !errors.Is(b.end, io.EOF) {
		return 0, b.end
	}
	return n, nil
}

// check returns io.EOF if the bytes read are those that were hashed.
func (b *blob) check() error {
	same := false
	if b.hash == nil {
		is, err := b.file.stat()
		same = err == nil && is.Stamp == b.selected.Stamp
	} else {
		n, _ := b.file.Read(make([]byte, 1))
		same = n == 0 && hex.EncodeToString(b.hash.Sum(nil)) == b.digest
	}
	if !same {
		return b.selection.changed(b.selected.OnDisk)
	}
	return io.EOF
}

func (b *blob) Close() error { return b.file.Close() }
