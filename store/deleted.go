package store

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// KeptDeleted is how long a deleted project can be restored. Its name is reserved for it,
// and its blobs are not collected, until it is purged some time later.
const KeptDeleted = 30 * 24 * time.Hour

// A deleted project keeps its rows, except that its config moves to deleted_projects and
// back. All that reads or changes a project looks for its config, or locks it as
// [Tx.lockProject] does, so that a deleted project is absent for it. Only lists of projects
// leave it out themselves.

// DeletedProject is a project that was deleted and can be restored.
type DeletedProject struct {
	bun.BaseModel `bun:"table:deleted_projects"`

	Account   string `bun:",pk"`
	Slug      string `bun:",pk"`
	DeletedAt Time
	DeletedBy string
	KeptUntil Time // when it is purged, at the earliest
}

// ErrDeleted says that a name is reserved for a deleted project.
var ErrDeleted = errors.New("the name is reserved for a deleted project")

// notDeleted leaves deleted projects out of a query of the table projects.
func notDeleted(q *bun.SelectQuery) *bun.SelectQuery {
	return q.Where("NOT EXISTS (SELECT 1 FROM deleted_projects AS d WHERE d.account = project.account AND d.slug = project.slug)")
}

// DeleteProject deletes a project and returns until when it can be restored. One that
// expires is purged, and the time is 0. ErrNotFound when there is no such project.
func (tx *Tx) DeleteProject(ctx context.Context, r ref.Ref, by string) (keptUntil Time, err error) {
	if err := tx.lockToDelete(ctx, r); err != nil {
		return 0, err
	}
	expires, err := tx.db.NewSelect().Model((*expiringProject)(nil)).
		Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Exists(ctx)
	if err != nil {
		return 0, err
	}
	if expires {
		return 0, tx.purgeProject(ctx, r)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return 0, err
	}
	_, err = tx.db.NewRaw(`INSERT INTO deleted_projects (account, slug, deleted_at, deleted_by, kept_until,
			revision, has_config, updated_at, updated_by, updated_via, body)
		SELECT account, slug, ?, ?, ?, revision, has_config, updated_at, updated_by, updated_via, body
		FROM configs WHERE account = ? AND slug = ?`, now, by, now.add(KeptDeleted), r.Account(), r.Slug()).Exec(ctx)
	if err != nil {
		return 0, err
	}
	_, err = tx.db.NewDelete().Model(&Config{Account: r.Account(), Slug: r.Slug()}).WherePK().Exec(ctx)
	return now.add(KeptDeleted), err
}

// lockToDelete locks a project and its config: the config first, as a write of it does,
// whose entry of the history then refers to the project. ErrNotFound when there is no such
// project.
func (tx *Tx) lockToDelete(ctx context.Context, r ref.Ref) error {
	c := &Config{Account: r.Account(), Slug: r.Slug()}
	if err := wrap(tx.forUpdate(tx.db.NewSelect().Model(c).Column("slug").WherePK()).Scan(ctx)); err != nil {
		return err
	}
	return tx.lockProject(ctx, r)
}

// RestoredProject is a project that [Tx.RestoreProject] restored.
type RestoredProject struct {
	Project
	WasDeleted   bool
	PreviewEnded bool // it was public, and another API has the name of its own now
}

// RestoreProject restores a deleted project as it was. ErrNotFound when there is no such
// project, ErrAPINotFound when the API that it binds was deleted since.
func (tx *Tx) RestoreProject(ctx context.Context, r ref.Ref) (*RestoredProject, error) {
	p := &RestoredProject{Project: Project{Account: r.Account(), Slug: r.Slug()}}
	if err := wrap(tx.forUpdate(tx.db.NewSelect().Model(&p.Project).WherePK()).Scan(ctx)); err != nil {
		return nil, err
	}
	d, err := tx.Deleted(ctx, r)
	if errors.Is(err, ErrNotFound) {
		return p, nil
	} else if err != nil {
		return nil, err
	}
	p.WasDeleted = true
	if known, err := tx.keepAPI(ctx, p.APIAccount, p.APISlug); err != nil {
		return nil, err
	} else if !known {
		return p, ErrAPINotFound
	}
	api := &API{Account: p.APIAccount, Slug: p.APISlug}
	if err := tx.db.NewSelect().Model(api).Column("created_at").WherePK().Scan(ctx); err != nil {
		return nil, err
	}
	if api.CreatedAt >= d.DeletedAt { // another one, whose publication was not allowed
		ended, err := affected(tx.db.NewDelete().Model(&PublicPreview{Account: r.Account(), Slug: r.Slug()}).WherePK().Exec(ctx))
		if err != nil {
			return nil, err
		}
		p.PreviewEnded = ended > 0
	}
	_, err = tx.db.NewRaw(`INSERT INTO configs (account, slug, revision, has_config, updated_at, updated_by, updated_via, body)
		SELECT account, slug, revision, has_config, updated_at, updated_by, updated_via, body
		FROM deleted_projects WHERE account = ? AND slug = ?`, r.Account(), r.Slug()).Exec(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.db.NewDelete().Model(&DeletedProject{Account: r.Account(), Slug: r.Slug()}).WherePK().Exec(ctx)
	return p, err
}

// purgeProject removes a project for good, whose row is locked.
func (tx *Tx) purgeProject(ctx context.Context, r ref.Ref) error {
	if err := tx.freeSnapshot(ctx, r); err != nil {
		return err
	}
	if err := tx.freeFileHistory(ctx, r); err != nil {
		return err
	}
	for _, model := range []any{(*PublicPreview)(nil), (*Snapshot)(nil), (*Config)(nil), (*Project)(nil)} {
		_, err := tx.db.NewDelete().Model(model).
			Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// deletedColumns are those of [DeletedProject], without the config.
var deletedColumns = []string{"account", "slug", "deleted_at", "deleted_by", "kept_until"}

// Deleted returns a project that was deleted and can be restored, or ErrNotFound.
func (v *View) Deleted(ctx context.Context, r ref.Ref) (*DeletedProject, error) {
	d := &DeletedProject{Account: r.Account(), Slug: r.Slug()}
	return d, wrap(v.db.NewSelect().Model(d).Column(deletedColumns...).WherePK().Scan(ctx))
}

// DeletedProjects returns a page of the projects of accounts that were deleted and can be
// restored, by account and slug.
func (v *View) DeletedProjects(ctx context.Context, accounts []string, after ref.Ref, limit int) (page []DeletedProject, err error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	err = v.db.NewSelect().Model(&page).Column(deletedColumns...).Where("account IN (?)", bun.List(accounts)).
		Where("(account, slug) > (?, ?)", after.Account(), after.Slug()).Order("account", "slug").Limit(int64(limit)).Scan(ctx)
	return page, err
}

// PurgeDeleted removes the deleted projects that are no longer kept, and returns how many.
// Any number of processes may call it at once: one of them removes each.
func (s *Store) PurgeDeleted(ctx context.Context) (purged int, err error) {
	for after := (DeletedProject{}); ; {
		var page []DeletedProject
		err := s.Read(ctx, func(v *View) error {
			now, err := v.Now(ctx)
			if err != nil {
				return err
			}
			return v.db.NewSelect().Model(&page).Column(deletedColumns...).Where("kept_until <= ?", now).
				Where("(kept_until, account, slug) > (?, ?, ?)", after.KeptUntil, after.Account, after.Slug).
				Order("kept_until", "account", "slug").Limit(chunk).Scan(ctx)
		})
		if err != nil || len(page) == 0 {
			return purged, err
		}
		for _, d := range page {
			existed := false
			err := s.Write(ctx, func(tx *Tx) (err error) {
				existed, err = tx.purgeDeleted(ctx, d)
				return err
			})
			if err != nil {
				return purged, err
			}
			if existed {
				purged++
			}
		}
		after = page[len(page)-1]
	}
}

// purgeDeleted removes a project that was to be kept until a time, unless it was restored.
func (tx *Tx) purgeDeleted(ctx context.Context, d DeletedProject) (existed bool, err error) {
	r, err := ref.New(d.Account, d.Slug)
	if err != nil {
		return false, err
	}
	p := &Project{Account: d.Account, Slug: d.Slug}
	err = wrap(tx.forUpdate(tx.db.NewSelect().Model(p).Column("slug").WherePK()).Scan(ctx))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if now, err := tx.Deleted(ctx, r); errors.Is(err, ErrNotFound) || err == nil && now.KeptUntil != d.KeptUntil {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := tx.purgeProject(ctx, r); err != nil {
		return false, err
	}
	return true, tx.Audit(ctx, AuditRow{Account: d.Account, Actor: "hub", Action: "project.purge", Object: r.String()})
}
