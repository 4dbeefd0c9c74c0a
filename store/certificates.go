package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// certificate is what all hubs share under a name of package autocert.
type certificate struct {
	bun.BaseModel `bun:"table:certificates"`

	Name      string `bun:",pk"`
	Data      []byte // empty: a hub is ordering it
	ChangedAt Time
}

// orderTime is how long one hub alone may order a certificate.
const orderTime = 2 * time.Minute

// Certificate returns what is stored under a name, ErrNotFound without it.
func (v *View) Certificate(ctx context.Context, name string) ([]byte, error) {
	var found certificate
	err := v.db.NewSelect().Model(&found).Where("name = ? AND length(data) > 0", name).Scan(ctx)
	return found.Data, err
}

// PutCertificate stores data under a name.
func (tx *Tx) PutCertificate(ctx context.Context, name string, data []byte) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.db.NewInsert().Model(&certificate{Name: name, Data: data, ChangedAt: now}).On("CONFLICT (name) DO UPDATE").
		Set("data = EXCLUDED.data").Set("changed_at = EXCLUDED.changed_at").Exec(ctx)
	return err
}

// OrderCertificate reports whether the caller is the one hub that may now order the
// certificate with a name, which is not stored.
func (tx *Tx) OrderCertificate(ctx context.Context, name string) (bool, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	result, err := tx.db.NewInsert().Model(&certificate{Name: name, Data: []byte{}, ChangedAt: now}).On("CONFLICT (name) DO UPDATE").
		Set("changed_at = EXCLUDED.changed_at").Where("length(certificate.data) = 0 AND certificate.changed_at <= ?", now.add(-orderTime)).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// DeleteCertificate deletes what is stored under a name.
func (tx *Tx) DeleteCertificate(ctx context.Context, name string) error {
	_, err := tx.db.NewDelete().Model(&certificate{Name: name}).WherePK().Exec(ctx)
	return err
}
