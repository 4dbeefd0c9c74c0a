package wire

import "time"

// Scope is a power that a token can carry. Without one a token reads.
type Scope string

const (
	ScopeWriteConfig   Scope = "write:config"   // push to an existing project
	ScopeWriteCatalog  Scope = "write:catalog"  // create, publish, register; includes write:config
	ScopeAdminResource Scope = "admin:resource" // delete, set rate limits; includes nothing else
	ScopeUseLimit      Scope = "use:limit"      // count requests of a bot
)

// Scopes lists every scope.
var Scopes = []Scope{ScopeWriteConfig, ScopeWriteCatalog, ScopeAdminResource, ScopeUseLimit}

// Role is what a user is on an account: reader < writer < admin.
type Role string

const (
	Reader Role = "reader"
	Writer Role = "writer"
	Admin  Role = "admin"
)

// Whoami describes the token that asked.
type Whoami struct {
	User      string        `json:"user,omitzero"` // exactly one of user and bot
	Bot       string        `json:"bot,omitzero"`  // @account/slug
	TokenName string        `json:"tokenName"`
	Scopes    []Scope       `json:"scopes"`
	ExpiresAt *time.Time    `json:"expiresAt"` // null: never
	Accounts  []AccountRole `json:"accounts"`
}

// AccountRole is the caller's role on one account.
type AccountRole struct {
	Account string `json:"account"`
	Role    Role   `json:"role"`
}
