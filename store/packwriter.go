package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/ref"
)

// PackWriter stores the blobs of one push in packs while the rest of it arrives. It
// gathers packs and stores them in batches, each in a transaction that does not wait
// for the disk; while one batch is stored, the next one is gathered. No snapshot
// names a blob before Finish, which makes all of them durable.
//
// A caller adds frames, and the blobs in them, or whole blobs, and calls Flush
// between two blobs and Limit within one. It ends with Finish, Complete, Keep or Abort.
// A PackWriter is for one goroutine.
type PackWriter struct {
	// Memory holds the memory of frames that are stored, to be used again.
	Memory frame.Memory

	store   *Store
	account string
	opts    PackOptions
	stream  string
	start   time.Time
	blobs   map[string]bool // digests of those that were added

	gathered batch
	flushed  int64       // bytes of all batches before
	storing  *batchStore // nil: nothing is being stored
	whole    wholeBlobs
}

// PackOptions are what a PackWriter needs of its caller.
type PackOptions struct {
	// Check runs at the beginning of each transaction, which fails with its error.
	Check func(context.Context, *Tx) error
	// Reserve is called with the memory that the writer needs from now on, in bytes.
	Reserve func(bytes int64) error
}

// batch is what is stored in one transaction.
type batch struct {
	packs []Pack
	blobs []Blob
	bytes int64 // of packs
}

// batchStore is a batch that is being stored.
type batchStore struct {
	bytes int64
	done  chan error
}

// A batch is at least minBatch, then a quarter of what was stored before: each batch
// rewrites most pages of the blobs' index, so that a long push gains from larger ones.
const (
	minBatch = 1 << 20
	maxBatch = 2 << 20
)

const (
	// storeMemory is what storing needs besides the packs, which go into the database
	// one by one, and Memory, in bytes.
	storeMemory = 4 << 20
	// memoryFrames is for how many frames Memory has room.
	memoryFrames = 8
)

// NewPackWriter returns a PackWriter for blobs of account.
func (s *Store) NewPackWriter(account string, opts PackOptions) *PackWriter {
	return &PackWriter{
		Memory: make(frame.Memory, memoryFrames), store: s, account: account, opts: opts,
		stream: rand.Text(), start: time.Now(), blobs: map[string]bool{},
	}
}

// AddFrame adds a frame, as it came, that holds the bytes of the stream from start on.
func (w *PackWriter) AddFrame(start, length int64, frame []byte) {
	w.gathered.packs = append(w.gathered.packs, Pack{Stream: w.stream, Start: start, Length: length, Body: frame})
	w.gathered.bytes += int64(len(frame))
}

// AddBytes adds bytes of the stream, at most [frame.MaxSize], as a new frame.
func (w *PackWriter) AddBytes(start int64, plain []byte) {
	w.AddFrame(start, int64(len(plain)), frame.Append(w.Memory.Take()[:0], plain))
}

// AddBlob adds a blob whose bytes were checked and are in the stream. Its last frame
// may be added later, but before the next Flush.
func (w *PackWriter) AddBlob(digest string, start, size int64) {
	w.gathered.blobs = append(w.gathered.blobs, Blob{SHA256: digest, Size: size, Stream: w.stream, Start: start})
	w.blobs[digest] = true
}

// Blobs returns how many blobs were added.
func (w *PackWriter) Blobs() int { return len(w.blobs) }

// Flush starts to store what was added once that is a batch. No blob may be partly
// in what was added.
func (w *PackWriter) Flush(ctx context.Context) error {
	if w.gathered.bytes < min(max(w.flushed/4, minBatch), maxBatch) {
		return w.reserve()
	}
	if err := w.wait(); err != nil {
		return err
	}
	w.flushed += w.gathered.bytes
	b := w.gathered
	w.gathered, w.storing = batch{}, &batchStore{bytes: b.bytes, done: make(chan error, 1)}
	go func(done chan<- error) { done <- w.storeBatch(ctx, b) }(w.storing.done)
	return w.reserve()
}

// storeBatch stores a batch even when the push fails meanwhile, so that the next attempt
// need not send it again.
func (w *PackWriter) storeBatch(ctx context.Context, b batch) error {
	ctx = context.WithoutCancel(ctx)
	uploaded, err := w.store.upload(ctx, w.account, b.packs)
	if err == nil {
		err = w.write(ctx, w.store.WriteUnsynced, batch{packs: uploaded, blobs: b.blobs})
	}
	for _, p := range b.packs {
		w.Memory.Give(p.Body)
	}
	return err
}

// ErrLongBlob says that more was added since the last Flush than a blob needs.
var ErrLongBlob = errors.New("a blob does not end within the limit")

// Limit bounds memory where a blob is partly in what was added: then nothing can be
// flushed. It waits until the batch before is stored, so that no two large blobs are
// in memory, and returns ErrLongBlob when a blob of most bytes would have ended.
func (w *PackWriter) Limit(most int64) error {
	// Before the blob may be almost a batch, and other blobs in its first and last frame.
	if w.gathered.bytes > most+maxBatch+2*frame.MaxSize {
		return ErrLongBlob
	}
	if w.gathered.bytes >= maxBatch {
		if err := w.wait(); err != nil {
			return err
		}
	}
	return w.reserve()
}

// reserve reserves the memory of what is gathered and of what is being stored.
func (w *PackWriter) reserve() error {
	n := w.gathered.bytes + w.whole.bytes
	if w.flushed > 0 {
		n += storeMemory
	}
	if w.storing != nil {
		n += w.storing.bytes
	}
	return w.opts.Reserve(n)
}

// wait ends when the batch before is stored.
func (w *PackWriter) wait() error {
	if w.storing == nil {
		return nil
	}
	err := <-w.storing.done
	w.storing = nil
	return err
}

// Finish stores the rest and makes the snapshot of s that of the project r, in one
// transaction with what after writes, and returns when all of the push is on disk.
// The errors are those of [Tx.SwapSnapshot] and of after. After an *[OutdatedError]
// the blobs are kept, as by Keep.
func (w *PackWriter) Finish(ctx context.Context, r ref.Ref, s Swap, after func(*Tx, *Swapped) error) (done *Swapped, err error) {
	err = w.packWhole(ctx)
	// The caller gives the memory back after an error, which the batch before still uses.
	if err := cmp.Or(err, w.wait()); err != nil {
		return nil, err
	}
	if w.gathered.packs, err = w.store.upload(ctx, w.account, w.gathered.packs); err != nil {
		return nil, err
	}
	s.recent, s.Packs, s.Blobs = w.recent(), w.gathered.packs, w.gathered.blobs
	err = w.transact(ctx, w.store.Write, func(tx *Tx) error {
		if done, err = tx.SwapSnapshot(ctx, r, s); err != nil {
			return err
		}
		return after(tx, done)
	})
	if _, outdated := errors.AsType[*OutdatedError](err); outdated {
		if err := w.Keep(ctx); err != nil {
			return nil, err
		}
	}
	return done, err
}

// Complete stores all blobs that were added, and returns when they are on disk. They are
// leased, and no snapshot names them yet.
func (w *PackWriter) Complete(ctx context.Context) error {
	err := w.packWhole(ctx)
	if err := cmp.Or(err, w.wait()); err != nil {
		return err
	}
	return w.storeRest(ctx)
}

// recent returns the digests of the blobs that were added, unless the first of them
// was added too long ago to be sure of them without a look.
func (w *PackWriter) recent() map[string]bool {
	if time.Since(w.start) > Fresh/2 {
		return nil
	}
	return w.blobs
}

// Keep stores the blobs that were added and are whole, so that the next attempt need
// not send them again.
func (w *PackWriter) Keep(ctx context.Context) error {
	end := int64(0) // of what was added; the last frame that was read may be missing
	if n := len(w.gathered.packs); n > 0 {
		end = w.gathered.packs[n-1].Start + w.gathered.packs[n-1].Length
	}
	w.gathered.blobs = slices.DeleteFunc(w.gathered.blobs, func(c Blob) bool { return c.Start+c.Size > end })
	if err := w.wait(); err != nil || len(w.gathered.blobs) == 0 {
		return err
	}
	return w.storeRest(context.WithoutCancel(ctx))
}

// storeRest stores what was added since the last batch, and waits for the disk.
func (w *PackWriter) storeRest(ctx context.Context) (err error) {
	if w.gathered.packs, err = w.store.upload(ctx, w.account, w.gathered.packs); err != nil {
		return err
	}
	return w.write(ctx, w.store.Write, w.gathered)
}

// Abort drops what is not being stored yet.
func (w *PackWriter) Abort() { _ = w.wait() }

// writing is [Store.Write] or [Store.WriteUnsynced].
type writing func(context.Context, func(*Tx) error) error

// write stores b in a transaction.
func (w *PackWriter) write(ctx context.Context, in writing, b batch) error {
	return w.transact(ctx, in, func(tx *Tx) error {
		return tx.AddBlobs(ctx, w.account, b.packs, b.blobs)
	})
}

// transact runs f in a transaction that passes Check.
func (w *PackWriter) transact(ctx context.Context, in writing, f func(*Tx) error) error {
	return in(ctx, func(tx *Tx) error {
		if err := w.opts.Check(ctx, tx); err != nil {
			return err
		}
		return f(tx)
	})
}
