package store

import (
	"context"

	"example.com/projecthub/hubclient/frame"
)

// wholeBlobs are blobs that were added whole and are not in packs yet.
type wholeBlobs struct {
	content map[string][]byte
	digests []string // in the order in which they came
	bytes   int64
	end     int64 // of the stream
}

// Add adds a whole blob, which the writer keeps. It packs the blobs that the account
// lacks, and flushes, once they fill a frame.
func (w *PackWriter) Add(ctx context.Context, digest string, content []byte) error {
	if _, ok := w.whole.content[digest]; ok || w.blobs[digest] {
		return nil
	}
	if w.whole.content == nil {
		w.whole.content = map[string][]byte{}
	}
	w.whole.content[digest] = content
	w.whole.digests = append(w.whole.digests, digest)
	w.whole.bytes += int64(len(content))
	if w.whole.bytes < frame.Size {
		return w.reserve()
	}
	if err := w.packWhole(ctx); err != nil {
		return err
	}
	return w.Flush(ctx)
}

// packWhole cuts the whole blobs that the account lacks into packs.
func (w *PackWriter) packWhole(ctx context.Context) error {
	missing, err := w.leaseWhole(ctx)
	if err != nil {
		return err
	}
	piece := make([]byte, 0, min(w.whole.bytes, frame.Size))
	for _, digest := range w.whole.digests {
		if !missing[digest] {
			continue
		}
		content := w.whole.content[digest]
		w.AddBlob(digest, w.whole.end+int64(len(piece)), int64(len(content)))
		if piece, err = w.cut(piece, content); err != nil {
			return err
		}
	}
	if len(piece) > 0 {
		if err := w.addPiece(piece); err != nil {
			return err
		}
	}
	w.whole = wholeBlobs{end: w.whole.end}
	return nil
}

// cut adds content to piece, which becomes a pack each time that it is full.
func (w *PackWriter) cut(piece, content []byte) ([]byte, error) {
	for len(content) > 0 {
		n := min(len(content), frame.Size-len(piece))
		piece, content = append(piece, content[:n]...), content[n:]
		if len(piece) < frame.Size {
			break
		}
		if err := w.addPiece(piece); err != nil {
			return nil, err
		}
		piece = piece[:0]
	}
	return piece, nil
}

func (w *PackWriter) addPiece(piece []byte) error {
	w.AddBytes(w.whole.end, piece)
	w.whole.end += int64(len(piece))
	return w.Limit(w.whole.bytes)
}

// leaseWhole leases the whole blobs, and returns which of them the account lacks.
func (w *PackWriter) leaseWhole(ctx context.Context) (missing map[string]bool, err error) {
	if len(w.whole.digests) == 0 {
		return nil, nil
	}
	sizes := make(map[string]int64, len(w.whole.digests))
	for digest, content := range w.whole.content {
		sizes[digest] = int64(len(content))
	}
	var digests []string
	err = w.transact(ctx, w.store.Write, func(tx *Tx) (err error) {
		digests, err = tx.Lease(ctx, w.account, sizes)
		return err
	})
	missing = make(map[string]bool, len(digests))
	for _, digest := range digests {
		missing[digest] = true
	}
	return missing, err
}
