package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
)

// Kinds of account.
const (
	KindUser = "user"
	KindOrg  = "org"
)

// Account owns projects, stacks, APIs and bots.
type Account struct {
	bun.BaseModel `bun:"table:accounts"`

	Name       string `bun:",pk"`
	Kind       string
	CreatedAt  Time
	DisabledAt Time
}

// Member gives a user a role on an org.
type Member struct {
	bun.BaseModel `bun:"table:members"`

	User    string `bun:"user_name,pk"`
	Account string `bun:",pk"`
	Role    string
}

// CreateAccount adds an account; ErrExists when the name is taken.
func (tx *Tx) CreateAccount(ctx context.Context, name, kind string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.db.NewInsert().Model(&Account{Name: name, Kind: kind, CreatedAt: now}).Exec(ctx)
	return err
}

// Account returns the account called name, or ErrNotFound.
func (v *View) Account(ctx context.Context, name string) (*Account, error) {
	a := &Account{Name: name}
	return a, wrap(v.db.NewSelect().Model(a).WherePK().Scan(ctx))
}

// Accounts returns all accounts in the order of their names.
func (v *View) Accounts(ctx context.Context) ([]Account, error) {
	var all []Account
	return all, v.db.NewSelect().Model(&all).Order("name").Scan(ctx)
}

// DisableAccount takes from an account's users, and from its own tokens, the
// right to do anything, and hides its public projects. It reports whether the
// account was enabled; ErrNotFound when no account has that name.
func (tx *Tx) DisableAccount(ctx context.Context, name string) (changed bool, err error) {
	if err := tx.ChangeRights(ctx, name); err != nil {
		return false, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	return tx.setDisabled(ctx, name, now, "disabled_at = 0")
}

// EnableAccount undoes [Tx.DisableAccount], and reports whether the account was disabled.
func (tx *Tx) EnableAccount(ctx context.Context, name string) (changed bool, err error) {
	return tx.setDisabled(ctx, name, 0, "disabled_at <> 0")
}

func (tx *Tx) setDisabled(ctx context.Context, name string, at Time, condition string) (changed bool, err error) {
	n, err := affected(tx.db.NewUpdate().Model((*Account)(nil)).Set("disabled_at = ?", at).
		Where("name = ?", name).Where(condition).Exec(ctx))
	if err != nil || n > 0 {
		return n > 0, err
	}
	if _, err = tx.Account(ctx, name); errors.Is(err, ErrNotFound) {
		return false, &NoAccountError{name}
	}
	return false, err
}

// SetMember gives user a role on org, in place of a former one.
func (tx *Tx) SetMember(ctx context.Context, org, user, role string) error {
	if err := tx.needMember(ctx, org, user); err != nil {
		return err
	}
	if err := tx.ChangeRights(ctx, user); err != nil {
		return err
	}
	_, err := tx.db.NewInsert().Model(&Member{User: user, Account: org, Role: role}).
		On("CONFLICT (user_name, account) DO UPDATE").Set("role = EXCLUDED.role").Exec(ctx)
	return err
}

// needMember checks that user can have a role on org.
func (v *View) needMember(ctx context.Context, org, user string) error {
	if err := v.needKind(ctx, org, KindOrg); err != nil {
		return err
	}
	return v.needKind(ctx, user, KindUser)
}

func (v *View) needKind(ctx context.Context, name, kind string) error {
	a, err := v.needAccount(ctx, name)
	if err == nil && a.Kind != kind {
		return &KindError{name, a.Kind, kind}
	}
	return err
}

// needAccount is [View.Account] with a [NoAccountError].
func (v *View) needAccount(ctx context.Context, name string) (*Account, error) {
	a, err := v.Account(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, &NoAccountError{name}
	}
	return a, err
}

// NoAccountError says that the account Name does not exist. It is an ErrNotFound.
type NoAccountError struct{ Name string }

func (e *NoAccountError) Error() string        { return "account " + e.Name + " does not exist" }
func (e *NoAccountError) Is(target error) bool { return target == ErrNotFound }

// KindError says that an account is of one kind where another is needed.
type KindError struct{ Name, Is, Needed string }

func (e *KindError) Error() string {
	article := map[string]string{KindUser: "a user", KindOrg: "an org"}
	return fmt.Sprintf("%s is %s, not %s", e.Name, article[e.Is], article[e.Needed])
}

// RemoveMember takes user's role on org away and reports whether there was one.
// Both have to be there, as for SetMember.
func (tx *Tx) RemoveMember(ctx context.Context, org, user string) (bool, error) {
	if err := tx.needMember(ctx, org, user); err != nil {
		return false, err
	}
	if err := tx.ChangeRights(ctx, user); err != nil {
		return false, err
	}
	n, err := affected(tx.db.NewDelete().Model(&Member{User: user, Account: org}).WherePK().Exec(ctx))
	return n > 0, err
}

// ErrLastAdmin says that an org would have no admin left.
var ErrLastAdmin = errors.New("the last admin")

// KeepAdmin returns ErrLastAdmin unless org has another admin than user, whose account is
// not disabled. No other transaction takes that one away meanwhile.
func (tx *Tx) KeepAdmin(ctx context.Context, org, user string) error {
	lock := tx.db.NewSelect().Model(&Account{Name: org}).WherePK()
	if tx.postgres() {
		lock = lock.For("NO KEY UPDATE")
	}
	if err := lock.Scan(ctx); err != nil {
		return err
	}
	others, err := tx.db.NewSelect().Model((*Member)(nil)).Join("JOIN accounts AS a ON a.name = member.user_name AND a.disabled_at = 0").
		Where("member.account = ?", org).Where("member.role = 'admin'").Where("member.user_name <> ?", user).Limit(1).Count(ctx)
	if err == nil && others == 0 {
		return ErrLastAdmin
	}
	return err
}

// Members returns at most n members of org after the one with a name, in the order of
// their names.
func (v *View) Members(ctx context.Context, org, after string, n int) ([]Member, error) {
	if err := v.needKind(ctx, org, KindOrg); err != nil {
		return nil, err
	}
	var all []Member
	err := v.db.NewSelect().Model(&all).Where("account = ?", org).Where("user_name > ?", after).Order("user_name").Limit(int64(n)).Scan(ctx)
	return all, err
}

// MembersOf returns the members of org in the order of their names.
func (v *View) MembersOf(ctx context.Context, org string) ([]Member, error) {
	if err := v.needKind(ctx, org, KindOrg); err != nil {
		return nil, err
	}
	var all []Member
	return all, v.db.NewSelect().Model(&all).Where("account = ?", org).Order("user_name").Scan(ctx)
}

// MembershipsOf returns the roles of user on orgs that are not disabled, in the orgs' order.
func (v *View) MembershipsOf(ctx context.Context, user string) ([]Member, error) {
	var all []Member
	err := v.db.NewSelect().Model(&all).
		Join("JOIN accounts AS a ON a.name = member.account AND a.disabled_at = 0").
		Where("member.user_name = ?", user).Order("member.account").Scan(ctx)
	return all, err
}

// RoleOf returns the role that user has on account as a member, "" for none.
func (v *View) RoleOf(ctx context.Context, user, account string) (string, error) {
	var role string
	err := v.db.NewSelect().Model((*Member)(nil)).Column("member.role").
		Join("JOIN accounts AS a ON a.name = member.account AND a.disabled_at = 0").
		Where("member.user_name = ?", user).Where("member.account = ?", account).Scan(ctx, &role)
	if errors.Is(wrap(err), ErrNotFound) {
		return "", nil
	}
	return role, err
}
