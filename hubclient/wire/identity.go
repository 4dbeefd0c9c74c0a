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

// Restriction is the one account, or the one project, to which a token is restricted. At
// most one of the two is set. Elsewhere the token has the rights of a stranger.
type Restriction struct {
	Account string  `json:"account,omitzero"`
	Project ref.Ref `json:"project,omitzero"`
}

// CreateToken is the body of the request for a token of the caller, who cannot give it
// more than the request's own token has.
type CreateToken struct {
	Name   string  `json:"name"`
	Scopes []Scope `json:"scopes,omitzero"` // none: the token can only read
	// such as 12h, 90d, 52w or never; "": 90d, or until the token of the request expires
	Lifetime    string `json:"lifetime,omitzero"`
	Restriction `json:",inline"`
}

// TokenInfo is what can be told of a token after its creation.
type TokenInfo struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Shown       string  `json:"shown"` // its first characters
	Scopes      []Scope `json:"scopes"`
	Restriction `json:",inline"`
	Bot         string     `json:"bot,omitzero"`  // whose token it is; absent: the user's own
	Self        bool       `json:"self,omitzero"` // it is the token of the request
	CreatedAt   time.Time  `json:"createdAt"`
	ExpiresAt   *time.Time `json:"expiresAt"`  // null: never
	LastUsedAt  *time.Time `json:"lastUsedAt"` // null: never
}

// CreatedToken is a token that was created. It is shown once.
type CreatedToken struct {
	TokenInfo `json:",inline"`
	Token     string `json:"token"`
}

// Tokens are the valid tokens of the caller.
type Tokens struct {
	Tokens []TokenInfo `json:"tokens"`
}

// RevokedToken is the response to the revocation of a token of the caller.
type RevokedToken struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Self        bool        `json:"self,omitzero"`        // it was the token of the request
	AlsoRevoked []TokenName `json:"alsoRevoked,omitzero"` // valid tokens that were created with it, oldest first
}

// EndedSession is the response to the end of a session of the caller. Existed is false if it had ended already.
type EndedSession struct {
	ID      string `json:"id"`
	Existed bool   `json:"existed"`
}

// TokenName names a token.
type TokenName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// TokenSelf names the token of the request in place of its ID.
const TokenSelf = "self"

// TokenExpires is the header field of the responses to a token that expires. Its value is
// an HTTP date, as in the field Expires.
const TokenExpires = "Token-Expires"

// StartDevice is the body of POST /v1/device, with which a terminal asks for a token
// that a user approves in a browser (the shape of RFC 8628).
type StartDevice struct {
	Client string `json:"client,omitzero"` // what the terminal calls itself, such as tool on laptop
}

// Device is a terminal that waits for its token.
type Device struct {
	DeviceCode              string `json:"deviceCode"`              // the terminal's secret
	UserCode                string `json:"userCode"`                // that the user compares
	VerificationURI         string `json:"verificationUri"`         // the page that asks for the code
	VerificationURIComplete string `json:"verificationUriComplete"` // the same, with the code
	ExpiresIn               int    `json:"expiresIn"`               // seconds
	Interval                int    `json:"interval"`                // seconds between two polls
}

// DeviceCode is the body of POST /v1/device/token.
type DeviceCode struct {
	DeviceCode string `json:"deviceCode"`
}

// DeviceToken is the token of a terminal that was approved.
type DeviceToken struct {
	Token string `json:"token"`
}

// CreateLink is the body of POST /v1/links.
type CreateLink struct {
	Page string `json:"page,omitzero"` // the path to open, such as /@acme/web; by default /
}

// CreateInvitation is the body of POST /v1/invitations.
type CreateInvitation struct {
	Account string `json:"account"` // an org
	Role    Role   `json:"role"`
}

// Link is a link that works once, in a browser.
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// SetMember is the body of the request for another role of a member.
type SetMember struct {
	Role Role `json:"role"`
}

// Member is a user with a role on an org.
type Member struct {
	User string `json:"user"`
	Role Role   `json:"role"`
}

// Members is a page of the members of an org, sorted by their names.
type Members struct {
	Account    string   `json:"account"`
	Members    []Member `json:"members"`
	NextCursor string   `json:"nextCursor"` // "": the last page
}

// RemovedMember is the response to the removal of a member. Existed is false if there was none.
type RemovedMember struct {
	Account string `json:"account"`
	User    string `json:"user"`
	Existed bool   `json:"existed"`
}
