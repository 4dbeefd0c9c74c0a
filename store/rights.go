package store

import (
	"context"
	"slices"
)

// LockRights makes changes to the tokens, the roles and the state of accounts wait
// for the end of the transaction, which relies on them. What it reads next is as it
// will be when it commits. SQLite runs one transaction at a time.
func (tx *Tx) LockRights(ctx context.Context, accounts ...string) error {
	return tx.rightsLock(ctx, "pg_advisory_xact_lock_shared", accounts...)
}

// ChangeRights makes the transaction wait for those that rely on the rights of accounts.
// The lock is fair: a stream of writes, unlike one of shared locks of a row, cannot keep a
// revocation waiting. A transaction that has called LockRights for one of them may wait for
// another one that has, and the other for it: call it first.
func (tx *Tx) ChangeRights(ctx context.Context, accounts ...string) error {
	if conn, ok := tx.db.(*liteConn); ok {
		conn.group.open.rights = true
	}
	return tx.rightsLock(ctx, "pg_advisory_xact_lock", accounts...)
}

// rightsLock takes the locks in the order of their accounts, so that no two transactions
// wait for each other.
func (tx *Tx) rightsLock(ctx context.Context, lock string, accounts ...string) error {
	if !tx.postgres() {
		return nil
	}
	slices.Sort(accounts)
	return tx.send(ctx, "SELECT "+lock+"(hashtextextended(current_schema() || ' rights of ' || account, 0)) "+
		"FROM unnest(?::text[]) AS account", accounts)
}

// SameRights reports whether no rights have changed since a was read, so that it is valid
// until the token expires. On PostgreSQL, where that is not known, it returns false.
//
// The group counts the transactions that changed rights, each after its commit, and all
// transactions of other processes. An admission has the count from before it was read.
func (tx *Tx) SameRights(a *Admission) bool {
	conn, ok := tx.db.(*liteConn)
	return ok && !conn.group.open.rights && a.rights == conn.group.rights.Load()
}
