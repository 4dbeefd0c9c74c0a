package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// PieceSize is how much of a bundle or document is stored, and read, at once, in bytes.
const PieceSize = 256 << 10

// Body says what is stored of a bundle or document, without its bytes: those are
// read with [View.Piece].
type Body struct {
	MediaType string
	Size      int64
	Pieces    int
	SHA256    string // of all bytes, "" where only the pieces are known by theirs

	kind, account, slug, version string
	older                        bool // than pieces
}

// addPieces stores the bytes of b.
func (tx *Tx) addPieces(ctx context.Context, b *Body, pieces [][]byte) error {
	for n, piece := range pieces {
		sum := sha256.Sum256(piece)
		_, err := tx.exec(ctx, "INSERT INTO pieces (kind, account, slug, version, n, sha256, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
			b.kind, b.account, b.slug, b.version, int64(n), hex.EncodeToString(sum[:]), piece)
		if err != nil {
			return err
		}
	}
	return nil
}

// measure completes b, whose row in table has the media type. Rows that are older
// than pieces hold the body as one.
func (v *View) measure(ctx context.Context, b *Body, table, where string, args ...any) (*Body, error) {
	var row struct {
		MediaType string
		Whole     int64
	}
	err := v.db.NewRaw("SELECT media_type, length(body) AS whole FROM "+table+" WHERE "+where, args...).Scan(ctx, &row)
	if err != nil {
		return nil, wrap(err)
	}
	b.MediaType = row.MediaType
	if b.Size = row.Whole; row.Whole > 0 {
		b.Pieces, b.older = 1, true
		return b, nil
	}
	err = v.db.NewRaw("SELECT count(*), COALESCE(sum(length(body)), 0) FROM pieces WHERE kind = ? AND account = ? AND slug = ? AND version = ?",
		b.kind, b.account, b.slug, b.version).Scan(ctx, &b.Pieces, &b.Size)
	return b, wrap(err)
}

// Piece returns the n-th piece of a bundle or document, of [Body.Pieces], after
// or ErrDamaged when it is not what was stored.
func (v *View) Piece(ctx context.Context, b *Body, n int) ([]byte, error) {
	var row struct {
		SHA256 string `bun:"sha256"`
		Body   []byte
	}
	err := wrap(v.db.NewRaw("SELECT sha256, body FROM pieces WHERE kind = ? AND account = ? AND slug = ? AND version = ? AND n = ?",
		b.kind, b.account, b.slug, b.version, n).Scan(ctx, &row))
	if errors.Is(err, ErrNotFound) && b.older {
		return v.whole(ctx, b)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	if sum := sha256.Sum256(row.Body); err != nil || hex.EncodeToString(sum[:]) != row.SHA256 {
		return nil, fmt.Errorf("%s @%s/%s %s, piece %d: %w", b.kind, b.account, b.slug, b.version, n, ErrDamaged)
	}
	return row.Body, nil
}

// whole returns the body of a row that is older than pieces.
func (v *View) whole(ctx context.Context, b *Body) (body []byte, err error) {
	if b.kind == kindBundle {
		err = v.db.NewRaw("SELECT body FROM stack_bundles WHERE account = ? AND slug = ? AND version = ?",
			b.account, b.slug, b.version).Scan(ctx, &body)
	} else {
		err = v.db.NewRaw("SELECT body FROM api_documents WHERE account = ? AND slug = ?", b.account, b.slug).Scan(ctx, &body)
	}
	return body, wrap(err)
}

// table is where the row of b is, with the condition that finds it.
func (b *Body) table() (name, where string, args []any) {
	if b.kind == kindBundle {
		return "stack_bundles", "account = ? AND slug = ? AND version = ?", []any{b.account, b.slug, b.version}
	}
	return "api_documents", "account = ? AND slug = ?", []any{b.account, b.slug}
}

// check returns ErrDamaged unless all of b is what was stored.
func (v *View) check(ctx context.Context, b *Body) error {
	hash := sha256.New()
	for n := range b.Pieces {
		piece, err := v.Piece(ctx, b, n)
		if err != nil {
			return err
		}
		hash.Write(piece)
	}
	if b.SHA256 != "" && hex.EncodeToString(hash.Sum(nil)) != b.SHA256 {
		return b.damaged("its SHA-256 is another")
	}
	return nil
}

func (b *Body) damaged(why string) error {
	return fmt.Errorf("%w: %s @%s/%s %s: %s", ErrDamaged, b.kind, b.account, b.slug, b.version, why)
}

// replace stores the bytes of b again.
func (tx *Tx) replace(ctx context.Context, b *Body, mediaType string, pieces [][]byte) error {
	if _, err := tx.db.NewRaw("DELETE FROM pieces WHERE kind = ? AND account = ? AND slug = ? AND version = ?",
		b.kind, b.account, b.slug, b.version).Exec(ctx); err != nil {
		return err
	}
	table, where, args := b.table()
	if _, err := tx.exec(ctx, "UPDATE "+table+" SET media_type = ?, body = ? WHERE "+where, append([]any{mediaType, []byte{}}, args...)...); err != nil {
		return err
	}
	return tx.addPieces(ctx, b, pieces)
}

// The kinds of bodies that are stored in pieces.
const (
	kindBundle   = "bundle"
	kindDocument = "document"
)
