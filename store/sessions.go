package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// How long a session lasts: without a request, and at most.
const (
	SessionIdle = 12 * time.Hour
	SessionLife = 30 * 24 * time.Hour
)

// maxSessions bounds how many sessions of one user are kept; the one that was used
// least recently makes way.
const maxSessions = 50

// Session is a browser that is signed in, as the hub stores it: everything but the cookie.
type Session struct {
	bun.BaseModel `bun:"table:sessions"`

	User      string `bun:"user_name,pk"`
	Hash      string `bun:",pk"` // SHA-256 of the secret in the cookie
	Token     string // hash of the token that signed in; "": the user's own rights
	Scopes    string // separated by spaces
	Agent     string // what the browser calls itself
	Address   string // where it signed in from
	CreatedAt Time
	ExpiresAt Time
	SeenAt    Time
}

// ID names a session in lists: the first 12 digits of its hash.
func (s *Session) ID() string { return s.Hash[:idLength] }

// SignedIn is what authentication needs to know of a session, as of now.
type SignedIn struct {
	Session
	TokenName   string // of the token behind it
	Restriction        // of that token
	TokenEnds   Time   // when that expires; 0: never, or there is none
	Ended       bool   // expired, idle for too long, or its token is revoked or expired
	Disabled    bool   // the user's account is
	Stale       bool   // the last use was stored more than a minute ago
}

// ScopeList returns the session's scopes.
func (s *Session) ScopeList() []string { return strings.Fields(s.Scopes) }

// errForeignToken is the error of a session that would have the rights of a token that
// is not the user's: the tokens of bots are owned by the account, which may be a user.
var errForeignToken = errors.New("the token is not one of the user")

// CreateSession stores a session that begins now. User, Hash, Token, Scopes, Agent and
// Address are the caller's; a session ends with its token. Sessions of the user that
// have ended are deleted.
func (tx *Tx) CreateSession(ctx context.Context, s *Session) error {
	if err := tx.needKind(ctx, s.User, KindUser); err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	s.CreatedAt, s.SeenAt, s.ExpiresAt = now, now, now.add(SessionLife)
	if s.Token != "" {
		token, err := tx.Bearer(ctx, s.Token)
		if err != nil {
			return err
		}
		if token.Owner != s.User || token.Bot != "" {
			return errForeignToken
		}
		if token.ExpiresAt != 0 {
			s.ExpiresAt = min(s.ExpiresAt, token.ExpiresAt)
		}
	}
	if _, err := tx.db.NewInsert().Model(s).Exec(ctx); err != nil {
		return err
	}
	return tx.purgeSessions(ctx, s.User, now)
}

// purgeSessions deletes the sessions of a user that have ended, and the oldest ones above
// the limit.
func (tx *Tx) purgeSessions(ctx context.Context, user string, now Time) error {
	_, err := tx.db.NewDelete().Model((*Session)(nil)).Where("user_name = ?", user).
		Where("expires_at <= ? OR seen_at <= ?", now, now.add(-SessionIdle)).Exec(ctx)
	if err != nil {
		return err
	}
	var hashes []string
	err = tx.db.NewSelect().Model((*Session)(nil)).Column("hash").Where("user_name = ?", user).
		OrderExpr("seen_at DESC, hash").Offset(maxSessions).Limit(chunk).Scan(ctx, &hashes)
	if err != nil || len(hashes) == 0 {
		return err
	}
	_, err = tx.db.NewDelete().Model((*Session)(nil)).Where("user_name = ?", user).Where("hash IN (?)", bun.List(hashes)).Exec(ctx)
	return err
}

// sessionColumns names the columns, so that a later release can add some.
const sessionColumns = "session.user_name, session.hash, session.token, session.scopes, session.agent, session.address, " +
	"session.created_at, session.expires_at, session.seen_at"

// SignedIn returns the session of user with this hash, or ErrNotFound.
func (v *View) SignedIn(ctx context.Context, user, hash string) (*SignedIn, error) {
	s, now := &SignedIn{}, v.nowSQL()
	return s, v.one(ctx, s, fmt.Sprintf(`SELECT %[1]s,
		COALESCE(t.name, '') AS token_name, COALESCE(t.expires_at, 0) AS token_ends,
		COALESCE(t.only_account, '') AS only_account, COALESCE(t.only_slug, '') AS only_slug,
		session.expires_at <= %[2]s OR session.seen_at <= %[2]s - %[3]d OR session.token <> '' AND
			(t.hash IS NULL OR t.revoked_at <> 0 OR t.expires_at <> 0 AND t.expires_at <= %[2]s) AS ended,
		a.disabled_at <> 0 AS disabled, session.seen_at < %[2]s - %[4]d AS stale
		FROM sessions AS session JOIN accounts AS a ON a.name = session.user_name LEFT JOIN tokens AS t ON t.hash = session.token
		WHERE session.user_name = ? AND session.hash = ?`, sessionColumns, now, SessionIdle.Microseconds(), time.Minute.Microseconds()), user, hash)
}

// SessionKey names a session.
type SessionKey struct{ User, Hash string }

// TouchSessions stores that sessions were used, a moment ago.
func (tx *Tx) TouchSessions(ctx context.Context, keys []SessionKey) error {
	slices.SortFunc(keys, func(a, b SessionKey) int { return strings.Compare(a.User+" "+a.Hash, b.User+" "+b.Hash) })
	for _, key := range keys {
		_, err := tx.db.NewUpdate().Model((*Session)(nil)).Set("seen_at = ?", tx.nowExpr()).
			Where("user_name = ?", key.User).Where("hash = ?", key.Hash).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// Sessions returns the sessions of a user that have not ended, the latest used first.
func (v *View) Sessions(ctx context.Context, user string) ([]SignedIn, error) {
	now, err := v.Now(ctx)
	if err != nil {
		return nil, err
	}
	var all []SignedIn
	err = v.db.NewSelect().TableExpr("sessions AS session").ColumnExpr("?", bun.Safe(sessionColumns)).ColumnExpr("COALESCE(t.name, '') AS token_name").
		ColumnExpr("COALESCE(t.only_account, '') AS only_account, COALESCE(t.only_slug, '') AS only_slug").
		Join("LEFT JOIN tokens AS t ON t.hash = session.token").
		Where("session.user_name = ?", user).Where("session.expires_at > ?", now).Where("session.seen_at > ?", now.add(-SessionIdle)).
		Where("session.token = '' OR t.revoked_at = 0 AND (t.expires_at = 0 OR t.expires_at > ?)", now).
		OrderExpr("session.seen_at DESC, session.hash").Scan(ctx, &all)
	return all, err
}

// EndSession ends the sessions of user whose hash starts with id, and reports whether
// there was one.
func (tx *Tx) EndSession(ctx context.Context, user, id string) (bool, error) {
	if err := tx.ChangeRights(ctx, user); err != nil {
		return false, err
	}
	n, err := tx.endSessions(ctx, user, id)
	return n > 0, err
}

func (tx *Tx) endSessions(ctx context.Context, user, id string) (int, error) {
	return affected(tx.db.NewDelete().Model((*Session)(nil)).Where("user_name = ?", user).
		Where("hash >= ?", id).Where("hash < ?", id+"~").Exec(ctx))
}
