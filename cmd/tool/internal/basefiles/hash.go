package basefiles

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/tree"
)

const (
	attempts = 3         // to read a file that changes meanwhile
	batch    = 8         // files that a core takes at a time, near each other in the tree
	piece    = 256 << 10 // bytes read at a time, which bounds the memory of a core
)

// tick is longer than the steps in which kernels count the time of a change. A
// file that changed within it could change once more without its time telling.
const tick = 20 * time.Millisecond

func (s Stamp) young() bool {
	age := time.Since(time.Unix(0, cmp.Or(s.Changed, s.ModTime)))
	return age >= 0 && age < tick
}

// Hash reads the files and returns them as a set. A file that holds an access
// token fails, with the line; so does one that keeps changing while it is read.
// What changed since it was chosen is brought up to date in s.Files.
//
// progress, if not nil, is told by one goroutine at a time how many files and
// bytes are done so far. What the cache knows is done in one step.
func (s *Selection) Hash(ctx context.Context, progress func(files int, bytes int64)) (tree.Snapshot, error) {
	h := &hashing{set: s, ctx: ctx, progress: progress, started: time.Now()}
	h.recall()
	if h.digest != "" { // nothing to read, nothing to remember
		return tree.Snapshot{Tree: h.entries, Digest: h.digest}, ctx.Err()
	}
	err := h.run()
	if err == nil {
		h.digest = h.entries.Digest()
	}
	h.remember()
	if err != nil {
		return tree.Snapshot{}, err
	}
	return tree.Snapshot{Tree: h.entries, Digest: h.digest}, nil
}

// hashing is one run over the files of a selection.
type hashing struct {
	set     *Selection
	ctx     context.Context
	started time.Time
	entries tree.Tree // one for each file; without a digest until it is done
	digest  string    // of entries, once it is known
	todo    []int     // indices of the files to read
	next    atomic.Int64

	mu       sync.Mutex // guards what follows
	progress func(files int, bytes int64)
	files    int
	bytes    int64
	failed   int // index of the file that err is about
	err      error
}

// recall takes from the cache what it knows and lists the rest.
func (h *hashing) recall() {
	files := h.set.Files
	h.entries = make(tree.Tree, len(files))
	var known cache
	if h.set.known != nil {
		known = h.set.known()
	}
	var bytes int64
	for i, f := range files {
		h.entries[i] = tree.Entry{Path: f.Path, Mode: f.Mode, Size: f.Size, SHA256: known.digest(f)}
		if h.entries[i].SHA256 == "" {
			h.todo = append(h.todo, i)
		} else {
			bytes += f.Size
		}
	}
	if len(h.todo) == 0 {
		h.digest = known.whole()
	}
	h.advance(len(files)-len(h.todo), bytes)
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

func (h *hashing) run() error {
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(h.todo)+batch-1)/batch) {
		workers.Go(h.work)
	}
	workers.Wait()
	if err := h.ctx.Err(); err != nil {
		return err
	}
	return h.err
}

// fail keeps the failure of the first file. Batches are taken in order, so that
// it is always the same one.
func (h *hashing) fail(i int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil || i < h.failed {
		h.failed, h.err = i, err
	}
	h.next.Store(int64(len(h.todo)))
}

func (h *hashing) work() {
	root, err := h.set.open()
	if err != nil {
		h.fail(-1, h.set.unreadable("", err))
		return
	}
	r := &reader{opener: newOpener(root), hash: sha256.New(), buf: make([]byte, piece)}
	defer r.close()
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

// read fills in entry i.
func (h *hashing) read(r *reader, i int) error {
	file := h.set.Files[i]
	for range attempts {
		is, ok, err := h.try(r, file.OnDisk)
		if err != nil {
			return err
		}
		if ok {
			file.Mode, file.Stamp = is.mode, is.Stamp
			h.entries[i] = tree.Entry{Path: file.Path, Mode: file.Mode, Size: file.Size, SHA256: hex.EncodeToString(r.hash.Sum(nil))}
			h.advance(1, 0)
			return nil
		}
	}
	return h.set.changedWhileReading(file.OnDisk)
}

// try hashes a file, and is ok when it did not change meanwhile.
func (h *hashing) try(r *reader, onDisk string) (is info, ok bool, err error) {
	f, is, err := r.open(onDisk)
	if err != nil {
		return info{}, false, h.set.unreadable(onDisk, err)
	}
	defer f.Close()
	if is.young() {
		time.Sleep(tick)
		if is, err = f.stat(); err != nil {
			return info{}, false, h.set.unreadable(onDisk, err)
		}
	}
	if is.Size > MaxFileSize {
		return info{}, false, h.set.tooLarge(onDisk, is.Size)
	}
	telling := !is.young()
	n, found, err := r.digest(f, is.Size, func(n int) { h.advance(0, int64(n)) })
	if err != nil {
		return info{}, false, h.set.unreadable(onDisk, err)
	}
	if found != nil {
		return info{}, false, h.set.tokenIn(onDisk, found.line, found.text)
	}
	after, err := f.stat()
	ok = err == nil && after == is && n == is.Size && telling
	if !ok {
		h.advance(0, -n)
	}
	return is, ok, nil
}

// reader hashes one file after the other and looks for tokens in them.
type reader struct {
	*opener
	hash hash.Hash
	buf  []byte
}

type token struct {
	line int // from 1
	text string
}

// digest reads up to size bytes of f into r.hash, calling advance for each
// piece. It stops at the first token.
func (r *reader) digest(f *file, size int64, advance func(n int)) (read int64, found *token, err error) {
	r.hash.Reset()
	kept, lines := 0, 0 // bytes at the start of buf from the piece before, and newlines before them
	for read < size {
		n, err := f.Read(r.buf[kept:min(int64(len(r.buf)), int64(kept)+size-read)])
		if err == io.EOF {
			break
		}
		if err != nil {
			return read, nil, err
		}
		read += int64(n)
		r.hash.Write(r.buf[kept : kept+n])
		advance(n)
		b := r.buf[:kept+n]
		if at := pat.Index(b); at >= 0 {
			return read, &token{1 + lines + newlines(b[:at]), string(b[at : at+pat.Length])}, nil
		}
		// A token may have begun in what is too short to be one.
		done := max(0, len(b)-pat.Length+1)
		lines += newlines(b[:done])
		kept = copy(r.buf, b[done:])
	}
	return read, nil, nil
}

func newlines(b []byte) int { return bytes.Count(b, []byte{'\n'}) }
