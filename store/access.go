package store

import (
	"errors"
	"slices"
	"time"

	"example.com/projecthub/store/sqldb"
)

// Kinds of resources.
const (
	KindProject = "project"
	KindStack   = "stack"
	KindAPI     = "api"
)

// Resource is a project, a stack or an API: they have names in an account.
type Resource struct {
	ID         int64
	AccountID  int64
	Account    string // its name
	Kind       string
	Slug       string
	Visibility string // of a project: private or public
	CreatedAt  Time
	CreatedBy  string
}

// String returns @account/slug.
func (r Resource) String() string { return "@" + r.Account + "/" + r.Slug }

// AccessQuery says what [View.Access] looks up: a caller, and the account and the resource that a request names. The
// name may be a former one of a project.
type AccessQuery struct {
	Token   string // SHA-256 of the caller's token; "": see Session
	Session string // SHA-256 of the secret in the caller's cookie
	Account string // name of an account; "": none
	Kind    string // of a resource of the account; "": none
	Slug    string // of the resource
	Config  bool   // with Token: read the newest config of the project, too
	Schema  bool   // with Token and Config: read the schema of its settings, too
	Lock    int64  // with Tx.Access: ID of the resource, to lock it; 0: do not
}

// Access is a caller, and the caller's role on what a query names.
type Access struct {
	Caller
	AccountID int64          // of the account; 0: there is none, or it is disabled
	Role      string         // on the account, or on the resource: admin, writer, reader; "": none
	Resource  Resource       // with its present name; ID 0: no such resource, or no role on it, with the name of the query
	Config    Revision       // of the project, with AccessQuery.Config if it is small, not decoded; N 0: there is none
	Schema    SettingsSchema // of the project, with AccessQuery.Schema; StackID 0: there is none
}

// Caller is the owner of a token, or of a session.
type Caller struct {
	AccountID int64  // of the user, or of the account that owns the bot
	Account   string // its name
	Disabled  bool   // whether the account is
	BotID     int64  // 0: a user
	BotRefID  string // @account/slug of a bot

	TokenID   int64  // of the token, or of the one behind the session; 0: a session without one
	Shown     string // the first 12 characters of that token
	TokenName string
	Session   int64  // ID of the session; 0: the caller sent a token
	Hash      string // SHA-256 of the token, or of the session's secret
	Scopes    string // separated by spaces
	Only      Restriction
	ExpiresAt Time // of the token or the session; 0: never
	TokenEnds Time // when the token, or the one behind the session, expires; 0: never, or there is none
	RevokedAt Time // of a session: its token was revoked or has expired, or it was idle for too long; 0: never
	UsedAt    Time // the last use that was stored
	Now       Time // when this was read
}

// IsBot reports whether the caller is a bot: a writer in its own account, and nothing else.
func (c *Caller) IsBot() bool { return c.BotID != 0 }

// Name returns the name of the user, or the bot's @account/slug.
func (c *Caller) Name() string {
	if c.IsBot() {
		return c.BotRefID
	}
	return c.Account
}

// Expired reports whether the token or session had expired when it was read.
func (c *Caller) Expired() bool { return c.ExpiresAt != 0 && c.ExpiresAt <= c.Now }

// Stale reports whether the last use that was stored is older than a minute, so that this one should be stored.
func (c *Caller) Stale() bool { return c.UsedAt < c.Now.Add(-time.Minute) }

// Restriction is the only account, or the only resource of it, that a token may use. The zero value is no
// restriction.
type Restriction struct {
	AccountID  int64
	ResourceID int64 // 0: all of the account
	Account    string
	Slug       string // of the resource
}

// String returns @account or @account/slug, "" for none.
func (r Restriction) String() string {
	switch {
	case r.AccountID == 0:
		return ""
	case r.ResourceID == 0:
		return "@" + r.Account
	}
	return "@" + r.Account + "/" + r.Slug
}

// Allows reports whether a token that is restricted to r may use what other names; the zero value is everything.
func (r Restriction) Allows(other Restriction) bool {
	return r.AccountID == 0 || r.AccountID == other.AccountID && (r.ResourceID == 0 || r.ResourceID == other.ResourceID)
}

// roles are in the order of their rights.
var roles = []string{"", "reader", "writer", "admin"}

// Rank returns a number by which roles compare: a higher one has more rights. It is -1 for an unknown role.
func Rank(role string) int { return slices.Index(roles, role) }

// Access looks up a caller, and what the request names. ErrNotFound if the token or session is unknown; the caller of
// Access has to check whether it is revoked, expired or disabled. For a caller without a role it reads nothing of a
// resource: the time that takes would reveal whether it exists.
func (v View) Access(q AccessQuery) (*Access, error) {
	r, err := v.access(q)
	if err != nil {
		return nil, err
	}
	// It may be a former name. A restricted token makes this query for the names of all other resources, too, and
	// follows a name to its own resource only: it cannot find out by the time which names exist.
	only := r.Only.ResourceID
	mayUse := r.Role != "" && (r.Only.AccountID == 0 || r.Only.AccountID == r.AccountID)
	if mayUse && q.Slug != "" && (r.Resource.ID == 0 || only != 0 && only != r.Resource.ID) {
		var id int64
		present := q
		err := v.One(sqldb.Row(&id, &present.Slug), `SELECT r.id, r.slug FROM renames n JOIN resources r
			ON r.id = n.resource_id AND r.deleted_at = 0
			WHERE n.account_id = ? AND n.kind = ? AND n.slug = ? AND (? OR r.id = ?)`,
			r.AccountID, q.Kind, q.Slug, only == 0, only)
		if err == nil && r.Resource.ID == 0 {
			if r, err = v.access(present); err != nil {
				return nil, err
			}
			if r.Resource.ID != id { // it was renamed again meanwhile
				r.Resource.ID = 0
			}
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	r.Resource.AccountID = r.AccountID
	named := Restriction{AccountID: r.AccountID, ResourceID: r.Resource.ID}
	if !r.Only.Allows(named) {
		r.Role, r.Resource.ID, r.Config, r.Schema = "", 0, Revision{}, SettingsSchema{}
	}
	if r.Resource.ID == 0 {
		r.Resource.Slug = q.Slug
	}
	return r, nil
}

// access is Access by the present name of the resource, without the restriction of the token.
func (v View) access(q AccessQuery) (*Access, error) {
	text, hash := byToken, q.Token
	switch {
	case q.Session != "":
		text, hash = bySession, q.Session
	case q.Schema:
		text = byTokenWithSchema
	case q.Config:
		text = byTokenWithConfig
	}
	r := &Access{Resource: Resource{Account: q.Account, Kind: q.Kind}}
	r.Hash = hash
	to := sqldb.Row(&r.Caller.AccountID, &r.Account, &r.Disabled, &r.BotID, &r.BotRefID,
		&r.TokenID, &r.Shown, &r.TokenName, &r.Session, &r.Scopes, &r.ExpiresAt, &r.RevokedAt, &r.UsedAt,
		&r.TokenEnds, &r.Only.AccountID, &r.Only.ResourceID, &r.Only.Account, &r.Only.Slug,
		&r.Now, &r.AccountID, &r.Role,
		&r.Resource.ID, &r.Resource.Slug, &r.Resource.Visibility, &r.Resource.CreatedAt, &r.Resource.CreatedBy)
	if q.Config {
		c := &r.Config
		to = append(to, &c.N, &c.Digest, &c.User, &c.Via, &c.At, &c.body)
	}
	if q.Schema {
		to = append(to, r.Schema.fields()...)
	}
	return r, v.One(to, text, q.Account, q.Kind, q.Slug, hash)
}

// Access is [View.Access], which with AccessQuery.Lock first locks the resource, see lock, without a round trip of its
// own. It reads what is true after it has waited.
func (tx *Tx) Access(q AccessQuery) (*Access, error) {
	if q.Lock != 0 && tx.IsPostgres() {
		if err := tx.send(lockResource, q.Lock); err != nil {
			return nil, err
		}
	}
	r, err := tx.View.Access(q)
	if err == nil && r.Resource.ID == q.Lock {
		tx.locked = q.Lock
	}
	return r, err
}

// The parts of the queries. The row of a caller without a role has no resource.
const (
	accessColumns = `SELECT u.id, u.name, u.disabled_at <> 0, COALESCE(b.id, 0), COALESCE(b.bot_ref_id, ''),
		COALESCE(t.id, 0), COALESCE(t.shown, ''), COALESCE(t.name, ''), `
	accessRest = `COALESCE(t.expires_at, 0), COALESCE(t.only_account_id, 0), COALESCE(t.resource_id, 0),
		COALESCE(oa.name, ''), COALESCE(ores.slug, ''), @now, COALESCE(o.id, 0),
		CASE WHEN b.id IS NOT NULL THEN CASE WHEN o.id = u.id THEN 'writer' ELSE '' END
			WHEN o.id = u.id THEN 'admin' ELSE COALESCE(m.role, '') END,
		COALESCE(r.id, 0), COALESCE(r.slug, ''), COALESCE(p.visibility, ''), COALESCE(r.created_at, 0),
		COALESCE(r.created_by, '')`
	accessTables = `
		LEFT JOIN bots b ON b.id = t.bot_id
		LEFT JOIN accounts oa ON oa.id = t.only_account_id
		LEFT JOIN resources ores ON ores.id = t.resource_id
		LEFT JOIN accounts o ON o.name = ? AND o.disabled_at = 0
		LEFT JOIN members m ON m.user_id = u.id AND m.account_id = o.id AND t.bot_id IS NULL
		LEFT JOIN resources r ON r.account_id = o.id AND r.kind = ? AND r.slug = ? AND r.deleted_at = 0
			AND (o.id = u.id OR m.role IS NOT NULL)
		LEFT JOIN projects p ON p.id = r.id`
	tokenColumns = accessColumns + `0, t.scopes, t.expires_at, t.revoked_at, t.used_at, ` + accessRest
	tokenTables  = `
		FROM tokens t JOIN accounts u ON u.id = t.account_id` + accessTables
	byToken = tokenColumns + tokenTables + ` WHERE t.hash = ?`
	// One query takes a fifth less time than two, and on PostgreSQL even less. A large config is read later, when it
	// is needed, because this one is in memory while a slow body arrives.
	byTokenWithConfig = tokenColumns + configColumns + tokenTables + configTables + ` WHERE t.hash = ?`
	byTokenWithSchema = tokenColumns + configColumns + `, ` + schemaColumns + tokenTables + configTables +
		schemaTables + ` WHERE t.hash = ?`
	configColumns = `, COALESCE(c.n, 0), COALESCE(c.digest, ''), COALESCE(c.by_user, ''),
		COALESCE(c.via, ''), COALESCE(c.at, 0), c.body`
	configTables = `
		LEFT JOIN revisions c ON c.project_id = p.id AND c.kind = 'config'
			AND c.n = (SELECT n FROM revisions WHERE project_id = p.id AND kind = 'config' ORDER BY n DESC LIMIT 1)
			AND length(c.body) <= 16384`
	// 43200000000 is SessionIdle.
	bySession = accessColumns + `s.id, s.scopes, s.expires_at,
		CASE WHEN s.seen_at + 43200000000 <= @now THEN s.seen_at + 43200000000
			WHEN t.expires_at <> 0 AND t.expires_at <= @now THEN t.expires_at ELSE COALESCE(t.revoked_at, 0) END,
		s.seen_at, ` + accessRest + `
		FROM sessions s JOIN accounts u ON u.id = s.user_id
		LEFT JOIN tokens t ON t.id = s.token_id` + accessTables + ` WHERE s.hash = ?`
)

// PublicProject returns a public project by its name, or by a former one. ErrNotFound if it does not exist, is
// private, or its account is disabled.
func (v View) PublicProject(account, slug string) (Resource, error) {
	r := Resource{Account: account, Kind: KindProject, Visibility: "public"}
	err := v.One(sqldb.Row(&r.ID, &r.AccountID, &r.Slug, &r.CreatedAt, &r.CreatedBy),
		`SELECT r.id, r.account_id, r.slug, r.created_at, r.created_by FROM accounts a
		JOIN resources r ON r.deleted_at = 0 AND r.id = COALESCE(
			(SELECT id FROM resources WHERE account_id = a.id AND kind = 'project' AND slug = ? AND deleted_at = 0),
			(SELECT resource_id FROM renames WHERE account_id = a.id AND kind = 'project' AND slug = ?))
		JOIN projects p ON p.id = r.id AND p.visibility = 'public'
		WHERE a.name = ? AND a.disabled_at = 0`, slug, slug, account)
	return r, err
}
