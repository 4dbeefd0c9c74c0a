package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
)

// Project binds a stack and an API.
type Project struct {
	bun.BaseModel `bun:"table:projects"`

	Account      string `bun:",pk"`
	Slug         string `bun:",pk"`
	StackAccount string
	StackSlug    string
	StackVersion string // latest, or an exact version
	APIAccount   string
	APISlug      string
	Visibility   string
	CreatedAt    Time
	CreatedBy    string
}

// ProjectView is a project with what is shown with it.
type ProjectView struct {
	Project

	StackLatest   string
	Withdrawn     bool           // its stack version was withdrawn
	PublicPreview bool           // its stack version and API description are published with it
	EnforceSchema bool           // its settings have to pass the stack's schema
	ExpiresAt     Time           // when the hub deletes it, 0 for never
	Hidden        bool           // the account is disabled
	Config        ConfigState    `bun:"embed:config_"`
	BaseFiles     BaseFilesState `bun:"embed:base_files_"`
}

// Errors of CreateProject, for what the new project would bind.
var (
	ErrStackNotPublished = errors.New("the stack version is not published")
	ErrAPINotFound       = errors.New("the API is not registered")
)

// CreateProject adds a project with an empty config. ErrExists when the name is taken,
// ErrDeleted when it is reserved, then ErrStackNotPublished and ErrAPINotFound. It never
// changes a project.
func (tx *Tx) CreateProject(ctx context.Context, p *Project) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	p.CreatedAt = now
	taken, err := tx.db.NewSelect().Model((*Project)(nil)).
		Where("account = ?", p.Account).Where("slug = ?", p.Slug).Exists(ctx)
	if err != nil {
		return err
	}
	if taken {
		return tx.takenName(ctx, p)
	}
	if err := tx.checkBindings(ctx, p); err != nil {
		return err
	}
	if _, err := tx.db.NewInsert().Model(p).Exec(ctx); err != nil {
		return err
	}
	_, err = tx.db.NewInsert().Model(newConfig(p.Account, p.Slug)).Exec(ctx)
	return err
}

// takenName returns ErrDeleted if a project's name is reserved, else ErrExists.
func (tx *Tx) takenName(ctx context.Context, p *Project) error {
	r, err := ref.New(p.Account, p.Slug)
	if err == nil {
		_, err = tx.Deleted(ctx, r)
	}
	switch {
	case err == nil:
		return ErrDeleted
	case errors.Is(err, ErrNotFound):
		return ErrExists
	}
	return err
}

// checkBindings returns ErrStackNotPublished or ErrAPINotFound if what p binds is not stored.
func (tx *Tx) checkBindings(ctx context.Context, p *Project) error {
	if _, err := tx.resolveStackVersion(ctx, p.StackAccount, p.StackSlug, p.StackVersion); errors.Is(err, ErrNotFound) {
		return ErrStackNotPublished
	} else if err != nil {
		return err
	}
	known, err := tx.keepAPI(ctx, p.APIAccount, p.APISlug)
	if err == nil && !known {
		return ErrAPINotFound
	}
	return err
}

// EditProject applies change to a project's visibility and to what it binds, and reports
// whether anything changed. ErrNotFound when there is no such project; otherwise it fails
// as CreateProject does.
func (tx *Tx) EditProject(ctx context.Context, r ref.Ref, change func(*Project)) (changed bool, err error) {
	p, err := tx.lockedProject(ctx, r)
	if err != nil {
		return false, err
	}
	before := *p
	if change(p); *p == before {
		return false, nil
	}
	if err := tx.checkBindings(ctx, p); err != nil {
		return false, err
	}
	_, err = tx.db.NewUpdate().Model(p).Column("visibility", "stack_version", "api_account", "api_slug").WherePK().Exec(ctx)
	return true, err
}

// Project returns a project, or ErrNotFound.
func (v *View) Project(ctx context.Context, r ref.Ref) (*ProjectView, error) {
	p := &ProjectView{}
	q := v.viewsOf("projects AS p").Where("p.account = ?", r.Account()).Where("p.slug = ?", r.Slug())
	return p, wrap(q.Scan(ctx, p))
}

// IsPublic reports whether everyone may read the project. It reads hardly more of a private one
// than of one that does not exist, so that the time tells strangers nothing.
func (v *View) IsPublic(ctx context.Context, r ref.Ref) (is bool, err error) {
	err = v.one(ctx, &is, `SELECT EXISTS (SELECT 1 FROM projects AS p WHERE p.account = ? AND p.slug = ? AND p.visibility = 'public'
		AND NOT EXISTS (SELECT 1 FROM deleted_projects AS d WHERE d.account = p.account AND d.slug = p.slug)
		AND NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.name = p.account AND a.disabled_at <> 0))`, r.Account(), r.Slug())
	return is, err
}

// viewsOf selects the projects of from, as p, with what is shown with them,
// without their contents.
func (v *View) viewsOf(from string, args ...any) *bun.SelectQuery {
	return v.db.NewSelect().TableExpr(from, args...).
		ColumnExpr("p.*").
		ColumnExpr("COALESCE(s.latest, '') AS stack_latest").
		ColumnExpr("EXISTS (SELECT 1 FROM withdrawn_versions AS w WHERE w.account = p.stack_account AND w.slug = p.stack_slug AND w.version = p.stack_version) AS withdrawn").
		ColumnExpr("(SELECT a.disabled_at <> 0 FROM accounts AS a WHERE a.name = p.account) AS hidden").
		ColumnExpr("EXISTS (SELECT 1 FROM public_previews AS o WHERE o.account = p.account AND o.slug = p.slug) AS public_preview").
		ColumnExpr("EXISTS (SELECT 1 FROM enforced_schemas AS e WHERE e.account = p.account AND e.slug = p.slug) AS enforce_schema").
		ColumnExpr("COALESCE((SELECT x.expires_at FROM expiring_projects AS x WHERE x.account = p.account AND x.slug = p.slug), 0) AS expires_at").
		ColumnExpr("c.revision AS config_revision, c.has_config AS config_has_config, c.updated_at AS config_updated_at").
		ColumnExpr("c.updated_by AS config_updated_by, c.updated_via AS config_updated_via").
		ColumnExpr("COALESCE(b.tree, '') AS base_files_tree, COALESCE(b.count, 0) AS base_files_count").
		ColumnExpr("COALESCE(b.bytes, 0) AS base_files_bytes").
		Join("JOIN configs AS c ON c.account = p.account AND c.slug = p.slug").
		Join("LEFT JOIN stacks AS s ON s.account = p.stack_account AND s.slug = p.stack_slug").
		Join("LEFT JOIN base_sets AS b ON b.account = p.account AND b.slug = p.slug")
}

// ProjectFilter says which projects a list holds.
type ProjectFilter struct {
	Accounts   []string // only of these; empty: none
	PublicOnly bool
	Also       string  // slug of a project that PublicOnly does not leave out; "": none
	Search     string  // only those whose account/slug contains it
	After      ref.Ref // only those that come later, by account and slug
	Limit      int
}

// matching adds the filter's search to a query. Names contain none of the characters
// that LIKE interprets, so that a search with one finds nothing.
func (f ProjectFilter) matching(q *bun.SelectQuery) *bun.SelectQuery {
	switch {
	case f.Search == "":
		return q
	case strings.ContainsAny(f.Search, `%_\`):
		return q.Where("1 = 0")
	}
	return q.Where("account || '/' || slug LIKE ?", "%"+strings.ToLower(f.Search)+"%")
}

// Projects returns a page of projects by account and slug. Each account is read
// from where the page before ended, so that late pages cost what the first one does.
func (v *View) Projects(ctx context.Context, f ProjectFilter) ([]ProjectView, error) {
	accounts, err := v.accountsWith(ctx, "projects", f.Accounts, f.After)
	if err != nil {
		return nil, err
	}
	var page []ProjectView
	for _, account := range accounts {
		q := notDeleted(v.db.NewSelect().Model((*Project)(nil))).Where("account = ?", account).
			Order("slug").Limit(int64(f.Limit - len(page)))
		if q = f.matching(q); f.PublicOnly {
			q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
				q = q.Where("visibility = 'public'")
				if f.Also != "" {
					q = q.WhereOr("slug = ?", f.Also)
				}
				return q
			})
		}
		if account == f.After.Account() {
			q = q.Where("slug > ?", f.After.Slug())
		}
		part, err := v.viewPage(ctx, q)
		if err != nil {
			return nil, err
		}
		if page = append(page, part...); len(page) >= f.Limit {
			break
		}
	}
	return page, nil
}

// VisibleProjects is Projects with the public projects of all other accounts.
func (v *View) VisibleProjects(ctx context.Context, f ProjectFilter) ([]ProjectView, error) {
	page, err := v.Projects(ctx, f)
	if err != nil {
		return nil, err
	}
	q := notDeleted(v.db.NewSelect().Model((*Project)(nil))).Where("visibility = 'public'").
		Where("(account, slug) > (?, ?)", f.After.Account(), f.After.Slug()).
		Where("(SELECT a.disabled_at FROM accounts AS a WHERE a.name = project.account) = 0").
		Order("account", "slug").Limit(int64(f.Limit))
	if len(f.Accounts) > 0 {
		q = q.Where("account NOT IN (?)", bun.List(f.Accounts))
	}
	public, err := v.viewPage(ctx, f.matching(q))
	if err != nil {
		return nil, err
	}
	page = append(page, public...)
	slices.SortFunc(page, byName)
	return page[:min(len(page), f.Limit)], nil
}

// viewPage returns the projects that q selects, with what is shown with them. They are
// selected first, so that no database joins all rows before it counts.
func (v *View) viewPage(ctx context.Context, q *bun.SelectQuery) (page []ProjectView, err error) {
	err = v.viewsOf("(?) AS p", q).Scan(ctx, &page)
	slices.SortFunc(page, byName)
	return page, err
}

func byName(a, b ProjectView) int {
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Slug, b.Slug))
}

// accountsWith returns those of names that are not disabled and have rows in table, for
// a page that begins after a row, in the order of their names.
func (v *View) accountsWith(ctx context.Context, table string, names []string, after ref.Ref) (accounts []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	err = v.db.NewSelect().Model((*Account)(nil)).Column("name").
		Where("name IN (?)", bun.List(names)).Where("name >= ?", after.Account()).Where("disabled_at = 0").
		Where("(SELECT 1 FROM ? AS t WHERE t.account = account.name ORDER BY t.account, t.slug LIMIT 1) IS NOT NULL", bun.Name(table)).
		Order("name").Scan(ctx, &accounts)
	return accounts, err
}

// IsPublic reports whether everyone may read the project.
func (v *ProjectView) IsPublic() bool { return v.Visibility == "public" && !v.Hidden }

// lockProject makes those who change what belongs to a project queue, where
// there may be no row of that yet. ErrNotFound when there is no such project. One that is
// deleted meanwhile may be found: what is written then was written before it was deleted.
func (tx *Tx) lockProject(ctx context.Context, r ref.Ref) error {
	_, err := tx.lockedProject(ctx, r)
	return err
}

func (tx *Tx) lockedProject(ctx context.Context, r ref.Ref) (*Project, error) {
	p := &Project{Account: r.Account(), Slug: r.Slug()}
	q := tx.db.NewSelect().Model(p).WherePK().
		Where("EXISTS (SELECT 1 FROM configs AS c WHERE c.account = project.account AND c.slug = project.slug)")
	return p, wrap(tx.forUpdate(q).Scan(ctx))
}
