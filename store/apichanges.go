package store

import (
	"context"
	"errors"
	"slices"

	"example.com/projecthub/hubclient/ref"
)

// ErrAPIInUse means that projects use an API.
var ErrAPIInUse = errors.New("projects use the API")

// UpdateAPI replaces the document of an API, and what a says of it, and reports whether it
// changed. ErrNotFound when it is not registered. a is then what is stored.
func (tx *Tx) UpdateAPI(ctx context.Context, r ref.Ref, a *API, d *Document) (changed bool, err error) {
	a.Account, a.Slug = r.Account(), r.Slug()
	former := &API{Account: a.Account, Slug: a.Slug}
	if err := wrap(tx.forUpdate(tx.db.NewSelect().Model(former).WherePK()).Scan(ctx)); err != nil {
		return false, err
	}
	a.CreatedAt, a.CreatedBy = former.CreatedAt, former.CreatedBy
	if err := tx.setFindings(ctx, a.Account, a.Slug, d.Findings); err != nil { // another version of the hub may have found others
		return false, err
	}
	if a.SHA256 == former.SHA256 {
		_, err := tx.RepairDocument(ctx, r, d)
		*a = *former
		return false, err
	}
	if a.UpdatedAt, err = tx.Now(ctx); err != nil {
		return false, err
	}
	_, err = tx.db.NewUpdate().Model(a).Column("title", "version", "format", "sha256", "updated_at", "updated_by").WherePK().Exec(ctx)
	if err != nil {
		return false, err
	}
	return true, tx.replace(ctx, documentBody(a.Account, a.Slug), d.MediaType, slices.Collect(slices.Chunk(d.Text, PieceSize)))
}

// DeleteAPI removes an API with its document, and reports whether it was there. ErrAPIInUse
// when a project uses it.
func (tx *Tx) DeleteAPI(ctx context.Context, r ref.Ref) (existed bool, err error) {
	a := &API{Account: r.Account(), Slug: r.Slug()}
	err = wrap(tx.forUpdate(tx.db.NewSelect().Model(a).Column("slug").WherePK()).Scan(ctx))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	users, err := tx.ProjectsUsing(ctx, r, 1)
	if err != nil || len(users) > 0 {
		return true, errors.Join(err, ErrAPIInUse)
	}
	if _, err := tx.db.NewDelete().Model((*piece)(nil)).Where(ofBody, kindDocument, r.Account(), r.Slug(), "").Exec(ctx); err != nil {
		return false, err
	}
	for _, model := range []any{(*documentRow)(nil), (*API)(nil)} {
		_, err := tx.db.NewDelete().Model(model).Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Exec(ctx)
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// ProjectsUsing returns projects that use an API, at most limit, by account and slug.
func (v *View) ProjectsUsing(ctx context.Context, api ref.Ref, limit int) ([]ProjectView, error) {
	return v.viewPage(ctx, notDeleted(v.db.NewSelect().Model((*Project)(nil))).Where("api_account = ?", api.Account()).Where("api_slug = ?", api.Slug()).
		Order("account", "slug").Limit(int64(limit)))
}

// keepAPI makes a deletion of the API wait for the transaction, and reports whether it is
// registered.
func (tx *Tx) keepAPI(ctx context.Context, account, slug string) (known bool, err error) {
	q := tx.db.NewSelect().Model((*API)(nil)).Column("slug").Where("account = ?", account).Where("slug = ?", slug)
	if tx.postgres() {
		q = q.For("SHARE")
	}
	var found []string
	err = q.Scan(ctx, &found)
	return len(found) > 0, err
}
