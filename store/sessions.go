package store

import (
	"errors"
	"slices"
	"time"

	"example.com/projecthub/store/sqldb"
)

// How long a session lasts: without a request, and in all.
const (
	SessionIdle = 12 * time.Hour
	SessionLife = 30 * 24 * time.Hour
)

// maxSessions bounds how many sessions of a user are kept for each token that began them, and without a token. The
// least recently used one is dropped. The count is by token, so that a weak token cannot end the sessions of others.
const maxSessions = 50

// Session is a browser that is signed in, as it is stored: everything but the secret in its cookie.
type Session struct {
	ID        int64
	Hash      string // SHA-256 of the secret in the cookie
	UserID    int64
	User      string // name of that account
	TokenID   int64  // of the token that signed in; 0: the user's own rights
	TokenName string
	Only      Restriction // of that token
	Scopes    string      // separated by spaces
	Agent     string      // what the browser calls itself
	Address   string      // where it signed in from

	CreatedAt, ExpiresAt, SeenAt Time
}

// ShortID returns the first 12 digits of the session's hash, its ID in lists.
func (s *Session) ShortID() string { return s.Hash[:min(idLength, len(s.Hash))] }

// errForeignToken is the error of a session with a token that is not the user's own. The token of a bot is not, even
// if the user's account owns the bot.
var errForeignToken = errors.New("the token does not belong to the user")

// CreateSession stores a session that begins now, and ends no later than its token. The caller sets Hash, TokenID,
// Scopes, Agent and Address, and UserID or else User. It deletes the user's sessions that have ended.
func (tx *Tx) CreateSession(s *Session) error {
	if s.UserID == 0 {
		user, err := tx.accountOf(s.User, KindUser)
		if err != nil {
			return err
		}
		s.UserID = user.ID
	}
	if err := tx.lockAccount(s.UserID); err != nil { // so that no revocation misses it
		return err
	}
	now := tx.Now()
	s.CreatedAt, s.SeenAt, s.ExpiresAt = now, now, now.Add(SessionLife)
	if s.TokenID != 0 {
		var ends Time
		err := tx.One(sqldb.Row(&ends), "SELECT expires_at FROM tokens WHERE id = ? AND account_id = ? AND bot_id IS NULL",
			s.TokenID, s.UserID)
		if errors.Is(err, ErrNotFound) {
			err = errForeignToken
		}
		if err != nil {
			return err
		}
		if ends != 0 {
			s.ExpiresAt = min(s.ExpiresAt, ends)
		}
	}
	err := tx.One(sqldb.Row(&s.ID), `INSERT INTO sessions
		(hash, user_id, token_id, scopes, agent, address, created_at, expires_at, seen_at) VALUES (`+sqldb.List(9)+
		") RETURNING id",
		s.Hash, s.UserID, orNull(s.TokenID), s.Scopes, s.Agent, s.Address, s.CreatedAt, s.ExpiresAt, s.SeenAt)
	if err != nil {
		return err
	}
	return tx.exec(`DELETE FROM sessions WHERE user_id = ? AND (expires_at <= ? OR seen_at <= ? OR
		COALESCE(token_id, 0) = ? AND id NOT IN (SELECT id FROM sessions WHERE user_id = ? AND COALESCE(token_id, 0) = ?
			ORDER BY seen_at DESC, id DESC LIMIT ?))`,
		s.UserID, now, now.Add(-SessionIdle), s.TokenID, s.UserID, s.TokenID, maxSessions)
}

// Sessions returns the sessions of a user that have not ended, the most recently used first.
func (v View) Sessions(user int64) ([]Session, error) {
	return sqldb.All(v, func(s *Session) []any {
		return sqldb.Row(&s.ID, &s.Hash, &s.UserID, &s.User, &s.TokenID, &s.TokenName, &s.Only.AccountID, &s.Only.ResourceID,
			&s.Only.Account, &s.Only.Slug, &s.Scopes, &s.Agent, &s.Address, &s.CreatedAt, &s.ExpiresAt, &s.SeenAt)
	}, `SELECT s.id, s.hash, s.user_id, u.name, COALESCE(t.id, 0), COALESCE(t.name, ''), COALESCE(t.only_account_id, 0),
		COALESCE(t.resource_id, 0), COALESCE(o.name, ''), COALESCE(r.slug, ''),
		s.scopes, s.agent, s.address, s.created_at, s.expires_at, s.seen_at
		FROM sessions s JOIN accounts u ON u.id = s.user_id LEFT JOIN tokens t ON t.id = s.token_id
		LEFT JOIN accounts o ON o.id = t.only_account_id LEFT JOIN resources r ON r.id = t.resource_id
		WHERE s.user_id = ? AND s.expires_at > @now AND s.seen_at > @now - ?
		AND (t.id IS NULL OR t.revoked_at = 0 AND (t.expires_at = 0 OR t.expires_at > @now))
		ORDER BY s.seen_at DESC, s.id DESC`, user, SessionIdle.Microseconds())
}

// EndSession ends the session with this hash, and reports whether there was one.
func (tx *Tx) EndSession(hash string) (bool, error) {
	return tx.change("DELETE FROM sessions WHERE hash = ?", hash)
}

// usesRows is how many ids an UPDATE has, at most.
const usesRows = 64

// MarkUsed stores that tokens and sessions, by id, were used now.
func (tx *Tx) MarkUsed(tokens, sessions []int64) error {
	if err := tx.markUsed("tokens", "used_at", tokens); err != nil {
		return err
	}
	return tx.markUsed("sessions", "seen_at", sessions)
}

func (tx *Tx) markUsed(table, column string, ids []int64) error {
	slices.Sort(ids) // rows are locked in this order, as by a revocation, so that the two do not deadlock
	for part := range slices.Chunk(ids, usesRows) {
		ofThese, args := in(part)
		err := tx.exec("UPDATE "+table+" SET "+column+" = ? WHERE id IN (SELECT id FROM "+table+
			" WHERE id "+ofThese+" ORDER BY id @lock)", append([]any{tx.Now()}, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}
