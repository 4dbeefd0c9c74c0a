package wire

import (
	"time"

	"example.com/projecthub/hubclient/ref"
)

// Restriction is the one account, or the one project, to which a token is restricted. At
// most one of the two is set. Elsewhere the token has the rights of a stranger.
type Restriction struct {
	Account string  `json:"account,omitzero"`
	Project ref.Ref `json:"project,omitzero"`
}

// CreateToken is the body of the request for a token of the caller, who cannot give it
// more than the request's own token has.
type CreateToken struct {
	Name        string  `json:"name"`
	Scopes      []Scope `json:"scopes,omitzero"`   // none: the token can only read
	Lifetime    string  `json:"lifetime,omitzero"` // such as 12h, 90d, 52w or never; by default 90d, or until the token of the request expires
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
	AlsoRevoked []TokenName `json:"alsoRevoked,omitzero"` // valid tokens that were created with it, oldest first; absent: none, or an older hub
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
