package wire

import (
	"slices"
	"time"

	"example.com/projecthub/hubclient/ref"
)

// Scope is a right that a token can have. A token without scopes can only read.
type Scope string

// The scopes of tokens.
const (
	ScopeWriteConfig   Scope = "write:config"   // push to an existing project
	ScopeWriteCatalog  Scope = "write:catalog"  // create, publish, register; includes write:config
	ScopeAdminResource Scope = "admin:resource" // delete, set rate limits; includes nothing else
	ScopeUseLimit      Scope = "use:limit"      // count requests of a bot
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeWriteConfig, ScopeWriteCatalog, ScopeAdminResource, ScopeUseLimit}

// Role is the role of a user on an account: reader < writer < admin.
type Role string

// The roles of users.
const (
	Reader Role = "reader"
	Writer Role = "writer"
	Admin  Role = "admin"
)

// Whoami describes the token of the request.
type Whoami struct {
	User      string        `json:"user,omitzero"` // exactly one of user and bot
	Bot       string        `json:"bot,omitzero"`  // @account/slug
	TokenName string        `json:"tokenName"`
	Scopes    []Scope       `json:"scopes"`
	ExpiresAt *time.Time    `json:"expiresAt"` // null: never
	Accounts  []AccountRole `json:"accounts"`
	Projects  []ProjectRole `json:"projects,omitzero"` // the one to which the token is restricted

	Restriction Restriction `json:"restriction,omitzero"` // of the token
}

// AccountRole is the caller's role on one account.
type AccountRole struct {
	Account string `json:"account"`
	Role    Role   `json:"role"`
}

// ProjectRole is the caller's role on one project of an account on which it has none.
type ProjectRole struct {
	Project ref.Ref `json:"project"`
	Role    Role    `json:"role"` // "": none
}

// Name is the user's or the bot's name.
func (w Whoami) Name() string {
	if w.Bot != "" {
		return w.Bot
	}
	return w.User
}

// Writes reports whether the caller has at least the role writer on account.
func (w Whoami) Writes(account string) bool {
	return slices.ContainsFunc(w.Accounts, func(a AccountRole) bool {
		return a.Account == account && (a.Role == Writer || a.Role == Admin)
	})
}

// WritesTo reports whether the caller has at least the role writer on project.
func (w Whoami) WritesTo(project ref.Ref) bool {
	return w.Writes(project.Account()) || slices.ContainsFunc(w.Projects, func(p ProjectRole) bool {
		return p.Project == project && (p.Role == Writer || p.Role == Admin)
	})
}

// Has reports whether the token has scope, or one that includes it.
func (w Whoami) Has(scope Scope) bool { return HasScope(w.Scopes, scope) }

// HasScope reports whether scopes contain scope, or one that includes it. Every list contains "".
func HasScope(scopes []Scope, scope Scope) bool {
	return scope == "" || slices.Contains(scopes, scope) ||
		scope == ScopeWriteConfig && slices.Contains(scopes, ScopeWriteCatalog)
}

// Status is the response of /healthz and /readyz.
type Status struct {
	Status  string `json:"status"`  // ok or ready
	Version string `json:"version"` // of the hub's program
}
