package store

import (
	"context"
	"fmt"
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

// Document is the stored text of an API description.
type Document struct {
	bun.BaseModel `bun:"table:api_documents"`

	Account   string `bun:",pk"`
	Slug      string `bun:",pk"`
	MediaType string
	Body      []byte
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
	d.Account, d.Slug = a.Account, a.Slug
	_, err = tx.db.NewInsert().Model(d).Exec(ctx)
	return err
}

// freeSlug returns wish, or the first of wish-2, wish-3, … that no API of account has.
func (tx *Tx) freeSlug(ctx context.Context, account, wish string) (string, error) {
	if tx.postgres() { // two registrations at once would find the same slug free
		if _, err := tx.db.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtext(?))", "apis of "+account); err != nil {
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
func (tx *Tx) API(ctx context.Context, r ref.Ref) (*API, error) {
	a := &API{Account: r.Account(), Slug: r.Slug()}
	return a, wrap(tx.db.NewSelect().Model(a).WherePK().Scan(ctx))
}

// Document returns the text of a registered API, or ErrNotFound.
func (tx *Tx) Document(ctx context.Context, r ref.Ref) (*Document, error) {
	d := &Document{Account: r.Account(), Slug: r.Slug()}
	return d, wrap(tx.db.NewSelect().Model(d).WherePK().Scan(ctx))
}
