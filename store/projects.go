package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

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

// ProjectView is a project with what is shown beside it.
type ProjectView struct {
	Project

	StackLatest string
	Hidden      bool           // the account is disabled
	Config      ConfigState    `bun:"embed:config_"`
	BaseFiles   BaseFilesState `bun:"embed:base_files_"`
}

// Errors of CreateProject, for what the new project would bind.
var (
	ErrStackNotPublished = errors.New("the stack version is not published")
	ErrAPINotFound       = errors.New("the API is not registered")
)

// CreateProject adds a project with an empty config. ErrExists when the name is
// taken, then ErrStackNotPublished and ErrAPINotFound. It never changes a project.
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
		return ErrExists
	}
	if _, err := tx.resolveStackVersion(ctx, p.StackAccount, p.StackSlug, p.StackVersion); errors.Is(err, ErrNotFound) {
		return ErrStackNotPublished
	} else if err != nil {
		return err
	}
	if known, err := tx.db.NewSelect().Model((*API)(nil)).
		Where("account = ?", p.APIAccount).Where("slug = ?", p.APISlug).Exists(ctx); err != nil {
		return err
	} else if !known {
		return ErrAPINotFound
	}
	if _, err := tx.db.NewInsert().Model(p).Exec(ctx); err != nil {
		return err
	}
	_, err = tx.db.NewInsert().Model(newConfig(p.Account, p.Slug)).Exec(ctx)
	return err
}

// Project returns a project, or ErrNotFound.
func (v *View) Project(ctx context.Context, r ref.Ref) (*ProjectView, error) {
	p := &ProjectView{}
	q := v.viewsOf("projects AS p").Where("p.account = ?", r.Account()).Where("p.slug = ?", r.Slug())
	return p, wrap(q.Scan(ctx, p))
}

// viewsOf selects the projects of from, as p, with what is shown beside them,
// without their contents.
func (v *View) viewsOf(from string, args ...any) *bun.SelectQuery {
	return v.db.NewSelect().TableExpr(from, args...).
		ColumnExpr("p.*").
		ColumnExpr("COALESCE(s.latest, '') AS stack_latest").
		ColumnExpr("(SELECT a.disabled_at <> 0 FROM accounts AS a WHERE a.name = p.account) AS hidden").
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
	After      ref.Ref // only those that come later, by account and slug
	Limit      int
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
		q := v.db.NewSelect().Model((*Project)(nil)).Where("account = ?", account).
			Order("slug").Limit(int64(f.Limit - len(page)))
		if f.PublicOnly {
			q = q.Where("visibility = 'public'")
		}
		if account == f.After.Account() {
			q = q.Where("slug > ?", f.After.Slug())
		}
		// The page first, so that no database joins all rows before it counts.
		var part []ProjectView
		if err := v.viewsOf("(?) AS p", q).Scan(ctx, &part); err != nil {
			return nil, err
		}
		slices.SortFunc(part, func(a, b ProjectView) int { return cmp.Compare(a.Slug, b.Slug) })
		if page = append(page, part...); len(page) >= f.Limit {
			break
		}
	}
	return page, nil
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

// DeleteProject removes a project with its config and base files, and reports
// whether it was there.
func (tx *Tx) DeleteProject(ctx context.Context, r ref.Ref) (existed bool, err error) {
	if err := tx.lockProject(ctx, r); errors.Is(err, ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if err := tx.freeSnapshot(ctx, r); err != nil {
		return false, err
	}
	for _, model := range []any{(*Snapshot)(nil), (*Config)(nil), (*Project)(nil)} {
		_, err := tx.db.NewDelete().Model(model).
			Where("account = ?", r.Account()).Where("slug = ?", r.Slug()).Exec(ctx)
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// lockProject makes those who change what belongs to a project queue, where
// there may be no row of that yet. ErrNotFound when there is no such project.
func (tx *Tx) lockProject(ctx context.Context, r ref.Ref) error {
	p := &Project{Account: r.Account(), Slug: r.Slug()}
	return wrap(tx.forUpdate(tx.db.NewSelect().Model(p).Column("slug").WherePK()).Scan(ctx))
}
