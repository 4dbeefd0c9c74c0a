package hubserver

import (
	"context"
	"errors"
	"slices"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// grant is a role that the caller was found to have on an account, at least.
type grant struct {
	account string
	role    wire.Role
	read    *store.Admission // from which the role is; nil: a session
}

// transact runs f in a transaction of the store. All that a request writes for its
// caller goes through here, because the request may have been opened long ago: the
// token or session, its owner and the roles that let it in are read again, in the
// transaction.
func (c *call) transact(ctx context.Context, f func(*store.Tx) error) error {
	return c.s.Store.Write(ctx, func(tx *store.Tx) error {
		if err := c.permitAgain(ctx, tx); err != nil {
			return err
		}
		return f(tx)
	})
}

// lookUp returns what read finds in the store.
func lookUp[T any](c *call, read func(*store.View) (T, error)) (found T, err error) {
	err = c.s.Store.Read(c.ctx(), func(v *store.View) error {
		found, err = read(v)
		return err
	})
	return found, err
}

func (c *call) permitAgain(ctx context.Context, tx *store.Tx) error {
	accounts := []string{c.who.account}
	other := "" // one that is not the caller's own
	for _, g := range c.granted {
		accounts = append(accounts, g.account)
		if g.account != c.who.account {
			other = g.account
		}
	}
	lock := tx.LockRights
	if len(c.changesRights) > 0 {
		accounts, lock = append(accounts, c.changesRights...), tx.ChangeRights
	}
	if err := lock(ctx, accounts...); err != nil {
		return err
	}
	if c.writesConfig {
		tx.LockConfig(c.ref())
	}
	if same, err := c.sameRights(ctx, tx); err != nil || same {
		return err
	}
	read, err := c.who.checkOn(ctx, &tx.View, other)
	if err != nil {
		return err
	}
	for _, g := range c.granted {
		if g.account == c.who.account {
			continue
		}
		role := ""
		if g.account == other && read != nil {
			role = *read
		} else if role, err = tx.RoleOf(ctx, c.who.user, g.account); err != nil {
			return err
		}
		if rank(wire.Role(role)) < rank(g.role) {
			return c.who.notPermitted(wire.Role(role), g.account, g.role)
		}
	}
	return nil
}

// sameRights reports whether the rights with which the request was admitted are known to be
// unchanged, and its token has not expired.
func (c *call) sameRights(ctx context.Context, tx *store.Tx) (bool, error) {
	changed := func(a *store.Admission) bool { return a == nil || !tx.SameRights(a) }
	if changed(c.who.read) || slices.ContainsFunc(c.granted, func(g grant) bool { return changed(g.read) }) {
		return false, nil
	}
	now, err := tx.Now(ctx)
	return c.who.read.ExpiresAt == 0 || now < c.who.read.ExpiresAt, err
}

// bearerProblem says why a token that was looked up is not a valid one, or returns
// nil. err is that of the look-up.
func bearerProblem(b *store.Bearer, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unauthorized(wire.CodeUnauthorized, "this hub does not know the token")
	case err != nil:
		return err
	case b.RevokedAt != 0:
		return unauthorized(wire.CodeTokenRevoked, "the token was revoked")
	case b.Expired():
		return unauthorized(wire.CodeTokenExpired, "the token expired on "+b.ExpiresAt.Time().Format("2 January 2006"))
	case b.Disabled:
		return unauthorized(wire.CodeUnauthorized, "the account "+b.Owner+" is disabled").
			hint("none of its tokens works: ask the hub's administrator")
	}
	return nil
}
