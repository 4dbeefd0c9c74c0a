package store

import (
	"errors"
	"fmt"

	"example.com/projecthub/store/sqldb"
)

// Kinds of accounts.
const (
	KindUser = "user"
	KindOrg  = "org"
)

// Account owns projects, stacks, APIs and bots.
type Account struct {
	ID                    int64
	Name, Kind            string
	CreatedAt, DisabledAt Time
}

const accountColumns = "id, name, kind, created_at, disabled_at"

func accountFields(a *Account) []any {
	return sqldb.Row(&a.ID, &a.Name, &a.Kind, &a.CreatedAt, &a.DisabledAt)
}

// CreateAccount adds an account; ErrExists if the name is taken.
func (tx *Tx) CreateAccount(name, kind string) error {
	added, err := tx.change("INSERT INTO accounts (name, kind, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		name, kind, tx.Now())
	if err == nil && !added { // without ON CONFLICT, PostgreSQL would roll back the transaction
		err = ErrExists
	}
	return err
}

// Account returns the account with that name; a *[NoAccountError] if there is none.
func (v View) Account(name string) (*Account, error) {
	a := &Account{}
	err := v.One(accountFields(a), "SELECT "+accountColumns+" FROM accounts WHERE name = ?", name)
	if errors.Is(err, ErrNotFound) {
		err = &NoAccountError{name}
	}
	return a, err
}

// Accounts returns all accounts, ordered by name.
func (v View) Accounts() ([]Account, error) {
	return sqldb.All(v, accountFields, "SELECT "+accountColumns+" FROM accounts ORDER BY name")
}

// SetDisabled disables an account: its tokens and sessions, and those of its bots, work no longer, members have no
// role on it, and its public projects are hidden. With false it enables the account. It reports whether that changed
// anything; a *[NoAccountError] if there is no such account.
func (tx *Tx) SetDisabled(name string, disabled bool) (changed bool, err error) {
	a, err := tx.Account(name)
	if isDisabled := a.DisabledAt != 0; err != nil || isDisabled == disabled {
		return false, err
	}
	at := Time(0)
	if disabled {
		at = tx.Now()
	}
	return tx.change("UPDATE accounts SET disabled_at = ? WHERE id = ? AND disabled_at = ?", at, a.ID, a.DisabledAt)
}

// NoAccountError says that the account Name does not exist. It is an ErrNotFound.
type NoAccountError struct{ Name string }

func (e *NoAccountError) Error() string        { return "account " + e.Name + " does not exist" }
func (e *NoAccountError) Is(target error) bool { return target == ErrNotFound }

// KindError says that the account Name is of the kind Is, where the kind Needed is required.
type KindError struct{ Name, Is, Needed string }

func (e *KindError) Error() string {
	article := map[string]string{KindUser: "a user", KindOrg: "an org"}
	return fmt.Sprintf("%s is %s, not %s", e.Name, article[e.Is], article[e.Needed])
}

// accountOf returns the account with that name; a *[KindError] if it is of another kind.
func (v View) accountOf(name, kind string) (*Account, error) {
	a, err := v.Account(name)
	if err == nil && a.Kind != kind {
		return nil, &KindError{Name: name, Is: a.Kind, Needed: kind}
	}
	return a, err
}

// lockAccount makes other transactions that lock the account wait until this one ends: those that create or revoke its
// tokens and sessions. It comes before locks of those, so that no two transactions wait for each other.
func (tx *Tx) lockAccount(id int64) error {
	return tx.One(sqldb.Row(new(int64)), "SELECT id FROM accounts WHERE id = ? @lock", id)
}

// Member gives a user a role on an org.
type Member struct{ User, Account, Role string }

const selectMembers = `SELECT u.name, o.name, m.role
	FROM members m JOIN accounts u ON u.id = m.user_id JOIN accounts o ON o.id = m.account_id `

func memberFields(m *Member) []any { return sqldb.Row(&m.User, &m.Account, &m.Role) }

// SetMember sets the role of a user on an org.
func (tx *Tx) SetMember(org, user, role string) error {
	o, u, err := tx.member(org, user)
	if err != nil {
		return err
	}
	return tx.exec(`INSERT INTO members (account_id, user_id, role) VALUES (?, ?, ?)
		ON CONFLICT (user_id, account_id) DO UPDATE SET role = excluded.role`, o.ID, u.ID, role)
}

// RemoveMember removes a user from an org, and reports whether the user was a member.
func (tx *Tx) RemoveMember(org, user string) (bool, error) {
	o, u, err := tx.member(org, user)
	if err != nil {
		return false, err
	}
	return tx.change("DELETE FROM members WHERE account_id = ? AND user_id = ?", o.ID, u.ID)
}

// member returns an org, locked so that changes of its members wait for each other, and a user.
func (tx *Tx) member(org, user string) (o, u *Account, err error) {
	if o, err = tx.accountOf(org, KindOrg); err != nil {
		return nil, nil, err
	}
	if err := tx.lockAccount(o.ID); err != nil {
		return nil, nil, err
	}
	u, err = tx.accountOf(user, KindUser)
	return o, u, err
}

// LockMember returns the role of a user on an org, "" for none, and makes other changes of its
// members wait for the end of the transaction.
func (tx *Tx) LockMember(org, user string) (role string, err error) {
	err = tx.One(sqldb.Row(new(int64)), "SELECT id FROM accounts WHERE name = ? @lock", org)
	var m Member
	if err == nil {
		err = tx.One(memberFields(&m), selectMembers+"WHERE u.name = ? AND o.name = ? AND o.disabled_at = 0", user, org)
	}
	if errors.Is(err, ErrNotFound) { // no such org, or no member of it
		return "", nil
	}
	return m.Role, err
}

// HasOtherAdmin reports whether an org has an admin besides a user, one whose account is not disabled. It stays true
// until the end of a transaction that has called [Tx.LockMember] before.
func (v View) HasOtherAdmin(org, user string) (bool, error) {
	return v.Exists(selectMembers+"WHERE o.name = ? AND u.name <> ? AND m.role = 'admin' AND u.disabled_at = 0", org, user)
}

// IsMember reports whether a user has a role on an org.
func (v View) IsMember(org, user string) (bool, error) {
	return v.Exists(selectMembers+"WHERE o.name = ? AND u.name = ?", org, user)
}

// Members returns at most n members of an org, ordered by name, beginning after the name after.
func (v View) Members(org, after string, n int) ([]Member, error) {
	if _, err := v.accountOf(org, KindOrg); err != nil {
		return nil, err
	}
	return sqldb.All(v, memberFields,
		selectMembers+"WHERE o.name = ? AND u.name > ? ORDER BY u.name LIMIT ?", org, after, n)
}

// MembershipsOf returns the roles of a user on orgs that are not disabled, ordered by the names of the orgs.
func (v View) MembershipsOf(user int64) ([]Member, error) {
	return sqldb.All(v, memberFields, selectMembers+"WHERE u.id = ? AND o.disabled_at = 0 ORDER BY o.name", user)
}
