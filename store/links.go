package store

import (
	"time"

	"example.com/projecthub/store/sqldb"
)

// Kinds of links.
const (
	LinkSignIn     = "sign-in"
	LinkInvitation = "invitation"
)

// How long links can be used.
const (
	PageLinkLife    = time.Minute    // of one that a terminal opens in a browser
	AccountLinkLife = 24 * time.Hour // of one that is sent to a person, such as an invitation
)

// maxLinks bounds how many unused links an account has for each token that created them, and without a token. The count
// is by token, so that a weak token cannot keep others from creating links.
const maxLinks = 100

// Link is the address of a page that can be used once: it signs a browser in, or gives the user who opens it a role.
type Link struct {
	ID          int64
	Hash        string // SHA-256 of the secret in the link
	Kind        string
	AccountID   int64
	Account     string // its name: the user that signs in, or the org that invites
	TokenID     int64  // with which it was created; 0: none
	CreatedByID int64  // a user; 0: the hub's administrator
	CreatedBy   string // name of that user
	Scopes      string // of the session, separated by spaces
	Role        string // that an invitation gives
	Page        string // where the browser goes

	CreatedAt, ExpiresAt, UsedAt Time

	Expired bool // when it was read
	Void    bool // its account or creator is disabled, its token ended, or its creator is no longer an admin
}

// CreateLink stores a link that can be used for a time from now on. The caller sets Hash, Kind, Account, TokenID,
// CreatedByID, Scopes, Role and Page. ErrTooMany if the account has too many unused ones of the same token; a
// *[NoAccountError] or *[KindError] unless Account is a user, or for an invitation an org.
func (tx *Tx) CreateLink(l *Link, life time.Duration) error {
	kind := KindUser
	if l.Kind == LinkInvitation {
		kind = KindOrg
	}
	account, err := tx.accountOf(l.Account, kind)
	if err != nil {
		return err
	}
	now := tx.Now()
	l.AccountID, l.CreatedAt, l.ExpiresAt = account.ID, now, now.Add(life)
	var open int
	err = tx.One(sqldb.Row(&open), `SELECT COUNT(*) FROM links
		WHERE account_id = ? AND COALESCE(token_id, 0) = ? AND used_at = 0 AND expires_at > ?`, l.AccountID, l.TokenID, now)
	if err == nil && open >= maxLinks {
		err = ErrTooMany
	}
	if err != nil {
		return err
	}
	return tx.One(sqldb.Row(&l.ID), `INSERT INTO links
		(hash, kind, account_id, token_id, created_by, scopes, role, page, created_at, expires_at)
		VALUES (`+sqldb.List(10)+") RETURNING id",
		l.Hash, l.Kind, l.AccountID, orNull(l.TokenID), orNull(l.CreatedByID), l.Scopes, l.Role, l.Page,
		l.CreatedAt, l.ExpiresAt)
}

// Link returns the link with this hash.
func (v View) Link(hash string) (*Link, error) {
	l := &Link{}
	err := v.One(sqldb.Row(&l.ID, &l.Hash, &l.Kind, &l.AccountID, &l.Account, &l.TokenID, &l.CreatedByID, &l.CreatedBy,
		&l.Scopes, &l.Role, &l.Page, &l.CreatedAt, &l.ExpiresAt, &l.UsedAt, &l.Expired, &l.Void),
		`SELECT l.id, l.hash, l.kind, l.account_id, a.name, COALESCE(l.token_id, 0), COALESCE(l.created_by, 0),
		COALESCE(u.name, ''), l.scopes, l.role, l.page, l.created_at, l.expires_at, l.used_at, l.expires_at <= @now,
		a.disabled_at <> 0 OR COALESCE(u.disabled_at, 0) <> 0 OR
			t.id IS NOT NULL AND (t.revoked_at <> 0 OR t.expires_at <> 0 AND t.expires_at <= @now) OR
			l.kind = 'invitation' AND COALESCE(m.role, '') <> 'admin'
		FROM links l JOIN accounts a ON a.id = l.account_id LEFT JOIN accounts u ON u.id = l.created_by
		LEFT JOIN tokens t ON t.id = l.token_id
		LEFT JOIN members m ON m.user_id = l.created_by AND m.account_id = l.account_id
		WHERE l.hash = ?`, hash)
	return l, err
}

// LockLink makes transactions that revoke the token or the role behind a link wait until this one ends. It comes before
// the transaction reads whether the link can be used.
func (tx *Tx) LockLink(l *Link) error { return tx.lockAccount(l.AccountID) } // in the same order as RevokeTokensOf

// UseLink marks a link as used, and reports whether it could still be used: only the first transaction can.
func (tx *Tx) UseLink(l *Link) (bool, error) {
	return tx.change("UPDATE links SET used_at = ? WHERE id = ? AND used_at = 0 AND expires_at > ?",
		tx.Now(), l.ID, tx.Now())
}
