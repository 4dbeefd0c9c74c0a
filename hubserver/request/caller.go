package request

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// authenticate returns the caller by the request's token, else by its session; nil if it has neither. It
// fails with a 401 if the token is invalid.
func (c *Call) authenticate() (*store.Access, error) {
	header := c.R.Header.Get("Authorization")
	if header == "" {
		return c.signedIn()
	}
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || !pat.Valid(token) {
		return nil, Unauthorized(wire.CodeUnauthorized, "the Authorization header has no valid token")
	}
	query := c.about()
	query.Token = pat.Hash(token)
	if c.Endpoint != nil {
		query.Schema = slices.Contains(writesConfig, c.Endpoint.Op)
		query.Config = query.Schema || c.Endpoint.Op == wire.OpGetConfig
	}
	a, err := lookUp(c.View().Access, query)
	if a != nil && a.ExpiresAt != 0 {
		c.W.Header().Set(wire.TokenExpires, a.ExpiresAt.Time().Format(http.TimeFormat))
	}
	if err != nil {
		return nil, err
	}
	c.Hub.noteUse(a)
	return a, nil
}

// writesConfig are the endpoints that need the newest config, and the schema of its settings. Both are
// read in the query that reads the rights.
var writesConfig = []wire.Op{wire.OpPutConfig, wire.OpPatchConfig, wire.OpCheckConfig}

// signedIn returns the user of the request's session, nil if it has none. A session that has ended is ignored,
// because browsers keep sending its cookie.
func (c *Call) signedIn() (*store.Access, error) {
	query := c.about()
	if query.Session = c.SessionHash(); query.Session == "" {
		return nil, nil
	}
	a, err := lookUp(c.View().Access, query)
	if _, ended := errors.AsType[*Problem](err); ended {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.Hub.noteUse(a)
	return a, nil
}

// lookUp returns the owner of the token or session in a query, with the rights on what the query names. If the
// token or session is unknown, revoked or expired, or its account is disabled, it fails with a 401.
func lookUp(access func(store.AccessQuery) (*store.Access, error), query store.AccessQuery) (*store.Access, error) {
	a, err := access(query)
	unknown := errors.Is(err, store.ErrNotFound)
	isSession := query.Session != ""
	switch {
	case err != nil && !unknown:
		return nil, err
	case isSession && (unknown || a.RevokedAt != 0 || a.Expired() || a.Disabled):
		return a, Unauthorized(wire.CodeNotSignedIn, noToken)
	case unknown:
		return nil, unknownToken()
	case a.RevokedAt != 0:
		return a, Unauthorized(wire.CodeTokenRevoked, "the token was revoked")
	case a.Expired():
		return a, Unauthorized(wire.CodeTokenExpired, "the token expired on "+a.ExpiresAt.Time().Format("2 January 2006"))
	case a.Disabled:
		return a, Unauthorized(wire.CodeUnauthorized, "the account "+a.Account+" is disabled").
			WithHint("ask the hub's administrator to enable it")
	}
	return a, nil
}

// Unauthenticated is the 401 of a request that has neither a token nor a session. The code that a browser
// gets tells the page's script that the user must sign in again.
func (c *Call) Unauthenticated() *Problem {
	if c.R.Header.Get("Sec-Fetch-Site") != "" || len(c.R.CookiesNamed(c.Hub.CookieName())) > 0 {
		return Unauthorized(wire.CodeNotSignedIn, noToken).WithHint("sign in: %s/sign-in", c.Hub.PublicURL)
	}
	return Unauthorized(wire.CodeUnauthorized, noToken)
}

// Role returns the caller's role on what the path or the query names, "" for none.
func (c *Call) Role() wire.Role {
	if c.Access == nil {
		return ""
	}
	return wire.Role(c.Access.Role)
}

// Has reports whether the caller's role on what the path or the query names is at least needed.
func (c *Call) Has(needed wire.Role) bool {
	return store.Rank(string(c.Role())) >= store.Rank(string(needed))
}

// Scopes returns the scopes of the caller's token or session.
func (c *Call) Scopes() []wire.Scope { return ScopesIn(c.Access.Scopes) }

// forbidden says what a role is needed for, to a caller who has none on an account, and who has such a
// role, to a caller with a lower one.
var forbidden = map[wire.Role]struct{ verb, only string }{
	wire.Reader: {verb: "read from"},
	wire.Writer: {verb: "write to", only: "writers and admins"},
	wire.Admin:  {verb: "manage", only: "admins"},
}

// NotPermitted is the 403 of a caller whose role on an account, "" for none, is lower than the needed one.
func (c *Call) NotPermitted(has wire.Role, account string, needed wire.Role) *Problem {
	words := forbidden[needed]
	shown, isName := account, ref.ValidName(account)
	if !isName { // no account can have it, and no hint should contain it
		shown = strconv.Quote(account)
	}
	p := Forbidden("%s may not %s %s", c.Access.Name(), words.verb, shown)
	if has != "" {
		p.Detail = fmt.Sprintf("%s is a %s in %s; only %s can do this", c.Access.Name(), has, shown, words.only)
	}
	switch {
	case c.Access.IsBot():
		return p.WithHint("a bot is a writer in its own account only")
	case c.Access.Only.AccountID != 0:
		return p.WithHint("the token is restricted to %s", c.Access.Only)
	case isName && has == "":
		return p.WithHint("if %[1]s is an org, an admin of it can invite you: tool member invite %[1]s --role %[2]s",
			account, needed)
	case isName:
		return p.WithHint("an admin of %[1]s can allow it: tool member set %[1]s %s --role %s",
			account, c.Access.Name(), needed)
	}
	return p
}

// NeedUser returns a 403 for a bot. what completes "a bot cannot", as in "sign in".
func (c *Call) NeedUser(what string) error {
	if c.Access.IsBot() {
		return Forbidden("a bot cannot %s", what).WithHint("send the request with the token of a user")
	}
	return nil
}

// NeedUnrestricted returns a 403 for a restricted token, whose rights must not pass to other users or to
// other tokens. cannot completes its message: "cannot invite people".
func (c *Call) NeedUnrestricted(cannot string) error {
	if c.Access.Only.AccountID != 0 {
		return Forbidden("a token that is restricted to %s %s", c.Access.Only, cannot).
			WithHint("use a token that is not restricted")
	}
	return nil
}

// NeedScope returns a 403 for a token or a session without a scope.
func (c *Call) NeedScope(scope wire.Scope) error {
	if wire.HasScope(c.Scopes(), scope) {
		return nil
	}
	if c.Access.Session != 0 {
		return Problemf(http.StatusForbidden, wire.CodeMissingScope,
			"the token behind this session lacks the scope %s", scope).WithHint("sign in with a token that has it")
	}
	p := Problemf(http.StatusForbidden, wire.CodeMissingScope, "the token lacks the scope %s", scope)
	if c.Access.IsBot() {
		return p.WithHint("create one that has it: tool bot token %s --name NAME --scope %s", c.Access.Name(), scope)
	}
	return p.WithHint("tick it when you log in again (tool logout, then tool login), or create a token that has it " +
		"on the hub's page /tokens")
}

// shown returns what logs may show of the caller's token or session.
func (c *Call) shown() string {
	if c.Access.Session != 0 {
		return "session " + c.Access.Hash[:12]
	}
	return c.Access.Shown
}

// CookieName is the name of the cookie that holds the secret of a session. Cookies of one host are
// shared by its ports, so on a development machine the port tells hubs apart. Browsers take the prefix
// __Host- only over TLS.
func (h *Hub) CookieName() string {
	origin, err := url.Parse(h.PublicURL)
	switch {
	case err == nil && origin.Scheme == "https":
		return "__Host-hub-session"
	case err == nil && origin.Port() != "":
		return "hub-session-" + origin.Port()
	}
	return "hub-session"
}

// SecretLength is the length of a secret of [NewSecret], in bytes.
const SecretLength = 43

// NewSecret returns 256 random bits as text. Only its [pat.Hash] is stored.
func NewSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// SessionHash returns the hash of the secret in the request's cookie, "" if it has none. Several cookies of
// that name count as none: another program on the host may have set one.
func (c *Call) SessionHash() string {
	cookies := c.R.CookiesNamed(c.Hub.CookieName())
	if len(cookies) != 1 || len(cookies[0].Value) != SecretLength {
		return ""
	}
	return pat.Hash(cookies[0].Value)
}

// SetCookie sets the session cookie to secret, or deletes it if secret is "".
func (c *Call) SetCookie(secret string) {
	cookie := &http.Cookie{
		Name: c.Hub.CookieName(), Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(c.Hub.PublicURL, "https://"), MaxAge: int(store.SessionLife.Seconds()),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.W, cookie)
}
