package store

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"
)

// Kinds of link.
const (
	LinkSignIn     = "sign-in"
	LinkInvitation = "invitation"
)

// How long links can be used.
const (
	PageLinkLife    = time.Minute    // to a page, for the browser next to the terminal
	AccountLinkLife = 24 * time.Hour // to sign in, and for invitations, which are sent to people
)

// maxLinks bounds how many links of one account can be used at a time.
const maxLinks = 100

// ErrTooMany says that there are as many of something as one account can have.
var ErrTooMany = errors.New("too many")

// Link does one thing once, for the browser in which it is opened.
type Link struct {
	bun.BaseModel `bun:"table:links"`

	Account   string `bun:",pk"` // the user that signs in, or the org that invites
	Hash      string `bun:",pk"` // SHA-256 of the secret in the link
	Kind      string
	Token     string // hash of the token with which it was created; "": none
	Scopes    string // of the session, separated by spaces
	Role      string // that an invitation gives
	Page      string // where the browser goes
	CreatedBy string // a user; "": the hub's administrator
	CreatedAt Time
	ExpiresAt Time
	UsedAt    Time
}

// CreateLink stores a link that can be used for life from now on. ErrTooMany if the
// account has too many that were not used.
func (tx *Tx) CreateLink(ctx context.Context, l *Link, life time.Duration) error {
	kind := KindUser
	if l.Kind == LinkInvitation {
		kind = KindOrg
	}
	if err := tx.needKind(ctx, l.Account, kind); err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.db.NewDelete().Model((*Link)(nil)).Where("account = ?", l.Account).
		Where("expires_at <= ?", now.add(-AccountLinkLife)).Exec(ctx) // until then the page can say why it does not work
	if err != nil {
		return err
	}
	open, err := tx.db.NewSelect().Model((*Link)(nil)).Where("account = ?", l.Account).
		Where("used_at = 0").Where("expires_at > ?", now).Count(ctx)
	if err != nil {
		return err
	}
	if open >= maxLinks {
		return ErrTooMany
	}
	l.CreatedAt, l.ExpiresAt = now, now.add(life)
	_, err = tx.db.NewInsert().Model(l).Exec(ctx)
	return err
}

// Link returns the link of account with this hash, and whether it has expired;
// ErrNotFound if there is none.
func (v *View) Link(ctx context.Context, account, hash string) (l *Link, expired bool, err error) {
	now, err := v.Now(ctx)
	if err != nil {
		return nil, false, err
	}
	l = &Link{Account: account, Hash: hash}
	err = wrap(v.db.NewSelect().Model(l).WherePK().Scan(ctx))
	return l, l.ExpiresAt <= now, err
}

// UseLink marks a link as used, and reports whether it could be: of any transactions
// that use one link, one can.
func (tx *Tx) UseLink(ctx context.Context, account, hash string) (bool, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	n, err := affected(tx.db.NewUpdate().Model((*Link)(nil)).Set("used_at = ?", now).
		Where("account = ?", account).Where("hash = ?", hash).Where("used_at = 0").Where("expires_at > ?", now).Exec(ctx))
	return n > 0, err
}

// deleteLinks deletes the links that sign a user in, and the invitations of that user, and
// returns how many there were.
func (tx *Tx) deleteLinks(ctx context.Context, user string) (int, error) {
	return affected(tx.db.NewDelete().Model((*Link)(nil)).
		Where("account = ? AND kind = ? OR created_by = ? AND kind = ?", user, LinkSignIn, user, LinkInvitation).Exec(ctx))
}
