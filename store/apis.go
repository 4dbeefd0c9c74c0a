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
	UpdatedAt Time // 0: never
	UpdatedBy string
}

// Document is the text of an API description.
type Document struct {
	MediaType string
	Text      []byte
	Findings  []byte // what is wrong in it, a JSON array; nil for nothing
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
	if err := tx.setFindings(ctx, a.Account, a.Slug, d.Findings); err != nil {
		return err
	}
	return tx.addPieces(ctx, documentBody(a.Account, a.Slug), slices.Collect(slices.Chunk(d.Text, PieceSize)))
}

// setFindings replaces the findings in the description of an API; nil: there are none.
func (tx *Tx) setFindings(ctx context.Context, account, slug string, findings []byte) error {
	if _, err := tx.db.NewRaw("DELETE FROM api_findings WHERE account = ? AND slug = ?", account, slug).Exec(ctx); err != nil || findings == nil {
		return err
	}
	return tx.execLarge(ctx, "INSERT INTO api_findings (account, slug, findings) VALUES (?, ?, ?)", account, slug, findings)
}

// Findings returns the findings in the description of an API, a JSON array; nil for none.
func (v *View) Findings(ctx context.Context, r ref.Ref) (findings []byte, err error) {
	err = v.readLarge(ctx, []any{&findings}, "SELECT findings FROM api_findings WHERE account = ? AND slug = ?", r.Account(), r.Slug())
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return findings, err
}

// freeSlug returns wish, or wish-N for an N from 2 on, that no API of account has. It
// doubles N until one is free and then searches before it: N is the first free one
// unless a caller chose some of these slugs.
func (tx *Tx) freeSlug(ctx context.Context, account, wish string) (string, error) {
	if tx.postgres() { // two registrations at once would find the same slug free
		if _, err := tx.db.NewRaw("SELECT pg_advisory_xact_lock(hashtext(?))", "apis of "+account).Exec(ctx); err != nil {
			return "", err
		}
	}
	slug := func(n int) string {
		if n == 1 {
			return wish
		}
		return fmt.Sprintf("%s-%d", strings.TrimRight(wish, "-"), n)
	}
	for taken, free := 0, 0; ; {
		if free == taken+1 {
			return slug(free), nil
		}
		n := max(1, 2*taken)
		if free > 0 {
			n = (taken + free) / 2
		}
		exists, err := tx.db.NewSelect().Model((*API)(nil)).Where("account = ?", account).Where("slug = ?", slug(n)).Exists(ctx)
		if err != nil {
			return "", err
		}
		if exists {
			taken = n
		} else {
			free = n
		}
	}
}

// API returns a registered API, or ErrNotFound.
func (v *View) API(ctx context.Context, r ref.Ref) (*API, error) {
	a := &API{Account: r.Account(), Slug: r.Slug()}
	return a, wrap(v.db.NewSelect().Model(a).WherePK().Scan(ctx))
}

// APIs returns a page of the APIs of accounts, after a row, by account and slug. Each
// account is read from where the page before ended, so that late pages cost what the
// first one does.
func (v *View) APIs(ctx context.Context, accounts []string, after ref.Ref, limit int) ([]API, error) {
	accounts, err := v.accountsWith(ctx, "apis", accounts, after)
	if err != nil {
		return nil, err
	}
	var page []API
	for _, account := range accounts {
		q := v.db.NewSelect().Model((*API)(nil)).Where("account = ?", account).Order("slug").Limit(int64(limit - len(page)))
		if account == after.Account() {
			q = q.Where("slug > ?", after.Slug())
		}
		var part []API
		if err := q.Scan(ctx, &part); err != nil {
			return nil, err
		}
		if page = append(page, part...); len(page) >= limit {
			break
		}
	}
	return page, nil
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
