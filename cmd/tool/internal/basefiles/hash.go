package basefiles

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/hubclient/tree"
)

const (
	attempts = 3         // to read a file that changes while it is read
	batch    = 8         // files that a worker takes at a time; they are near each other in the tree
	piece    = 256 << 10 // bytes read at a time, which limits the memory of a worker
)

// tick is longer than the resolution of file times in kernels. A file that changed
// less than a tick ago could change again without a new time.
const tick = 20 * time.Millisecond

func (s Stamp) young() bool {
	age := time.Since(time.Unix(0, cmp.Or(s.Changed, s.ModTime)))
	return age >= 0 && age < tick
}

// Hash hashes the files and returns their snapshot. It fails if a file contains an
// access token, or keeps changing while it is read. It updates s.Files for files that
// changed since they were selected.
//
// progress, if not nil, is called by one goroutine at a time with the files and bytes
// that are done. The files in the cache are reported in one call.
func (s *Selection) Hash(ctx context.Context, progress func(files int, bytes int64)) (tree.Snapshot, error) {
	h := &hashing{selection: s, ctx: ctx, progress: progress, started: time.Now()}
	h.entries = make(tree.Tree, len(s.Files))
	var known cache
	if s.known != nil {
		known = s.known()
	}
	var bytes int64
	for i, f := range s.Files {
		h.entries[i] = tree.Entry{Path: f.Path, Mode: f.Mode, Size: f.Size, SHA256: known.digest(f)}
		if h.entries[i].SHA256 == "" {
			h.todo = append(h.todo, i)
		} else {
			bytes += f.Size
		}
	}
	h.advance(len(s.Files)-len(h.todo), bytes)
	if digest := known.treeDigest(); digest != "" && len(h.todo) == 0 { // nothing changed
		return tree.Snapshot{Tree: h.entries, Digest: digest}, ctx.Err()
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(h.todo)+batch-1)/batch) {
		workers.Go(h.work)
	}
	workers.Wait()
	if err := cmp.Or(ctx.Err(), h.err); err != nil {
		h.remember("")
		return tree.Snapshot{}, err
	}
	snapshot := h.entries.Snapshot()
	h.remember(snapshot.Digest)
	return snapshot, nil
}

type hashing struct {
	selection *Selection
	ctx       context.Context
	started   time.Time
	entries   tree.Tree // an entry for each file; SHA256 is empty until it is known
	todo      []int     // indices of the files to read
	next      atomic.Int64

	mu       sync.Mutex // guards the fields below
	progress func(files int, bytes int64)
	files    int
	bytes    int64
	failed   int // index of the file that caused err
	err      error
}

func (h *hashing) advance(files int, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files += files
	h.bytes += bytes
	if h.progress != nil {
		h.progress(h.files, h.bytes)
	}
}

// fail keeps the error of the first file that fails, and stops the workers. Batches are
// taken in order, so the error is always the same.
func (h *hashing) fail(i int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil || i < h.failed {
		h.failed, h.err = i, err
	}
	h.next.Store(int64(len(h.todo)))
}

func (h *hashing) work() {
	files, err := h.selection.opener()
	if err != nil {
		h.fail(-1, h.selection.unreadable("", err))
		return
	}
	r := &reader{opener: files, hash: sha256.New(), buf: make([]byte, piece)}
	defer files.close()
	for {
		end := int(h.next.Add(batch))
		for _, i := range h.todo[min(end-batch, len(h.todo)):min(end, len(h.todo))] {
			if h.ctx.Err() != nil {
				return
			}
			if err := h.read(r, i); err != nil {
				h.fail(i, err)
				return
			}
		}
		if end >= len(h.todo) {
			return
		}
	}
}

// reader hashes files, one after the other, and searches them for tokens and other credentials.
type reader struct {
	opener     *opener
	hash       hash.Hash
	buf        []byte
	credential string // the first one of the file
}

func (h *hashing) read(r *reader, i int) error {
	file := h.selection.Files[i]
	for range attempts {
		is, ok, err := h.try(r, file.OnDisk)
		if err != nil {
			return err
		}
		if ok {
			file.Mode, file.Stamp, file.Credential = is.mode, is.Stamp, r.credential
			digest := hex.EncodeToString(r.hash.Sum(nil))
			h.entries[i] = tree.Entry{Path: file.Path, Mode: file.Mode, Size: file.Size, SHA256: digest}
			h.advance(1, 0)
			return nil
		}
	}
	return failure.New(failure.CodeInvalidFile, "%s keeps changing while it is read", h.selection.name(file.OnDisk)).
		WithHint("stop what writes it, or %s", h.selection.remedy)
}

// try hashes a file. It is ok if the file did not change while it was read.
func (h *hashing) try(r *reader, onDisk string) (is info, ok bool, err error) {
	f, is, err := r.opener.open(onDisk)
	if err != nil {
		return is, false, h.selection.unreadable(onDisk, err)
	}
	defer f.Close()
	if is.young() {
		time.Sleep(tick)
		if is, err = f.stat(); err != nil {
			return is, false, h.selection.unreadable(onDisk, err)
		}
	}
	if above(is.Size, h.selection.limits.BaseFileBytes) {
		return is, false, h.selection.tooLarge(onDisk, is.Size)
	}
	reliable := !is.young()
	n, err := h.digest(r, f, onDisk, is.Size)
	if err != nil {
		return is, false, err
	}
	after, err := f.stat()
	ok = err == nil && after == is && n == is.Size && reliable
	if !ok {
		h.advance(0, -n)
	}
	return is, ok, nil
}

// digest reads up to size bytes of f into r.hash. It stops at the first token.
func (h *hashing) digest(r *reader, f *file, onDisk string, size int64) (read int64, err error) {
	r.hash.Reset()
	r.credential = ""
	kept, lines := 0, 0 // bytes of the last piece at the start of buf, and newlines before them
	for read < size {
		n, err := f.Read(r.buf[kept:min(int64(len(r.buf)), int64(kept)+size-read)])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return read, h.selection.unreadable(onDisk, err)
		}
		read += int64(n)
		r.hash.Write(r.buf[kept : kept+n])
		h.advance(0, int64(n))
		b := r.buf[:kept+n]
		if at := pat.Index(b); at >= 0 {
			return read, failure.New(failure.CodeTokenInFile, "%s contains an access token on line %d (%s…)",
				h.selection.name(onDisk), 1+lines+newlines(b[:at]), pat.Shown(string(b[at:at+pat.Length]))).
				WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
		}
		if r.credential == "" {
			if found, ok := secret.Find(b); ok {
				r.credential = fmt.Sprintf("%s on line %d", found.What, 1+lines+newlines(b[:found.At]))
			}
		}
		// The last bytes may be the start of a token, or of another credential.
		done := max(0, len(b)-max(pat.Length, secret.Longest)+1)
		lines += newlines(b[:done])
		kept = copy(r.buf, b[done:])
	}
	return read, nil
}

func newlines(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

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
