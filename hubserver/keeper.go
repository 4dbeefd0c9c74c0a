package hubserver

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
)

// How much of a push is gathered, as it came, before it is stored: at first little,
// so that storing soon begins, then a quarter of what was stored before, because
// each batch writes most pages of the index of contents anew. A push of less than
// the least is stored in one transaction together with its set.
const (
	leastBatch = 1 << 20
	mostBatch  = 2 << 20
)

// batch is what of a push is stored at once.
type batch struct {
	packs    []store.Pack
	contents []store.Content
	bytes    int64 // of packs
}

// keeper stores the contents that a push brings: packs of a stream, and where the
// contents lie in it. While one batch is stored the next one is read. Nothing shows
// a content until a set names it.
type keeper struct {
	c       *call
	stream  string
	start   time.Time
	brought map[string]bool // digests of contents

	batch                // that is gathered
	handed  int64        // bytes of those before
	stored  int64        // bytes of the batch that is being stored
	storing chan error   // of the batch before; nil: none
	memory  frame.Memory // of packs that are stored
}

func newKeeper(c *call) *keeper {
	return &keeper{c: c, stream: rand.Text(), start: time.Now(), brought: map[string]bool{}, memory: make(frame.Memory, keptPacks)}
}

// keptPacks is of how many packs a push keeps memory that it does not need now.
const keptPacks = 8

// pack adds a piece of the stream.
func (k *keeper) pack(start, length int64, body []byte) {
	k.packs = append(k.packs, store.Pack{Stream: k.stream, Start: start, Length: length, Body: body})
	k.bytes += int64(len(body))
}

// content adds a content that is right and whole. The packs in which it lies have
// to be added before the next call of settle.
func (k *keeper) content(digest string, start, size int64) {
	k.contents = append(k.contents, store.Content{SHA256: digest, Size: size, Stream: k.stream, Start: start})
	k.brought[digest] = true
}

// settle is called where no content lies partly in what was added. It starts to
// store that once there is enough of it.
func (k *keeper) settle() error {
	if k.bytes < min(max(k.handed/4, leastBatch), mostBatch) {
		return k.account()
	}
	if err := k.wait(); err != nil {
		return err
	}
	k.handed += k.bytes
	k.storing = make(chan error, 1)
	go k.store(k.batch, k.storing)
	k.stored, k.batch = k.bytes, batch{}
	return k.account()
}

// storeMemory is what storing takes besides the packs, which go into the database
// one by one, and what is kept of earlier ones, in bytes.
const storeMemory = 4 << 20

// account reserves the memory of what is gathered and of what is being stored.
func (k *keeper) account() error {
	n := k.bytes
	if k.handed > 0 {
		n += storeMemory
	}
	if k.storing != nil {
		n += k.stored
	}
	return k.c.takePart(packPart, n)
}

// goOn is called where a content lies partly in what was added. So that not two large
// ones take memory at a time, what is gathered grows beyond the largest batch only
// when nothing is being stored.
func (k *keeper) goOn() error {
	if k.bytes >= mostBatch {
		if err := k.wait(); err != nil {
			return err
		}
	}
	return k.account()
}

// store stores what has come even if no more does. The transaction that names it in
// a set waits for the disk.
func (k *keeper) store(b batch, stored chan<- error) {
	err := k.write(context.WithoutCancel(k.c.ctx()), k.c.transactUnsynced, b)
	for _, p := range b.packs {
		k.memory.Give(p.Body)
	}
	stored <- err
}

// justBrought returns the contents that came, unless the first of them did so too
// long ago to be sure of them without a look.
func (k *keeper) justBrought() map[string]bool {
	if time.Since(k.start) > store.Fresh/2 {
		return nil
	}
	return k.brought
}

// wait ends when the batch before is stored.
func (k *keeper) wait() error {
	if k.storing == nil {
		return nil
	}
	err := <-k.storing
	k.storing = nil
	return err
}

// committing is a way of the store to run a transaction.
type committing func(context.Context, func(*store.Tx) error) error

// write stores b in a transaction.
func (k *keeper) write(ctx context.Context, commit committing, b batch) error {
	return commit(ctx, func(tx *store.Tx) error {
		return tx.AddContents(ctx, k.c.ref().Account(), b.packs, b.contents)
	})
}

// finish runs f, which stores what is left, in a transaction. When f fails, what was
// left is still there to be kept.
func (k *keeper) finish(ctx context.Context, f func(*store.Tx, batch) error) error {
	if err := k.wait(); err != nil {
		return err
	}
	err := k.c.transact(ctx, func(tx *store.Tx) error { return f(tx, k.batch) })
	if err == nil {
		k.batch = batch{}
	}
	return err
}

// keep stores what is left without a set that names it, so that the next attempt
// need not bring it again, however this one ended.
func (k *keeper) keep() error {
	end := int64(0) // of what was added; the frame that was read last may not be
	if n := len(k.packs); n > 0 {
		end = k.packs[n-1].Start + k.packs[n-1].Length
	}
	k.contents = slices.DeleteFunc(k.contents, func(c store.Content) bool { return c.Start+c.Size > end })
	if err := k.wait(); err != nil || len(k.contents) == 0 {
		return err
	}
	return k.write(context.WithoutCancel(k.c.ctx()), k.c.transact, k.batch)
}

// drop forgets what is not stored yet.
func (k *keeper) drop() { _ = k.wait() }

// packer cuts whole contents into packs, those that the account does not have.
type packer struct {
	*keeper
	end      int64 // of the stream
	waiting  map[string][]byte
	digests  []string // of waiting, in the order in which they came
	together int64    // bytes of waiting
}

// add takes a content, and keeps it.
func (p *packer) add(e tree.Entry, content []byte) error {
	if p.waiting == nil {
		p.waiting = map[string][]byte{}
	}
	if _, ok := p.waiting[e.SHA256]; ok || p.brought[e.SHA256] {
		return nil
	}
	p.waiting[e.SHA256] = content
	p.digests = append(p.digests, e.SHA256)
	if p.together += e.Size; p.together < frame.Size {
		return nil
	}
	return p.flush()
}

func (p *packer) flush() error {
	missing, err := p.missing()
	if err != nil {
		return err
	}
	piece := make([]byte, 0, min(p.together, frame.Size))
	for _, digest := range p.digests {
		content := p.waiting[digest]
		if !missing[digest] {
			continue
		}
		p.content(digest, p.end+int64(len(piece)), int64(len(content)))
		for len(content) > 0 {
			n := min(len(content), frame.Size-len(piece))
			if piece, content = append(piece, content[:n]...), content[n:]; len(piece) == frame.Size {
				if err := p.cut(piece); err != nil {
					return err
				}
				piece = piece[:0]
			}
		}
	}
	if len(piece) > 0 {
		if err := p.cut(piece); err != nil {
			return err
		}
	}
	p.waiting, p.digests, p.together = nil, nil, 0
	return p.settle()
}

// cut makes a pack of a piece of the stream.
func (p *packer) cut(piece []byte) error {
	p.pack(p.end, int64(len(piece)), frame.Append(p.memory.Take()[:0], piece))
	p.end += int64(len(piece))
	return p.goOn()
}

// missing returns which of the waiting contents the account lacks.
func (p *packer) missing() (map[string]bool, error) {
	if len(p.digests) == 0 {
		return nil, nil
	}
	sizes := make(map[string]int64, len(p.digests))
	for digest, content := range p.waiting {
		sizes[digest] = int64(len(content))
	}
	var digests []string
	err := p.c.transact(p.c.ctx(), func(tx *store.Tx) (err error) {
		digests, err = tx.Hold(p.c.ctx(), p.c.ref().Account(), sizes)
		return err
	})
	lacks := make(map[string]bool, len(digests))
	for _, digest := range digests {
		lacks[digest] = true
	}
	return lacks, err
}
