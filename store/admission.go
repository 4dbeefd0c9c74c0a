package store

import (
	"context"

	"example.com/projecthub/hubclient/ref"
)

// Asked says what a request with a token asks for.
type Asked struct {
	Token   string // its hash
	Account string // whose thing it is; "": nobody's
	Slug    string // of the account's project; "": no project
	Body    int64  // read the project's config, too, if it has at most so many bytes
}

// Admission is what the hub has to know before it handles a request with a token.
type Admission struct {
	Bearer
	Role   string      // of the token's owner on the account, as a member; "": none
	Config ConfigState `bun:"embed:config_"` // of the project; without a revision: there is no such project, or the owner has no role on its account
	Size   int64       // of the config, in bytes
	Body   []byte      // of the config; nil: it was not asked for, or is too large
	rights int64       // see SameRights
}

// Admission reads all that a request with a token needs, in one query, which databases
// prepare once a connection. ErrNotFound when there is no such token. Nothing of a project is
// read for a stranger, to whom the time would tell whether it exists.
func (v *View) Admission(ctx context.Context, asked Asked) (*Admission, error) {
	a := &Admission{}
	a.Hash = asked.Token
	if v.store.group != nil {
		a.rights = v.store.group.rights.Load()
	}
	err := v.one(ctx, a, admissionQuery.of(v), asked.Body, asked.Account, asked.Account, asked.Account, asked.Slug, asked.Token)
	if err == nil && a.Now == 0 {
		a.Now, err = v.Now(ctx)
	}
	return a, err
}

var admissionQuery = dialects{sqlite: admissionWith(""), postgres: admissionWith(present.postgres + " AS now, ")} // see [View.Now]

// admissionWith names the columns that are needed: each takes a hundredth of the time of a GET.
func admissionWith(now string) string {
	return `SELECT ` + now + `t.shown, t.name, t.owner, t.bot, t.scopes, t.only_account, t.only_slug, t.expires_at, t.revoked_at, t.last_used_at,
		a.disabled_at <> 0 AS disabled, COALESCE(b.bot_ref_id, '') AS bot_ref_id,
		CASE WHEN o.name IS NULL THEN '' ELSE m.role END AS role,
		COALESCE(c.revision, '') AS config_revision, COALESCE(c.has_config, false) AS config_has_config,
		COALESCE(c.updated_at, 0) AS config_updated_at, COALESCE(c.updated_by, '') AS config_updated_by,
		COALESCE(c.updated_via, '') AS config_updated_via, COALESCE(length(c.body), 0) AS size,
		CASE WHEN length(c.body) <= ? THEN c.body END AS body
		FROM tokens AS t JOIN accounts AS a ON a.name = t.owner
		LEFT JOIN rate_limits AS b ON b.account = t.owner AND b.id = t.bot
		LEFT JOIN members AS m ON m.user_name = t.owner AND m.account = ?
		LEFT JOIN accounts AS o ON o.name = m.account AND o.disabled_at = 0
		LEFT JOIN configs AS c ON c.account = CASE WHEN t.owner = ? OR o.name IS NOT NULL THEN ? END AND c.slug = ?
		WHERE t.hash = ?`
}

// HasProject reports whether the project exists, and the token's owner has a role on its account.
func (a *Admission) HasProject() bool { return a.Config.Revision != "" }

// ConfigOf returns the config of the project r, which was asked for, or nil if its body
// was not read; ErrDamaged when that is not the one that the revision names.
func (a *Admission) ConfigOf(r ref.Ref) (*Config, error) {
	if a.Body == nil {
		return nil, nil
	}
	c := &Config{Account: r.Account(), Slug: r.Slug(), ConfigState: a.Config, Body: a.Body}
	if c.damaged() {
		return nil, &DamagedConfig{r}
	}
	return c, nil
}

// Bearer returns the token with this hash, or ErrNotFound.
func (v *View) Bearer(ctx context.Context, hash string) (*Bearer, error) {
	a, err := v.Admission(ctx, Asked{Token: hash})
	return &a.Bearer, err
}
