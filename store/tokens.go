package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"
)

// Token is a personal access token as the hub keeps it: everything but the token.
type Token struct {
	bun.BaseModel `bun:"table:tokens"`

	Hash       string `bun:",pk"` // SHA-256 of the token
	Shown      string // its first 12 characters
	Name       string
	Owner      string // a user
	Scopes     string // separated by spaces
	CreatedAt  Time
	ExpiresAt  Time // 0: never
	RevokedAt  Time
	LastUsedAt Time
}

// ID names a token in lists and for its revocation: the first 12 digits of its hash.
func (t *Token) ID() string { return t.Hash[:12] }

// ScopeList returns the token's scopes.
func (t *Token) ScopeList() []string { return strings.Fields(t.Scopes) }

// Bearer is what authentication needs to know of a token, as of now.
type Bearer struct {
	Token
	Expired  bool
	Disabled bool // the owner's account is
	Stale    bool // the last use was noted more than a minute ago
}

// CreateToken stores a token for an existing user. Hash, Shown, Name, Owner,
// Scopes and ExpiresAt are the caller's.
func (tx *Tx) CreateToken(ctx context.Context, t *Token) error {
	if err := tx.needKind(ctx, t.Owner, KindUser); err != nil {
		return err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	t.CreatedAt = now
	_, err = tx.db.NewInsert().Model(t).Exec(ctx)
	return err
}

// Bearer returns the token with this hash, or ErrNotFound.
func (v *View) Bearer(ctx context.Context, hash string) (*Bearer, error) {
	b, now := &Bearer{}, v.nowExpr()
	return b, v.one(ctx, b, `SELECT t.*, t.expires_at <> 0 AND t.expires_at <= ? AS expired,
		a.disabled_at <> 0 AS disabled, t.last_used_at < ? - 60000000 AS stale
		FROM tokens AS t JOIN accounts AS a ON a.name = t.owner WHERE t.hash = ?`, now, now, hash)
}

// TouchTokens stores that tokens were used, a moment ago.
func (tx *Tx) TouchTokens(ctx context.Context, hashes []string) error {
	slices.Sort(hashes)
	for part := range slices.Chunk(hashes, chunk) {
		_, err := tx.db.NewUpdate().Model((*Token)(nil)).Set("last_used_at = ?", tx.nowExpr()).
			Where("hash IN (?)", bun.List(part)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// Tokens returns the tokens of one user, of all with owner "", oldest first.
func (v *View) Tokens(ctx context.Context, owner string) ([]Token, error) {
	var all []Token
	q := v.db.NewSelect().Model(&all).Order("owner", "created_at", "hash")
	if owner != "" {
		if err := v.needKind(ctx, owner, KindUser); err != nil {
			return nil, err
		}
		q = q.Where("owner = ?", owner)
	}
	return all, q.Scan(ctx)
}

// ErrAmbiguous says that an id names more than one token.
var ErrAmbiguous = errors.New("more than one token has this id")

// RevokeToken ends the token whose hash starts with id, and returns it. Revoking
// twice is no error. ErrNotFound or ErrAmbiguous when id names not exactly one.
func (tx *Tx) RevokeToken(ctx context.Context, id string) (*Token, error) {
	var found []Token
	if err := tx.db.NewSelect().Model(&found).Where("hash >= ?", id).Where("hash < ?", id+"~").Limit(2).Scan(ctx); err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return nil, ErrNotFound
	case 2:
		return nil, ErrAmbiguous
	}
	token := &found[0]
	if err := tx.changeRights(ctx, token.Owner); err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	if token.RevokedAt == 0 {
		token.RevokedAt = now
	}
	_, err = tx.db.NewUpdate().Model(token).Column("revoked_at").WherePK().Where("revoked_at = 0").Exec(ctx)
	return token, err
}

// RevokeTokensOf ends every token of a user and returns how many were alive.
func (tx *Tx) RevokeTokensOf(ctx context.Context, owner string) (int, error) {
	if err := tx.needKind(ctx, owner, KindUser); err != nil {
		return 0, err
	}
	if err := tx.changeRights(ctx, owner); err != nil {
		return 0, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return 0, err
	}
	res, err := tx.db.NewUpdate().Model((*Token)(nil)).Set("revoked_at = ?", now).
		Where("owner = ?", owner).Where("revoked_at = 0").Exec(ctx)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
