package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// API is a registered API description.
type API struct {
	bun.BaseModel `bun:"table:apis"`

	Account   string `bun:",pk"`
	Slug      string `bun:",pk"`
	Title     string
	Version   string
	Format    string
	SHA256    string `bun:"sha256"`
	CreatedAt Time
	CreatedBy string
}

// Document is the text of an API description.
type Document struct {
	MediaType string
	Text      []byte
}

// documentRow is what is stored of a document besides its pieces.
type documentRow struct {
	bun.BaseModel `bun:"table:api_documents"`

	Account   string `bun:",pk"`
	Slug      string `bun:",pk"`
	MediaType string
	Body      []byte // of an older row; else empty
}

func documentBody(account, slug string) *Body {
	return &Body{kind: kindDocument, account: account, slug: slug}
}

// CreateAPI registers a description. With free, the slug is only a wish: it is
// made unique in its account by -2, -3, …; otherwise a taken one is ErrExists.
func (tx *Tx) CreateAPI(ctx context.Context, a *API, d *Document, free bool) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	a.CreatedAt = now
	if free {
		if a.Slug, err = tx.freeSlug(ctx, a.Account, a.Slug); err != nil {
			return err
		}
	}
	if _, err := tx.db.NewInsert().Model(a).Exec(ctx); err != nil {
		return err
	}
	row := &documentRow{Account: a.Account, Slug: a.Slug, MediaType: d.MediaType, Body: []byte{}}
	if _, err := tx.db.NewInsert().Model(row).Exec(ctx); err != nil {
		return err
	}
	return tx.addPieces(ctx, documentBody(a.Account, a.Slug), slices.Collect(slices.Chunk(d.Text, PieceSize)))
}

// freeSlug returns wish, or the first of wish-2, wish-3, … that no API of account has.
func (tx *Tx) freeSlug(ctx context.Context, account, wish string) (string, error) {
	if tx.postgres() { // two registrations at once would find the same slug free
		if _, err := tx.db.NewRaw("SELECT pg_advisory_xact_lock(hashtext(?))", "apis of "+account).Exec(ctx); err != nil {
			return "", err
		}
	}
	var taken []string
	err := tx.db.NewSelect().Model((*API)(nil)).Column("slug").
		Where("account = ?", account).Where("substr(slug, 1, ?) = ?", len(wish), wish).Scan(ctx, &taken)
	if err != nil {
		return "", err
	}
	used := make(map[string]bool, len(taken))
	for _, s := range taken {
		used[s] = true
	}
	for n, slug := 2, wish; ; n++ {
		if !used[slug] {
			return slug, nil
		}
		slug = fmt.Sprintf("%s-%d", strings.TrimRight(wish, "-"), n)
	}
}

// API returns a registered API, or ErrNotFound.
func (v *View) API(ctx context.Context, r ref.Ref) (*API, error) {
	a := &API{Account: r.Account(), Slug: r.Slug()}
	return a, wrap(v.db.NewSelect().Model(a).WherePK().Scan(ctx))
}

// Document says what is stored as the text of a registered API, or returns ErrNotFound.
func (v *View) Document(ctx context.Context, r ref.Ref) (*Body, error) {
	a, err := v.API(ctx, r)
	if err != nil {
		return nil, err
	}
	b := documentBody(r.Account(), r.Slug())
	b.SHA256 = a.SHA256
	return v.measure(ctx, b)
}

// RepairDocument stores the text of a registered API again if it is the same and the
// stored one is damaged.
func (tx *Tx) RepairDocument(ctx context.Context, r ref.Ref, d *Document) (repaired bool, err error) {
	body, err := tx.Document(ctx, r)
	if err != nil || body.SHA256 != hexSum(d.Text) {
		return false, err
	}
	if err := tx.check(ctx, body); !errors.Is(err, ErrDamaged) {
		return false, err
	}
	return true, tx.replace(ctx, documentBody(r.Account(), r.Slug()), d.MediaType, slices.Collect(slices.Chunk(d.Text, PieceSize)))
}
