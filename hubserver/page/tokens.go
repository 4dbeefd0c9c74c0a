package page

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

const tokensPath = "/tokens"

// token is a valid token of the user, or of a bot of the user's.
type token struct {
	*store.Token
	Behind bool // this session has its rights
	CanEnd bool // this session may revoke it
}

// session is a browser that is signed in.
type session struct {
	*store.Session
	Current bool
	CanEnd  bool // this session may end it
}

func tokensPage(c *request.Call) error {
	if signedIn, err := needSession(c, tokensPath); !signedIn {
		return err
	}
	shown := struct {
		Layout
		Choices  choices
		Tokens   []token
		Sessions []session
	}{Layout: layout(c, "Tokens"), Choices: choicesOf(c)}
	tokens, err := c.View().ValidTokens(c.Access.Caller.AccountID)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if c.Access.Only.Allows(t.Only) {
			canEnd := c.MayRevoke(t.Scopes) == nil
			shown.Tokens = append(shown.Tokens, token{&t, t.ID == c.Access.TokenID, canEnd})
		}
	}
	sessions, err := c.View().Sessions(c.Access.Caller.AccountID)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if c.Access.Only.Allows(s.Only) {
			canEnd := c.MayRevoke(s.Scopes) == nil
			shown.Sessions = append(shown.Sessions, session{&s, s.ID == c.Access.Session, canEnd})
		}
	}
	return show(c, http.StatusOK, "tokens", shown)
}

// choices are what can be chosen for a new token.
type choices struct {
	NoTokens  string // why the session creates none; "": it does
	Scopes    []scopeChoice
	Lifetimes []lifetime
}

// scopeChoice is a scope that a token can have.
type scopeChoice struct {
	Name    wire.Scope
	About   string
	Checked bool
}

// lifetime is how long a token can be valid.
type lifetime struct {
	Value, Text string
	Selected    bool
}

// usualLifetime is preset, and what the API takes for none that is given.
const usualLifetime = "90d"

// lifetimes are what a form offers.
var lifetimes = []lifetime{
	{"1d", "1 day", false},
	{"7d", "7 days", false},
	{"30d", "30 days", false},
	{usualLifetime, "90 days", true},
	{"365d", "365 days", false},
	{"never", "never expires", false},
}

// scopeTexts say what a scope is for.
var scopeTexts = map[wire.Scope]string{
	wire.ScopeWriteConfig:   "push to projects that exist",
	wire.ScopeWriteCatalog:  "create projects, publish stacks, register APIs; includes write:config",
	wire.ScopeAdminResource: "delete, invite, set rate limits",
	wire.ScopeUseLimit:      "count the requests of a bot",
}

func choicesOf(c *request.Call) (all choices) {
	if refused, ok := errors.AsType[*request.Problem](c.NeedTokens()); ok {
		all.NoTokens = sentence(refused.Detail)
	}
	for _, scope := range wire.Scopes {
		if wire.HasScope(c.Scopes(), scope) {
			preset := scope == wire.ScopeWriteConfig || scope == wire.ScopeWriteCatalog
			all.Scopes = append(all.Scopes, scopeChoice{scope, scopeTexts[scope], preset})
		}
	}
	for _, l := range lifetimes {
		if fits(l.Value, c.Access.TokenEnds) {
			all.Lifetimes = append(all.Lifetimes, l)
		}
	}
	if end := c.Access.TokenEnds; !fits(usualLifetime, end) { // no lifetime then means this end
		text := "until " + end.Time().Format("2 January 2006") + ", with this session's token"
		all.Lifetimes = append(all.Lifetimes, lifetime{"", text, true})
	}
	return all
}

// fits reports whether a lifetime ends before the token behind the session does; end is 0 if that never does.
func fits(text string, end store.Time) bool {
	life, _ := pat.ParseLifetime(text) // they are constants
	return end == 0 || life != 0 && time.Now().Add(life).Before(end.Time())
}

func chosen(c *request.Call, tx *store.Tx, form url.Values) (scopes string, ends store.Time, err error) {
	asked := strings.Join(form["scopes"], " ")
	if scopes, err = c.OwnScopes(request.ScopesIn(asked)); err != nil {
		return "", 0, err
	}
	ends, err = c.TokenEnd(form.Get("lifetime"), tx.Now())
	return scopes, ends, err
}
