package store

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/version"
)

// withdrawnVersion is a stack version that latest skips. Its number and its bytes are kept.
type withdrawnVersion struct {
	bun.BaseModel `bun:"table:withdrawn_versions"`

	Account     string `bun:",pk"`
	Slug        string `bun:",pk"`
	Version     string `bun:",pk"`
	WithdrawnAt Time
}

var (
	// ErrWithdrawn says that a version was withdrawn, and cannot be published again.
	ErrWithdrawn = errors.New("this version was withdrawn")
	// ErrOnlyVersion says that a stack would be left without a version.
	ErrOnlyVersion = errors.New("the stack has no other version")
)

// withdrawnAt is when the version v was withdrawn, 0: it was not.
const withdrawnAt = `COALESCE((SELECT w.withdrawn_at FROM withdrawn_versions AS w
	WHERE w.account = v.account AND w.slug = v.slug AND w.version = v.version), 0) AS withdrawn_at`

// versions selects stack versions, as v.
func (v *View) versions(account, slug string) *bun.SelectQuery {
	return v.db.NewSelect().TableExpr("stack_versions AS v").ColumnExpr("v.*").ColumnExpr(withdrawnAt).
		Where("v.account = ?", account).Where("v.slug = ?", slug)
}

// WithdrawVersion withdraws a version of a stack, or with undo has latest take it into
// account again. It returns the latest version, and whether anything changed. ErrNotFound
// when there is no such version, ErrOnlyVersion when no other one would be left.
func (tx *Tx) WithdrawVersion(ctx context.Context, r ref.Ref, number string, undo bool) (latest string, changed bool, err error) {
	stack := &Stack{Account: r.Account(), Slug: r.Slug()}
	if err := wrap(tx.forUpdate(tx.db.NewSelect().Model(stack).WherePK()).Scan(ctx)); err != nil {
		return "", false, err
	}
	published, err := tx.StackVersion(ctx, r, number)
	if err != nil {
		return "", false, err
	}
	if (published.WithdrawnAt == 0) == undo {
		return stack.Latest, false, nil
	}
	row := &withdrawnVersion{Account: r.Account(), Slug: r.Slug(), Version: number}
	if err := tx.setOption(ctx, row, &row.WithdrawnAt, !undo); err != nil {
		return "", false, err
	}
	var left []StackVersion
	if err := tx.versions(r.Account(), r.Slug()).Scan(ctx, &left); err != nil {
		return "", false, err
	}
	stack.Latest = ""
	for _, v := range left {
		if v.WithdrawnAt == 0 {
			stack.Latest = version.Latest(stack.Latest, v.Version)
		}
	}
	if stack.Latest == "" {
		return "", false, ErrOnlyVersion
	}
	_, err = tx.db.NewUpdate().Model(stack).Column("latest").WherePK().Exec(ctx)
	return stack.Latest, true, err
}
