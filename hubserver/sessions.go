package hubserver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// A session's cookie is the user's name, a dot and a secret of 256 bits. The name is
// in it because the database is divided by accounts.

// cookieName is the name of that cookie. Cookies of one host are shared by its ports,
// so on a development machine the port tells hubs apart. Browsers take the prefix
// __Host- only over TLS.
func cookieName(publicURL string) string {
	origin, err := url.Parse(publicURL)
	switch {
	case err == nil && origin.Scheme == "https":
		return "__Host-hub-session"
	case err == nil && origin.Port() != "":
		return "hub-session-" + origin.Port()
	}
	return "hub-session"
}

// newSecret returns 256 random bits as text.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// secretLength is the length of what newSecret returns.
const secretLength = 43

// parseSecret splits an account and a secret of that account.
func parseSecret(text string) (account, hash string, ok bool) {
	account, secret, _ := strings.Cut(text, ".")
	if !ref.ValidName(account) || len(secret) != secretLength {
		return "", "", false
	}
	return account, pat.Hash(secret), true
}

// signedIn returns the user of the session whose cookie the request has, nil if there is
// none or it has ended: a browser sends the cookie unasked, so that is no mistake.
func (c *call) signedIn() (*caller, error) {
	user, hash, ok := c.cookie()
	if !ok {
		return nil, nil
	}
	var session *store.SignedIn
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		session, err = v.SignedIn(c.ctx(), user, hash)
		return err
	})
	var refused *problem
	if err := sessionProblem(session, err); errors.As(err, &refused) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if session.Stale {
		c.s.uses.note(nil, store.SessionKey{User: session.User, Hash: session.Hash})
	}
	who := newCaller(session.User, session.ScopeList())
	who.session, who.only = session, session.Restriction
	return who, nil
}

// cookie returns what the request's cookie of a session names. Of several cookies, which
// another program on the host may have set, none counts.
func (c *call) cookie() (user, hash string, ok bool) {
	cookies := c.r.CookiesNamed(cookieName(c.s.PublicURL))
	if len(cookies) != 1 {
		return "", "", false
	}
	return parseSecret(cookies[0].Value)
}

// sessionProblem says why a session that was looked up is not a valid one, or returns
// nil. err is that of the look-up.
func sessionProblem(s *store.SignedIn, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unauthorized(wire.CodeNotSignedIn, noToken)
	case err != nil:
		return err
	case s.Ended, s.Disabled:
		return unauthorized(wire.CodeNotSignedIn, noToken)
	}
	return nil
}

// unauthenticated is the 401 of a request that has neither a token nor a session. A
// page's script learns from its code that the user is to sign in again.
func (c *call) unauthenticated() error {
	if c.r.Header.Get("Sec-Fetch-Site") != "" || len(c.r.CookiesNamed(cookieName(c.s.PublicURL))) > 0 {
		return unauthorized(wire.CodeNotSignedIn, noToken).hint("sign in: %s/sign-in", c.s.PublicURL)
	}
	return unauthorized(wire.CodeUnauthorized, noToken)
}

// visit makes the user of the session the caller, if there is one. Forms of pages are
// never sent with a token.
func (c *call) visit() (err error) {
	c.who, err = c.signedIn()
	return err
}

// startSession signs the browser in, in place of the session that it had.
func (c *call) startSession(ctx context.Context, tx *store.Tx, session *store.Session) (cookie string, err error) {
	if user, hash, ok := c.cookie(); ok {
		if _, err := tx.EndSession(ctx, user, hash); err != nil {
			return "", err
		}
	}
	secret := newSecret()
	session.Hash, session.Address, session.Agent = pat.Hash(secret), c.address(), clipAgent(c.r.UserAgent())
	if err := tx.CreateSession(ctx, session); err != nil {
		return "", err
	}
	return session.User + "." + secret, tx.Audit(ctx, store.AuditRow{
		Account: session.User, Actor: session.User, Token: "session " + session.ID(),
		Action: "session.create", Object: session.User, RequestID: c.id, Address: c.address(),
	})
}

// maxAgent bounds what is stored of what a browser calls itself, in bytes.
const maxAgent = 200

func clipAgent(agent string) string {
	return fit(agent[:min(len(agent), maxAgent)])
}

// setCookie gives the browser the cookie of a session; "" takes it away.
func (c *call) setCookie(value string) {
	cookie := &http.Cookie{
		Name: cookieName(c.s.PublicURL), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(c.s.PublicURL, "https://"), MaxAge: int(store.SessionLife.Seconds()),
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.w, cookie)
}
