package store

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// expiringProject is a project that is deleted at a time.
type expiringProject struct {
	bun.BaseModel `bun:"table:expiring_projects"`

	Account   string `bun:",pk"`
	Slug      string `bun:",pk"`
	ExpiresAt Time
}

// Expire has a new project deleted at a time. Such a project cannot be restored once it is
// deleted, so that the preview of a pull request can be created again under its name.
func (tx *Tx) Expire(ctx context.Context, r ref.Ref, at Time) error {
	_, err := tx.db.NewInsert().Model(&expiringProject{Account: r.Account(), Slug: r.Slug(), ExpiresAt: at}).Exec(ctx)
	return err
}

// DeleteExpired deletes the projects whose time has come, as [Tx.DeleteProject] does, and
// returns which. Any number of processes may call it at once: one of them deletes each.
func (s *Store) DeleteExpired(ctx context.Context) (deleted []ref.Ref, err error) {
	var now Time
	var after expiringProject
	for {
		var page []expiringProject
		err := s.Read(ctx, func(v *View) error {
			if now, err = v.Now(ctx); err != nil {
				return err
			}
			return v.db.NewSelect().Model(&page).Where("expires_at <= ?", now).
				Where("(expires_at, account, slug) > (?, ?, ?)", after.ExpiresAt, after.Account, after.Slug).
				Order("expires_at", "account", "slug").Limit(chunk).Scan(ctx)
		})
		if err != nil || len(page) == 0 {
			return deleted, err
		}
		for _, e := range page {
			r, err := ref.New(e.Account, e.Slug)
			if err != nil {
				return deleted, err
			}
			existed := false
			err = s.Write(ctx, func(tx *Tx) (err error) {
				existed, err = tx.deleteExpired(ctx, r, e.ExpiresAt)
				return err
			})
			if err != nil {
				return deleted, err
			}
			if existed {
				deleted = append(deleted, r)
			}
		}
		after = page[len(page)-1]
	}
}

// deleteExpired deletes a project that expired at a time, unless it is gone, or another
// one of the same name, which was created since.
func (tx *Tx) deleteExpired(ctx context.Context, r ref.Ref, at Time) (existed bool, err error) {
	if err := tx.lockToDelete(ctx, r); errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	same, err := tx.db.NewSelect().Model((*expiringProject)(nil)).
		Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Where("expires_at = ?", at).Exists(ctx)
	if err != nil || !same {
		return false, err
	}
	if err := tx.purgeProject(ctx, r); err != nil {
		return false, err
	}
	return true, tx.Audit(ctx, AuditRow{Account: r.Account(), Actor: "hub", Action: "project.delete", Object: r.String(), Detail: "expired"})
}
