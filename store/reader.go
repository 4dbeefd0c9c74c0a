package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
)

// Reader reads blobs of an account. It keeps the last pack that it decoded, so
// that blobs are cheap to read in the order in which they are stored.
type Reader struct {
	view    *View
	account string
	last    Pack // with its content as the body
	decoded int64
}

// Decoded returns how many bytes of packs were decoded so far.
func (r *Reader) Decoded() int64 { return r.decoded }

// StoredFile is an entry of a tree with its blob.
type StoredFile struct {
	tree.Entry
	Blob Blob
}

// Locate returns files in the order in which their blobs are stored. Reading
// them in that order decodes each pack once, however many pushes they came with.
func (r *Reader) Locate(ctx context.Context, files tree.Tree) ([]StoredFile, error) {
	return r.locate(ctx, files, func(err error) error { return err })
}

// locate leaves out files whose content is not stored, or has another size, where
// failed returns nil.
func (r *Reader) locate(ctx context.Context, files tree.Tree, failed func(error) error) ([]StoredFile, error) {
	stored := make([]StoredFile, 0, len(files))
	streams := map[string]string{} // one text for each stream instead of one for each row
	for part := range slices.Chunk(files, chunk) {
		digests := make([]string, len(part))
		for i, e := range part {
			digests[i] = e.SHA256
		}
		blobs, err := r.view.blobs(ctx, r.account, digests)
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			c, ok := blobs[e.SHA256]
			var err error
			if c.Account = r.account; !ok {
				err = fmt.Errorf("blob %s of %q: %w", e.SHA256, e.Path, ErrMissing)
			} else if c.Size != e.Size {
				err = &DamagedBlob{Blob: c, Cause: errSize}
			}
			if err != nil {
				if err := failed(err); err != nil {
					return nil, err
				}
				continue
			}
			if _, ok := streams[c.Stream]; !ok {
				streams[c.Stream] = c.Stream
			}
			c.SHA256, c.Stream = e.SHA256, streams[c.Stream]
			stored = append(stored, StoredFile{e, c})
		}
	}
	slices.SortStableFunc(stored, func(a, b StoredFile) int { return byPosition(a.Blob, b.Blob) })
	return stored, nil
}

// byPosition compares blobs by where they are stored.
func byPosition(a, b Blob) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Start, b.Start))
}

// BlobReader returns a reader of account's blobs.
func (v *View) BlobReader(account string) *Reader { return &Reader{view: v, account: account} }

// ErrMissing says that a blob is not stored.
var ErrMissing = errors.New("it is not stored")

// Why a blob is damaged.
var (
	errDigest = errors.New("its SHA-256 is another")
	errSize   = errors.New("its size is another")
	errNoPack = errors.New("the pack that it is in is not stored")
)

// Copy writes a blob to w. It fails before the last byte unless all are right:
// with a *[DamagedBlob] when they are not.
func (r *Reader) Copy(ctx context.Context, w io.Writer, c Blob) error {
	hash := sha256.New()
	for done := int64(0); ; {
		var piece []byte
		var err error
		if done < c.Size {
			if piece, err = r.piece(ctx, &c, done); err != nil {
				return err
			}
		}
		hash.Write(piece)
		if done += int64(len(piece)); done == c.Size && hex.EncodeToString(hash.Sum(nil)) != c.SHA256 {
			return &DamagedBlob{Blob: c, Cause: errDigest}
		}
		if _, err := w.Write(piece); err != nil || done == c.Size {
			return err
		}
	}
}

// Prepare reads the first pack that a blob is in, for the next Copy, so that a caller
// knows of a failure before it sends anything.
func (r *Reader) Prepare(ctx context.Context, c Blob) error {
	if c.Size == 0 {
		return nil
	}
	_, err := r.piece(ctx, &c, 0)
	return err
}

// piece returns what follows the first bytes of c that are done, as far as it is
// in one pack. Where c has moved since it was looked up, it is updated.
func (r *Reader) piece(ctx context.Context, c *Blob, done int64) ([]byte, error) {
	err := r.seek(ctx, c.Stream, c.Start+done)
	if errors.Is(err, errNoPack) {
		err = wrap(r.view.db.NewSelect().Model(c).Where("account = ?", r.account).Where("sha256 = ?", c.SHA256).Scan(ctx))
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("blob %s: %w", c.SHA256, ErrMissing)
		}
		if err == nil {
			err = r.seek(ctx, c.Stream, c.Start+done)
		}
	}
	if errors.Is(err, errNoPack) || errors.Is(err, ErrDamaged) {
		return nil, &DamagedBlob{Blob: *c, Cause: err}
	}
	if err != nil {
		return nil, err
	}
	at := c.Start + done - r.last.Start
	return r.last.Body[at:min(at+c.Size-done, r.last.Length)], nil
}

// seek makes the pack with the byte at in it the last one. The error is errNoPack,
// ErrDamaged, or the database's.
func (r *Reader) seek(ctx context.Context, stream string, at int64) error {
	if p := r.last; p.Stream == stream && p.Start <= at && at < p.Start+p.Length {
		return nil
	}
	p := Pack{Stream: stream}
	var body []byte
	err := r.view.readLarge(ctx, []any{&p.Start, &p.Length, &body, &p.Object, &p.Size}, `SELECT start, length, body, object, size FROM packs
		WHERE account = ? AND stream = ? AND start <= ? AND start > ? ORDER BY start DESC LIMIT 1`,
		r.account, stream, at, at-frame.MaxSize)
	if errors.Is(err, ErrNotFound) || err == nil && p.Start+p.Length <= at {
		return errNoPack
	}
	if err == nil && p.Object != "" {
		body, err = r.view.store.object(ctx, r.account, p.Object, p.Size)
	}
	if err != nil {
		return err
	}
	p.Body, err = frame.Decode(r.last.Body, body)
	r.decoded += int64(len(p.Body))
	if err == nil && int64(len(p.Body)) != p.Length {
		err = errSize
	}
	r.last = p
	if err != nil {
		r.last = Pack{}
		return fmt.Errorf("%w: pack %s at %d: %w", ErrDamaged, stream, p.Start, err)
	}
	return nil
}
