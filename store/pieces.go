package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
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

// piece is a row of a bundle's or document's bytes.
type piece struct {
	bun.BaseModel `bun:"table:pieces"`

	Kind    string `bun:",pk"`
	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	Version string `bun:",pk"`
	N       int    `bun:",pk"`
	SHA256  string `bun:"sha256"`
	Body    []byte
}

// piece returns the key of the n-th piece.
func (b *Body) piece(n int) *piece {
	return &piece{Kind: b.kind, Account: b.account, Slug: b.slug, Version: b.version, N: n}
}

// row returns the row of b besides its pieces.
func (b *Body) row(mediaType string) any {
	if b.kind == kindBundle {
		return &bundleRow{Account: b.account, Slug: b.slug, Version: b.version, MediaType: mediaType, Body: []byte{}}
	}
	return &documentRow{Account: b.account, Slug: b.slug, MediaType: mediaType, Body: []byte{}}
}

// ofBody is the condition for all pieces of a [Body].
const ofBody = "kind = ? AND account = ? AND slug = ? AND version = ?"

// addPieces stores the bytes of b.
func (tx *Tx) addPieces(ctx context.Context, b *Body, pieces [][]byte) error {
	for n, body := range pieces {
		err := tx.send(ctx, "INSERT INTO pieces (kind, account, slug, version, n, sha256, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
			b.kind, b.account, b.slug, b.version, int64(n), hexSum(body), body)
		if err != nil {
			return err
		}
	}
	return nil
}

// measure completes b, whose row has the media type. Rows that are older than pieces
// hold the body as one.
func (v *View) measure(ctx context.Context, b *Body) (*Body, error) {
	var row struct {
		MediaType string
		Whole     int64
	}
	err := v.db.NewSelect().Model(b.row("")).Column("media_type").ColumnExpr("length(body) AS whole").WherePK().Scan(ctx, &row)
	if err != nil {
		return nil, wrap(err)
	}
	b.MediaType = row.MediaType
	if b.Size = row.Whole; row.Whole > 0 {
		b.Pieces, b.older = 1, true
		return b, nil
	}
	err = v.db.NewSelect().Model((*piece)(nil)).ColumnExpr("count(*), COALESCE(sum(length(body)), 0)").
		Where(ofBody, b.kind, b.account, b.slug, b.version).Scan(ctx, &b.Pieces, &b.Size)
	return b, wrap(err)
}

// ErrReplaced says that a document was replaced after [View.Document] described it.
var ErrReplaced = errors.New("it was replaced while it was read")

// Piece returns the n-th piece of a bundle or document, of [Body.Pieces], or
// ErrDamaged when it is not what was stored. For a document that is no longer the one
// that b describes it is ErrReplaced, or ErrNotFound when the API was deleted.
func (v *View) Piece(ctx context.Context, b *Body, n int) ([]byte, error) {
	sum, body, err := v.stored(ctx, b, n)
	if err != nil {
		return nil, err
	}
	if sum == "" && b.older {
		return v.whole(ctx, b)
	}
	if hexSum(body) != sum {
		return nil, b.damaged(fmt.Sprintf("piece %d", n))
	}
	return body, nil
}

// stored returns the n-th piece of b with its digest, "" when it is not stored. A document
// can be replaced between two pieces, so that its row is read in the same query.
func (v *View) stored(ctx context.Context, b *Body, n int) (sum string, body []byte, err error) {
	if b.kind == kindDocument {
		var whole string
		err = v.readLarge(ctx, []any{&whole, &sum, &body}, `SELECT a.sha256, COALESCE(p.sha256, ''), p.body FROM apis a
			LEFT JOIN pieces p ON p.kind = ? AND p.account = a.account AND p.slug = a.slug AND p.version = '' AND p.n = ?
			WHERE a.account = ? AND a.slug = ?`, b.kind, int64(n), b.account, b.slug)
		if err == nil && whole != b.SHA256 {
			err = fmt.Errorf("%s: %w", b, ErrReplaced)
		}
		return sum, body, err
	}
	p := b.piece(n)
	err = wrap(v.db.NewSelect().Model(p).Column("sha256", "body").WherePK().Scan(ctx))
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return p.SHA256, p.Body, err
}

// whole returns the body of a row that is older than pieces.
func (v *View) whole(ctx context.Context, b *Body) (body []byte, err error) {
	err = wrap(v.db.NewSelect().Model(b.row("")).Column("body").WherePK().Scan(ctx, &body))
	return body, err
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
	return fmt.Errorf("%w: %s: %s", ErrDamaged, b, why)
}

// String names b. A document has no version.
func (b *Body) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s @%s/%s %s", b.kind, b.account, b.slug, b.version))
}

// replace stores the bytes of b again.
func (tx *Tx) replace(ctx context.Context, b *Body, mediaType string, pieces [][]byte) error {
	_, err := tx.db.NewDelete().Model((*piece)(nil)).Where(ofBody, b.kind, b.account, b.slug, b.version).Exec(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.db.NewUpdate().Model(b.row(mediaType)).Column("media_type", "body").WherePK().Exec(ctx); err != nil {
		return err
	}
	return tx.addPieces(ctx, b, pieces)
}

// The kinds of bodies that are stored in pieces.
const (
	kindBundle   = "bundle"
	kindDocument = "document"
)
