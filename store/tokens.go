package store

import (
	"errors"
	"slices"
	"time"

	"example.com/projecthub/store/sqldb"
)

// Token is a personal access token as it is stored: everything but the token itself.
type Token struct {
	ID        int64
	Hash      string // SHA-256 of the token
	Shown     string // its first 12 characters
	Name      string
	AccountID int64
	Owner     string // name of that account: a user, or the account of a bot
	BotID     int64  // 0: a user's token
	BotRefID  string // of the bot
	ParentID  int64  // of the token with which it was created, and is revoked; 0: none
	Scopes    string // separated by spaces
	Only      Restriction
	CreatedAt Time
	ExpiresAt Time // 0: never
	RevokedAt Time
	UsedAt    Time
}

// idLength is how many digits of a hash are the short ID of a token or a session.
const idLength = 12

// ShortID returns the first 12 digits of the token's hash, its ID in lists and for its revocation.
func (t *Token) ShortID() string { return t.Hash[:min(idLength, len(t.Hash))] }

// selectPATs selects personal access tokens. A name with Token looks like a credential to the linter.
const selectPATs = `SELECT t.id, t.hash, t.shown, t.name, t.account_id, a.name, COALESCE(t.bot_id, 0),
	COALESCE(b.bot_ref_id, ''), COALESCE(t.parent_id, 0), t.scopes, COALESCE(t.only_account_id, 0),
	COALESCE(t.resource_id, 0), COALESCE(o.name, ''), COALESCE(r.slug, ''),
	t.created_at, t.expires_at, t.revoked_at, t.used_at
	FROM tokens t JOIN accounts a ON a.id = t.account_id LEFT JOIN bots b ON b.id = t.bot_id
	LEFT JOIN accounts o ON o.id = t.only_account_id LEFT JOIN resources r ON r.id = t.resource_id `

func tokenFields(t *Token) []any {
	return sqldb.Row(&t.ID, &t.Hash, &t.Shown, &t.Name, &t.AccountID, &t.Owner, &t.BotID, &t.BotRefID, &t.ParentID,
		&t.Scopes, &t.Only.AccountID, &t.Only.ResourceID, &t.Only.Account, &t.Only.Slug,
		&t.CreatedAt, &t.ExpiresAt, &t.RevokedAt, &t.UsedAt)
}

// Token returns the token with this hash.
func (v View) Token(hash string) (*Token, error) {
	t := &Token{}
	err := v.One(tokenFields(t), selectPATs+"WHERE t.hash = ?", hash)
	return t, err
}

// TokenOf returns the token of an account, or of one of its bots, by its short ID.
func (v View) TokenOf(account int64, id string) (*Token, error) {
	if len(id) != idLength {
		return nil, ErrNotFound
	}
	t := &Token{}
	err := v.One(tokenFields(t), selectPATs+"WHERE t.account_id = ? AND t.hash >= ? AND t.hash < ? LIMIT 1",
		account, id, id+"~")
	return t, err
}

// Tokens returns the tokens of an account and of its bots, oldest first; with owner "" those of all accounts.
func (v View) Tokens(owner string) ([]Token, error) {
	if owner == "" {
		return sqldb.All(v, tokenFields, selectPATs+"ORDER BY a.name, t.created_at, t.id")
	}
	if _, err := v.Account(owner); err != nil {
		return nil, err
	}
	return sqldb.All(v, tokenFields, selectPATs+"WHERE a.name = ? ORDER BY t.created_at, t.id", owner)
}

// valid selects the tokens that were not revoked and have not expired.
const valid = " AND t.revoked_at = 0 AND (t.expires_at = 0 OR t.expires_at > @now) "

// ValidTokens returns the valid tokens of one account and of its bots, oldest first.
func (v View) ValidTokens(account int64) ([]Token, error) {
	return sqldb.All(v, tokenFields,
		selectPATs+"WHERE t.account_id = ?"+valid+"ORDER BY t.created_at, t.id", account)
}

// BotTokens returns the valid tokens of a bot, oldest first.
func (v View) BotTokens(bot int64) ([]Token, error) {
	return sqldb.All(v, tokenFields, selectPATs+"WHERE t.bot_id = ?"+valid+"ORDER BY t.created_at, t.id", bot)
}

// Errors of creating and revoking tokens, sessions, links and devices.
var (
	ErrRevoked   = errors.New("the token or session that creates it was revoked, or has expired")
	ErrTooMany   = errors.New("too many") // as many as one account can have
	ErrAmbiguous = errors.New("more than one token has this ID")
)

// maxTokens bounds how many valid tokens of one user or bot [Tx.MintToken] creates.
const maxTokens = 200

// MintToken is [Tx.CreateToken] on behalf of a user, for the user or a bot. ErrRevoked if the parent is revoked or has
// expired, ErrTooMany if the user or the bot has 200 valid tokens.
func (tx *Tx) MintToken(t *Token) error {
	if err := tx.lockAccount(t.AccountID); err != nil { // so that no revocation misses it
		return err
	}
	var hasParent bool
	var n int
	err := tx.One(sqldb.Row(&hasParent, &n), "SELECT EXISTS (SELECT 1 FROM tokens t WHERE t.id = ?"+valid+`), COUNT(*)
		FROM tokens t WHERE t.account_id = ? AND COALESCE(t.bot_id, 0) = ?`+valid, t.ParentID, t.AccountID, t.BotID)
	switch {
	case err != nil:
		return err
	case t.ParentID != 0 && !hasParent:
		return ErrRevoked
	case n >= maxTokens:
		return ErrTooMany
	}
	return tx.CreateToken(t)
}

// ReplaceToken revokes the token former, and creates another one of the same user in its place. former becomes its
// parent: a list that still shows former can so revoke the new one. ErrRevoked if former was revoked already.
func (tx *Tx) ReplaceToken(t *Token, former string) (*RevokedToken, error) {
	revoked, err := tx.RevokeToken(former)
	if err == nil && revoked.WasRevoked {
		err = ErrRevoked
	}
	if err != nil {
		return nil, err
	}
	t.ParentID = revoked.ID
	return revoked, tx.CreateToken(t)
}

// CreateToken stores a token of a user, or of a bot of the account. The caller sets Hash, Shown, Name, Scopes,
// ExpiresAt, ParentID, Only and BotID, and AccountID or else Owner; CreateToken sets ID, AccountID and CreatedAt. A
// *[KindError] if the account of a user's token is an org.
func (tx *Tx) CreateToken(t *Token) error {
	if t.AccountID == 0 {
		a, err := tx.Account(t.Owner)
		if err == nil && t.BotID == 0 && a.Kind != KindUser {
			err = &KindError{Name: a.Name, Is: a.Kind, Needed: KindUser}
		}
		if err != nil {
			return err
		}
		t.AccountID = a.ID
	}
	if t.Only.ResourceID != 0 { // so that a deletion of the resource does not miss the token
		if err := tx.lock(t.Only.ResourceID); err != nil {
			return err
		}
	}
	t.CreatedAt = tx.Now()
	return tx.One(sqldb.Row(&t.ID), `INSERT INTO tokens (hash, shown, name, account_id, bot_id, parent_id, scopes,
		only_account_id, resource_id, created_at, expires_at, revoked_at) VALUES (`+sqldb.List(12)+") RETURNING id",
		t.Hash, t.Shown, t.Name, t.AccountID, orNull(t.BotID), orNull(t.ParentID), t.Scopes,
		orNull(t.Only.AccountID), orNull(t.Only.ResourceID), t.CreatedAt, t.ExpiresAt, t.RevokedAt)
}

// RevokedToken is what [Tx.RevokeToken] has revoked.
type RevokedToken struct {
	Token
	WasRevoked bool    // it was revoked before
	With       []Token // valid tokens that were created with it, directly or not, oldest first
}

// RevokeToken revokes the token whose hash starts with id, and the valid ones that were created with it. It succeeds
// also if the token was revoked before. ErrNotFound or ErrAmbiguous if id does not name exactly one token.
func (tx *Tx) RevokeToken(id string) (*RevokedToken, error) {
	found, err := sqldb.All(tx, func(t *Token) []any { return sqldb.Row(&t.ID, &t.AccountID) },
		"SELECT id, account_id FROM tokens WHERE hash >= ? AND hash < ? LIMIT 2", id, id+"~")
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, ErrNotFound
	case len(found) == 2:
		return nil, ErrAmbiguous
	}
	token := found[0].ID
	// The account is locked, so that no token is created meanwhile that this would miss. Other revocations do not wait.
	err = tx.One(sqldb.Row(new(int64)), "SELECT id FROM accounts WHERE id = ? @share", found[0].AccountID)
	if err != nil {
		return nil, err
	}
	// Expired ones stay as they are: there may be any number of them.
	ended, err := tx.revokeAll(`id = ? OR (expires_at = 0 OR expires_at > @now) AND id IN (WITH RECURSIVE ended (id) AS (
		SELECT id FROM tokens WHERE parent_id = ? UNION SELECT c.id FROM tokens c JOIN ended ON c.parent_id = ended.id)
		SELECT id FROM ended)`, token, token)
	if err != nil {
		return nil, err
	}
	revoked := &RevokedToken{WasRevoked: !slices.Contains(ended, token)}
	if err := tx.One(tokenFields(&revoked.Token), selectPATs+"WHERE t.id = ?", token); err != nil {
		return nil, err
	}
	slices.Sort(ended)
	for part := range slices.Chunk(ended, 512) {
		ofThese, ids := in(part)
		all, err := sqldb.All(tx, tokenFields, selectPATs+"WHERE t.id "+ofThese+" AND t.id <> ? ORDER BY t.id",
			append(ids, token)...)
		if err != nil {
			return nil, err
		}
		revoked.With = append(revoked.With, all...)
	}
	return revoked, nil
}

// RestrictedTokens counts the tokens that are restricted to a resource and not revoked.
func (v View) RestrictedTokens(resource int64) (n int, err error) {
	err = v.One(sqldb.Row(&n), "SELECT COUNT(*) FROM tokens WHERE resource_id = ? AND revoked_at = 0", resource)
	return n, err
}

// revokeAll revokes the valid tokens that a condition selects, locked in one order, and returns their ids.
func (tx *Tx) revokeAll(where string, args ...any) ([]int64, error) {
	return sqldb.Column[int64](tx, "UPDATE tokens SET revoked_at = ? WHERE id IN (SELECT id FROM tokens "+
		"WHERE revoked_at = 0 AND ("+where+") ORDER BY id @lock) RETURNING id", append([]any{tx.Now()}, args...)...)
}

// Revoked counts what [Tx.RevokeTokensOf] has ended.
type Revoked struct {
	Tokens   int // that were not revoked before
	Sessions int
	Links    int // and invitations
	Devices  int // terminals for which the user has approved a token
}

// RevokeTokensOf revokes all tokens of an account and of its bots. Of a user it also ends all sessions, links and
// approvals of terminals.
func (tx *Tx) RevokeTokensOf(owner string) (r Revoked, err error) {
	a, err := tx.Account(owner)
	if err != nil {
		return r, err
	}
	if err := tx.lockAccount(a.ID); err != nil {
		return r, err
	}
	ended, err := tx.revokeAll("account_id = ?", a.ID)
	if err != nil {
		return r, err
	}
	r.Tokens = len(ended)
	if r.Sessions, err = tx.count("DELETE FROM sessions WHERE user_id = ?", a.ID); err != nil {
		return r, err
	}
	r.Links, err = tx.count("DELETE FROM links WHERE account_id = ? AND kind = ? OR created_by = ? AND kind = ?",
		a.ID, LinkSignIn, a.ID, LinkInvitation)
	if err != nil {
		return r, err
	}
	r.Devices, err = tx.count("UPDATE devices SET state = ? WHERE user_id = ? AND state IN (?, ?)",
		DeviceDenied, a.ID, DeviceApproved, DeviceDone)
	return r, err
}

// KeepTokens is how long revoked and expired tokens are kept, so that lists show them, and errors can say what is wrong
// with them. The audit log keeps what happened to them.
const KeepTokens = 90 * 24 * time.Hour
