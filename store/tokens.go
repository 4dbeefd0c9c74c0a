package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// Token is a personal access token as the hub keeps it: everything but the token.
type Token struct {
	bun.BaseModel `bun:"table:tokens"`

	Hash   string `bun:",pk"` // SHA-256 of the token
	Shown  string // its first 12 characters
	Name   string
	Owner  string // a user, or the account of a bot
	Bot    string // ID of the bot's RateLimit; "": a user's token
	Scopes string // separated by spaces
	Restriction
	CreatedAt  Time
	ExpiresAt  Time // 0: never
	RevokedAt  Time
	LastUsedAt Time
	BotRefID   string `bun:",scanonly"` // of the bot
}

// ID names a token in lists and for its revocation: the first 12 digits of its hash.
func (t *Token) ID() string { return t.Hash[:idLength] }

// idLength is the length of the IDs of tokens and sessions.
const idLength = 12

// ScopeList returns the token's scopes.
func (t *Token) ScopeList() []string { return strings.Fields(t.Scopes) }

// Restriction is the account, or the one project of it, to which a token is restricted;
// the zero value: to none.
type Restriction struct {
	OnlyAccount string
	OnlySlug    string // "": all of the account
}

// String returns @account or @account/slug, "" for none.
func (r Restriction) String() string {
	switch {
	case r.OnlyAccount == "":
		return ""
	case r.OnlySlug == "":
		return "@" + r.OnlyAccount
	}
	return "@" + r.OnlyAccount + "/" + r.OnlySlug
}

// Allows reports whether what is restricted to r may use what other names.
func (r Restriction) Allows(other Restriction) bool {
	return r.OnlyAccount == "" || r.OnlyAccount == other.OnlyAccount && (r.OnlySlug == "" || r.OnlySlug == other.OnlySlug)
}

// errRestricted is the error of a token whose parent is restricted: it could use up the
// tokens of its owner.
var errRestricted = errors.New("a restricted token creates no tokens")

// Bearer is what authentication needs to know of a token: all but CreatedAt.
type Bearer struct {
	Token
	Disabled bool // the owner's account is
	Now      Time // when this was read
}

// Expired reports whether the token had expired then.
func (b *Bearer) Expired() bool { return b.ExpiresAt != 0 && b.ExpiresAt <= b.Now }

// Stale reports whether the last use had been noted more than a minute before.
func (b *Bearer) Stale() bool { return b.LastUsedAt < b.Now.add(-time.Minute) }

// mintedToken says that a token was created with another one, its parent.
type mintedToken struct {
	bun.BaseModel `bun:"table:minted_tokens"`

	Owner  string `bun:",pk"`
	Hash   string `bun:",pk"`
	Parent string
}

// MintToken is [Tx.CreateToken] of a token that ends when parent, the hash of another
// token of its owner, is revoked; "": none. The parent must not be restricted. ErrTooMany if
// the user or bot has too many.
func (tx *Tx) MintToken(ctx context.Context, t *Token, parent string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	valid, err := tx.db.NewSelect().Model((*Token)(nil)).Where("owner = ?", t.Owner).Where("bot = ?", t.Bot).
		Where("revoked_at = 0").Where("expires_at = 0 OR expires_at > ?", now).Count(ctx)
	if err != nil {
		return err
	}
	if valid >= maxMinted {
		return ErrTooMany
	}
	if parent != "" {
		behind, err := tx.Bearer(ctx, parent)
		if err != nil {
			return err
		}
		if behind.OnlyAccount != "" {
			return errRestricted
		}
	}
	if err := tx.CreateToken(ctx, t); err != nil || parent == "" {
		return err
	}
	_, err = tx.db.NewInsert().Model(&mintedToken{Owner: t.Owner, Hash: t.Hash, Parent: parent}).Exec(ctx)
	return err
}

// maxMinted bounds how many valid tokens of one user or bot [Tx.MintToken] makes.
const maxMinted = 200

// CreateToken stores a token for an existing user or bot. Hash, Shown, Name, Owner,
// Bot, Scopes, Restriction and ExpiresAt are the caller's.
func (tx *Tx) CreateToken(ctx context.Context, t *Token) error {
	if t.Bot != "" {
		if err := tx.LockRights(ctx, t.Owner); err != nil { // so that the bot is not deleted meanwhile
			return err
		}
		if err := tx.db.NewSelect().Model(&RateLimit{Account: t.Owner, ID: t.Bot}).WherePK().Scan(ctx); err != nil {
			return err
		}
	} else if err := tx.needKind(ctx, t.Owner, KindUser); err != nil {
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

// Tokens returns the tokens of one account and of its bots, of all with owner "", oldest
// first.
func (v *View) Tokens(ctx context.Context, owner string) ([]Token, error) {
	var all []Token
	q := v.db.NewSelect().Model(&all).ColumnExpr("token.*, COALESCE(b.bot_ref_id, '') AS bot_ref_id").
		Join("LEFT JOIN rate_limits AS b ON b.account = token.owner AND b.id = token.bot").Order("owner", "created_at", "hash")
	if owner != "" {
		if _, err := v.needAccount(ctx, owner); err != nil {
			return nil, err
		}
		q = q.Where("owner = ?", owner)
	}
	return all, q.Scan(ctx)
}

// ValidTokens is [View.Tokens] of one account without those that were revoked or have expired.
func (v *View) ValidTokens(ctx context.Context, owner string) ([]Token, error) {
	var valid []Token
	return valid, v.db.NewSelect().Model(&valid).ColumnExpr("token.*, COALESCE(b.bot_ref_id, '') AS bot_ref_id").
		Join("LEFT JOIN rate_limits AS b ON b.account = token.owner AND b.id = token.bot").Where("owner = ?", owner).
		Where("revoked_at = 0").Where("expires_at = 0 OR expires_at > ?", v.nowExpr()).Order("created_at", "hash").Scan(ctx)
}

// ErrAmbiguous says that an id names more than one token.
var ErrAmbiguous = errors.New("more than one token has this id")

// RevokedToken is what [Tx.RevokeToken] ended.
type RevokedToken struct {
	Token
	WasRevoked bool    // before
	With       []Token // that were valid and created with it, oldest first
}

// RevokeToken ends the token whose hash starts with id and the valid ones that were created
// with it, and returns them. Revoking twice is not an error. ErrNotFound or ErrAmbiguous if
// id does not name exactly one token.
func (tx *Tx) RevokeToken(ctx context.Context, id string) (*RevokedToken, error) {
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
	revoked := &RevokedToken{Token: found[0], WasRevoked: found[0].RevokedAt != 0}
	if err := tx.ChangeRights(ctx, revoked.Owner); err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	if !revoked.WasRevoked {
		revoked.RevokedAt = now
	}
	revoked.With, err = tx.revoke(ctx, revoked.Owner, revoked.Hash, now)
	return revoked, err
}

// revoke ends a token and the valid ones that were created with it, and returns the latter,
// oldest first. One that has expired stays as it is: there may be any number of those.
func (tx *Tx) revoke(ctx context.Context, owner, hash string, now Time) ([]Token, error) {
	var ended []Token
	err := tx.db.NewRaw(`WITH RECURSIVE ended (hash) AS (SELECT hash FROM tokens WHERE hash = ? UNION
			SELECT m.hash FROM minted_tokens AS m JOIN ended ON m.parent = ended.hash WHERE m.owner = ?)
		UPDATE tokens SET revoked_at = ? WHERE hash IN (SELECT hash FROM ended) AND revoked_at = 0
			AND (hash = ? OR expires_at = 0 OR expires_at > ?) RETURNING *`, hash, owner, now, hash, now).Scan(ctx, &ended)
	ended = slices.DeleteFunc(ended, func(t Token) bool { return t.Hash == hash })
	slices.SortFunc(ended, func(a, b Token) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(a.Hash, b.Hash))
	})
	return ended, err
}

// RevokeOwnToken is [Tx.RevokeToken] for the tokens of one user and of their bots, by
// their whole ID. ErrNotFound for one that only does not allow.
func (tx *Tx) RevokeOwnToken(ctx context.Context, owner, id string, only Restriction) (*RevokedToken, error) {
	return tx.revokeOf(ctx, owner, id, only, nil)
}

// revokeOf revokes the token of an account, with bot only of that one.
func (tx *Tx) revokeOf(ctx context.Context, owner, id string, only Restriction, bot *string) (*RevokedToken, error) {
	var found []Token
	q := tx.db.NewSelect().Model(&found).Where("owner = ?", owner).Where("substr(hash, 1, ?) = ?", idLength, id).Limit(1)
	if bot != nil {
		q = q.Where("bot = ?", *bot)
	}
	if err := q.Scan(ctx); err != nil {
		return nil, err
	}
	if len(found) == 0 || !only.Allows(found[0].Restriction) {
		return nil, ErrNotFound
	}
	return tx.RevokeToken(ctx, found[0].Hash)
}

// Revoked counts what [Tx.RevokeTokensOf] ended.
type Revoked struct {
	Tokens   int // that were not revoked before
	Sessions int
	Links    int // and invitations
	Devices  int // terminals that a token was approved for
}

// RevokeTokensOf ends every token of an account and of its bots, and of a user every session
// and link, and what terminals were approved for.
func (tx *Tx) RevokeTokensOf(ctx context.Context, owner string) (r Revoked, err error) {
	if _, err := tx.needAccount(ctx, owner); err != nil {
		return r, err
	}
	if err := tx.ChangeRights(ctx, owner); err != nil {
		return r, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return r, err
	}
	r.Tokens, err = affected(tx.db.NewUpdate().Model((*Token)(nil)).Set("revoked_at = ?", now).
		Where("owner = ?", owner).Where("revoked_at = 0").Exec(ctx))
	if err == nil {
		r.Sessions, err = tx.endSessions(ctx, owner, "")
	}
	if err == nil {
		r.Devices, err = tx.denyDevices(ctx, owner)
	}
	if err == nil {
		r.Links, err = tx.deleteLinks(ctx, owner)
	}
	return r, err
}

// KeepTokens is how long tokens that were revoked or have expired are kept, so that lists and
// refusals say so. The audit log keeps what happened to them.
const KeepTokens = 90 * 24 * time.Hour

// PruneTokens deletes the tokens that ended longer than [KeepTokens] ago, and returns how
// many. It does nothing if it ended less than every ago. One with which others were created
// stays until they are deleted, so that revoking what it was created with reaches them.
func (s *Store) PruneTokens(ctx context.Context, every time.Duration) (removed int, err error) {
	const task = "tokens"
	if due, err := s.due(ctx, task, every); err != nil || !due {
		return 0, err
	}
	after := ""
	for {
		var cutoff Time
		var page []string
		err := s.Read(ctx, func(v *View) error {
			now, err := v.Now(ctx)
			if err != nil {
				return err
			}
			cutoff = now.add(-KeepTokens)
			return v.db.NewSelect().Model((*Token)(nil)).Column("hash").Where("hash > ?", after).Where(endedBefore, cutoff, cutoff).
				Order("hash").Limit(chunk).Scan(ctx, &page)
		})
		if err != nil {
			return removed, err
		}
		if len(page) == 0 {
			return removed, s.ran(ctx, run{Task: task})
		}
		n := 0
		if err := s.Write(ctx, func(tx *Tx) (err error) { n, err = tx.deleteTokens(ctx, page, cutoff); return err }); err != nil {
			return removed, err
		}
		removed, after = removed+n, page[len(page)-1]
	}
}

const endedBefore = "(revoked_at <> 0 AND revoked_at < ? OR expires_at <> 0 AND expires_at < ?)"

// deleteTokens deletes those of tokens that ended before the cutoff, and have no children.
func (tx *Tx) deleteTokens(ctx context.Context, hashes []string, cutoff Time) (n int, err error) {
	n, err = affected(tx.db.NewDelete().Model((*Token)(nil)).Where("hash IN (?)", bun.List(hashes)).Where(endedBefore, cutoff, cutoff).
		Where("NOT EXISTS (SELECT 1 FROM minted_tokens AS m WHERE m.owner = token.owner AND m.parent = token.hash)").Exec(ctx))
	if err != nil || n == 0 {
		return n, err
	}
	_, err = tx.db.NewDelete().Model((*mintedToken)(nil)).Where("hash IN (?)", bun.List(hashes)).
		Where("NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.hash = minted_token.hash)").Exec(ctx)
	return n, err
}
