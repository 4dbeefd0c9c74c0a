package page

import "time"

// Tokens is the page with a user's own tokens and sessions.
type Tokens struct {
	Layout
	Choices  Choices
	NoTokens string // why the session creates none; "": it does
	Created  string // the token that was just created, shown this once
	Name     string // of it, or what was typed
	Refused  string // why none was created
	Tokens   []Token
	Sessions []Session
}

// Token is a valid token.
type Token struct {
	ID, Name, Shown string
	Scopes          []string
	CreatedAt       time.Time
	ExpiresAt       time.Time // zero: never
	LastUsedAt      time.Time // zero: never
	Behind          bool      // this session has its rights
	Bot             string    // whose token it is; "": the user's own
	Only            string    // the account or project to which it is restricted; "": none
	CanEnd          bool      // this session may revoke it
}

// Session is a browser that is signed in.
type Session struct {
	ID, Agent, Address           string
	Token                        string // the name of the token behind it; "": none
	CreatedAt, SeenAt, ExpiresAt time.Time
	Current                      bool
	CanEnd                       bool // this session may end it
}

// Choices are what can be chosen for a new token.
type Choices struct {
	Scopes    []ScopeChoice
	Lifetimes []Lifetime
}

// ScopeChoice is a scope that a token can have.
type ScopeChoice struct {
	Name, About string
	Checked     bool
}

// Lifetime is how long a token can be valid.
type Lifetime struct {
	Value, Text string
	Selected    bool
}

// Render returns the page.
func (t Tokens) Render() ([]byte, error) { return render("tokens", t) }
