package page

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

const tokensPath = "/tokens"

// Tokens is the page with a user's own tokens and sessions.
type Tokens struct {
	Layout
	Choices  Choices
	Created  string // the token that was just created, shown this once
	Name     string // of it, or what was typed
	Refused  string // why none was created
	Tokens   []Token
	Sessions []Session
}

// Token is a valid token of the user, or of a bot of the user's.
type Token struct {
	*store.Token
	Behind bool // this session has its rights
	CanEnd bool // this session may revoke it
}

// Session is a browser that is signed in.
type Session struct {
	*store.Session
	Current bool
	CanEnd  bool // this session may end it
}

// tokensPage lists the user's own tokens and sessions.
func tokensPage(c *request.Call) error {
	if signedIn, err := needSession(c, tokensPath); !signedIn {
		return err
	}
	return showTokens(c, http.StatusOK, Tokens{})
}

// showTokens completes shown with the user's tokens and sessions, and responds with it.
func showTokens(c *request.Call, status int, shown Tokens) error {
	shown.Layout, shown.Choices = layout(c, "Tokens"), choices(c)
	shown.Here = tokensPath
	tokens, err := c.View().ValidTokens(c.Access.Caller.AccountID)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if c.Access.Only.Allows(t.Only) {
			canEnd := c.MayRevoke(t.ScopeList()) == nil
			shown.Tokens = append(shown.Tokens, Token{&t, t.ID == c.Access.TokenID, canEnd})
		}
	}
	sessions, err := c.View().Sessions(c.Access.Caller.AccountID)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if c.Access.Only.Allows(s.Only) {
			canEnd := c.MayRevoke(s.ScopeList()) == nil
			shown.Sessions = append(shown.Sessions, Session{&s, s.ID == c.Access.Session, canEnd})
		}
	}
	return show(c, status, "tokens", shown)
}

// Choices are what can be chosen for a new token.
type Choices struct {
	NoTokens  string // why the session creates none; "": it does
	Scopes    []ScopeChoice
	Lifetimes []Lifetime
}

// ScopeChoice is a scope that a token can have.
type ScopeChoice struct {
	Name    wire.Scope
	About   string
	Checked bool
}

// Lifetime is how long a token can be valid.
type Lifetime struct {
	Value, Text string
	Selected    bool
}

const (
	usualLifetime = 90       // is preset, in days
	untilParent   = "parent" // is the lifetime up to the end of the token behind the session
)

// lifetimes are what a form offers, in days; 0: the token never expires.
var lifetimes = []int{1, 7, 30, 90, 365, 0}

// scopeTexts say what a scope is for.
var scopeTexts = map[wire.Scope]string{
	wire.ScopeWriteConfig:   "push to projects that exist",
	wire.ScopeWriteCatalog:  "create projects, publish stacks, register APIs; includes write:config",
	wire.ScopeAdminResource: "delete, invite, set rate limits",
	wire.ScopeUseLimit:      "count the requests of a bot",
}

// choices are what the caller can choose for a token.
func choices(c *request.Call) (all Choices) {
	if refused, ok := errors.AsType[*request.Problem](c.NeedTokens()); ok {
		all.NoTokens = sentence(refused.Detail)
	}
	for _, scope := range wire.Scopes {
		if wire.HasScope(c.Scopes(), scope) {
			preset := scope == wire.ScopeWriteConfig || scope == wire.ScopeWriteCatalog
			all.Scopes = append(all.Scopes, ScopeChoice{scope, scopeTexts[scope], preset})
		}
	}
	end := c.Access.TokenEnds
	for _, days := range lifetimes {
		if !fits(days, end) {
			continue
		}
		text := "never expires"
		if days != 0 {
			text = count(int64(days), "day")
		}
		all.Lifetimes = append(all.Lifetimes, Lifetime{strconv.Itoa(days), text, days == usualLifetime})
	}
	if end != 0 {
		text := "until " + end.Time().Format("2 January 2006") + ", with this session's token"
		all.Lifetimes = append(all.Lifetimes, Lifetime{untilParent, text, !fits(usualLifetime, end)})
	}
	return all
}

// fits reports whether a lifetime in days ends before a token does.
func fits(days int, end store.Time) bool {
	return end == 0 || days != 0 && time.Now().Add(time.Duration(days)*24*time.Hour).Before(end.Time())
}

// chosen are the scopes and the end of a token that a form asks for.
func chosen(c *request.Call, tx *store.Tx, form url.Values) (scopes string, ends store.Time, err error) {
	if err := c.NeedTokens(); err != nil {
		return "", 0, err
	}
	var asked []wire.Scope
	for _, name := range form["scope"] {
		asked = append(asked, wire.Scope(name))
	}
	if scopes, err = c.OwnScopes(asked); err != nil {
		return "", 0, err
	}
	lifetime := form.Get("lifetime")
	if lifetime == untilParent {
		return scopes, c.Access.TokenEnds, nil
	}
	days, err := strconv.Atoi(lifetime)
	if err != nil || !slices.Contains(lifetimes, days) {
		return "", 0, request.InvalidBody("/lifetime", "choose how long the token is valid")
	}
	if lifetime = "never"; days != 0 {
		lifetime = strconv.Itoa(days) + "d"
	}
	ends, err = c.TokenEnd(lifetime, tx.Now())
	return scopes, ends, err
}

// tokenForm creates a token of the user, and shows it once.
func tokenForm(c *request.Call, form url.Values) error {
	name := strings.TrimSpace(form.Get("name"))
	secret, token, err := c.NewToken(name, nil)
	if err == nil {
		token.AccountID, token.Owner, token.ParentID = c.Access.Caller.AccountID, c.Access.Account, c.Access.TokenID
		err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
			t := token
			if t.Scopes, t.ExpiresAt, err = chosen(c, tx, form); err != nil {
				return done, err
			}
			if err := c.Mint(tx, &t, t.Owner); err != nil {
				return done, err
			}
			return request.Done{Account: t.Owner, Action: "token.create", Object: t.ShortID(), Detail: t.Scopes}, nil
		})
	}
	if refused, ok := errors.AsType[*request.Problem](err); ok && refused.Status != http.StatusUnauthorized {
		return showTokens(c, refused.Status, Tokens{Name: name, Refused: sentence(refused.Detail)})
	}
	if err != nil {
		return err
	}
	return showTokens(c, http.StatusOK, Tokens{Created: secret, Name: name})
}

// revokeForm ends one of the user's own tokens. It is not a failure if that has ended already.
func revokeForm(c *request.Call, form url.Values) error {
	err := c.Write(func(tx *store.Tx) (done request.Done, err error) {
		t, err := tx.TokenOf(c.Access.Caller.AccountID, form.Get("id"))
		if errors.Is(err, store.ErrNotFound) || err == nil && !c.Access.Only.Allows(t.Only) {
			return done, nil
		}
		if err == nil {
			err = c.MayRevoke(t.ScopeList())
		}
		if err != nil {
			return done, err
		}
		revoked, err := tx.RevokeToken(t.Hash)
		if err != nil {
			return done, err
		}
		return request.Revocation(c.Access.Account, "", revoked), nil
	})
	if err != nil {
		return err
	}
	return seeOther(c, tokensPath)
}

// endSession ends one of the user's own sessions. It is not a failure if that has ended already.
func endSession(c *request.Call, form url.Values) error {
	id := form.Get("id")
	err := c.Write(func(tx *store.Tx) (done request.Done, err error) {
		all, err := tx.Sessions(c.Access.Caller.AccountID)
		i := slices.IndexFunc(all, func(s store.Session) bool { return s.ShortID() == id && c.Access.Only.Allows(s.Only) })
		if err != nil || i < 0 {
			return done, err
		}
		if err := c.MayRevoke(all[i].ScopeList()); err != nil {
			return done, err
		}
		_, err = tx.EndSession(all[i].Hash)
		return request.Done{Account: c.Access.Account, Action: "session.end", Object: id}, err
	})
	if err != nil {
		return err
	}
	return seeOther(c, tokensPath)
}
