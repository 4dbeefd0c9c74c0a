package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// Schema is the JSON Schema of settings that a stack version includes.
type Schema struct {
	SHA256 string
	Body   []byte
}

// addSchema stores the schema of a new version; none for nil.
func (tx *Tx) addSchema(ctx context.Context, v *StackVersion, body []byte) error {
	if body == nil {
		return nil
	}
	return tx.send(ctx, "INSERT INTO stack_schemas (account, slug, version, sha256, body) VALUES (?, ?, ?, ?, ?)",
		v.Account, v.Slug, v.Version, hexSum(body), body)
}

// Schema returns the schema of a stack version; ErrNotFound when it has none, ErrDamaged
// when it is not what was stored.
func (v *View) Schema(ctx context.Context, stack ref.Ref, version string) (*Schema, error) {
	s := &Schema{}
	err := v.readLarge(ctx, []any{&s.SHA256, &s.Body}, "SELECT sha256, body FROM stack_schemas WHERE account = ? AND slug = ? AND version = ?",
		stack.Account(), stack.Slug(), version)
	if err == nil && hexSum(s.Body) != s.SHA256 {
		return nil, fmt.Errorf("%w: the settings schema of %s %s", ErrDamaged, stack, version)
	}
	return s, err
}

// repairSchema stores the schema of a version again if it is damaged.
func (tx *Tx) repairSchema(ctx context.Context, v *StackVersion, body []byte) (repaired bool, err error) {
	stack, err := ref.New(v.Account, v.Slug)
	if err != nil {
		return false, err
	}
	if _, err := tx.Schema(ctx, stack, v.Version); !errors.Is(err, ErrDamaged) {
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return false, err
	}
	_, err = tx.db.NewDelete().Table("stack_schemas").
		Where("account = ?", v.Account).Where("slug = ?", v.Slug).Where("version = ?", v.Version).Exec(ctx)
	if err != nil {
		return false, err
	}
	return true, tx.addSchema(ctx, v, body)
}

// SchemaSize returns the length of that schema in bytes, 0 for none.
func (v *View) SchemaSize(ctx context.Context, stack ref.Ref, version string) (size int64, err error) {
	err = v.one(ctx, &size, "SELECT CAST(COALESCE(max(length(body)), 0) AS bigint) FROM stack_schemas WHERE account = ? AND slug = ? AND version = ?",
		stack.Account(), stack.Slug(), version)
	return size, err
}

// enforcedSchema is a project whose settings have to pass its stack's schema.
type enforcedSchema struct {
	bun.BaseModel `bun:"table:enforced_schemas"`

	Account string `bun:",pk"`
	Slug    string `bun:",pk"`
	SetBy   string
	SetAt   Time
}

// EnforceSchema has the settings of a project pass its stack's schema, or no longer.
func (tx *Tx) EnforceSchema(ctx context.Context, r ref.Ref, enforce bool, by string) error {
	row := &enforcedSchema{Account: r.Account(), Slug: r.Slug(), SetBy: by}
	return tx.setOption(ctx, row, &row.SetAt, enforce)
}
