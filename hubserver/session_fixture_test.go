package hubserver_test

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// form is an HTML form with fields, given as name and value in turn.
func form(fields ...string) typed {
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Add(fields[i], fields[i+1])
	}
	return typed{wire.FormType, []byte(values.Encode())}
}

// session returns user in a browser that is signed in with these scopes, all of them by
// default.
func (h *testHub) session(user string, scopes ...wire.Scope) *caller {
	h.Helper()
	if scopes == nil {
		scopes = wire.Scopes
	}
	return h.sessionOf(user, "", scopes...)
}

// sessionBehind returns the browser of user that signed in with token.
func (h *testHub) sessionBehind(user, token string, scopes ...wire.Scope) *caller {
	h.Helper()
	return h.sessionOf(user, pat.Hash(token), scopes...)
}

func (h *testHub) sessionOf(user, behind string, scopes ...wire.Scope) *caller {
	h.Helper()
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	secret := (rand.Text() + rand.Text())[:43]
	h.write(func(tx *store.Tx) error {
		session := &store.Session{User: user, Hash: pat.Hash(secret), Scopes: strings.Join(names, " ")}
		if behind != "" {
			token, err := tx.Token(behind)
			if err != nil {
				return err
			}
			session.TokenID = token.ID
		}
		return tx.CreateSession(session)
	})
	return h.browsing(secret)
}

// browsing returns the browser that has a session's cookie.
func (h *testHub) browsing(cookie string) *caller {
	return &caller{hub: h, cookie: h.server.CookieName() + "=" + cookie}
}

// signedIn returns the browser with the cookie that an answer sets.
func (a *answer) signedIn(hub *testHub) *caller {
	a.t.Helper()
	pair, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if name, value, _ := strings.Cut(pair, "="); name != hub.server.CookieName() || value == "" {
		a.t.Fatalf("%s sets the cookie %q", a.call, a.header.Get("Set-Cookie"))
	}
	return &caller{hub: hub, cookie: pair}
}

// signIn gives a browser the session of a caller.
func (b *browser) signIn(t *testing.T, who *caller) {
	t.Helper()
	name, value, _ := strings.Cut(who.cookie, "=")
	hidden := true
	_, err := chromedp.Call(b.Context, network.SetCookie, network.SetCookieParams{
		Name: name, Value: value, URL: who.hub.url, HTTPOnly: &hidden, SameSite: network.CookieSameSiteLax,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// clear signs a browser out.
func (b *browser) clear(t *testing.T) {
	t.Helper()
	if _, err := chromedp.Call(b.Context, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
}
