package store

import (
	"context"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// PublicPreview is a project whose preview is public: the bundle of its stack version and
// its API description are published with it.
type PublicPreview struct {
	bun.BaseModel `bun:"table:public_previews"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	SetBy   string
	SetAt   Time
}

// SetPublicPreview makes the preview of a project public, or no longer.
func (tx *Tx) SetPublicPreview(ctx context.Context, r ref.Ref, isPublic bool, by string) error {
	row := &PublicPreview{Account: r.Account(), Slug: r.Slug(), SetBy: by}
	return tx.setOption(ctx, row, &row.SetAt, isPublic)
}

// setOption inserts the row that turns an option of a project on, with the time at setAt,
// or deletes it.
func (tx *Tx) setOption(ctx context.Context, row any, setAt *Time, on bool) error {
	if !on {
		_, err := tx.db.NewDelete().Model(row).WherePK().Exec(ctx)
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	*setAt = now
	_, err = tx.db.NewInsert().Model(row).On("CONFLICT DO NOTHING").Exec(ctx)
	return err
}
