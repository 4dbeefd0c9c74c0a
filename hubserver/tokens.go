package hubserver

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// needSession makes the user of the session the caller. Without one it sends the browser
// to sign in and to return to a path, and reports false.
func (c *call) needSession(to string) (bool, error) {
	if err := c.visit(); err != nil {
		return false, err
	}
	if c.who != nil {
		return true, nil
	}
	return false, c.seeOther("/sign-in?" + url.Values{"to": {to}}.Encode())
}

const tokensPath = "/tokens"

// tokensPage lists the user's own tokens and sessions.
func (s *Server) tokensPage(c *call) error {
	if signedIn, err := c.needSession(tokensPath); !signedIn {
		return err
	}
	return c.showTokens(http.StatusOK, page.Tokens{})
}

// showTokens completes shown with the user's tokens and sessions, and responds with it.
func (c *call) showTokens(status int, shown page.Tokens) error {
	shown.Layout, shown.Choices, shown.NoTokens = c.layout("Tokens"), c.choices(), sentence(c.noTokens())
	shown.Here = tokensPath
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		tokens, err := c.ownTokens(v)
		if err != nil {
			return err
		}
		for _, t := range tokens {
			shown.Tokens = append(shown.Tokens, page.Token{
				ID: t.ID(), Name: t.Name, Shown: t.Shown, Scopes: t.ScopeList(), CreatedAt: t.CreatedAt.Time(), Only: t.Restriction.String(),
				ExpiresAt: t.ExpiresAt.Time(), LastUsedAt: t.LastUsedAt.Time(), Behind: t.Hash == c.who.session.Token, Bot: t.BotRefID,
				CanEnd: c.needToEnd(t.ScopeList()) == nil,
			})
		}
		sessions, err := c.ownSessions(v)
		for _, session := range sessions {
			shown.Sessions = append(shown.Sessions, page.Session{
				ID: session.ID(), Agent: session.Agent, Address: session.Address, Token: session.TokenName, CreatedAt: session.CreatedAt.Time(),
				SeenAt: session.SeenAt.Time(), ExpiresAt: session.ExpiresAt.Time(), Current: session.Hash == c.who.session.Hash,
				CanEnd: c.needToEnd(session.ScopeList()) == nil,
			})
		}
		return err
	})
	if err != nil {
		return err
	}
	body, err := shown.Render()
	return c.html(status, body, err)
}

// ownSessions returns the sessions that the caller may see, as ownTokens does.
func (c *call) ownSessions(v *store.View) (visible []store.SignedIn, err error) {
	all, err := v.Sessions(c.ctx(), c.who.user)
	for _, session := range all {
		if c.who.only.Allows(session.Restriction) {
			visible = append(visible, session)
		}
	}
	return visible, err
}

// tokenForm mints a token of the user, and shows it once.
func (s *Server) tokenForm(c *call) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	if signedIn, err := c.needSession(tokensPath); !signedIn {
		return err
	}
	secret := pat.New()
	token := &store.Token{Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: strings.TrimSpace(form.Get("name")), Owner: c.who.user}
	if err = checkTokenName(token.Name); err == nil {
		err = c.transact(c.ctx(), func(tx *store.Tx) error {
			now, err := tx.Now(c.ctx())
			if err != nil {
				return err
			}
			if token.Scopes, token.ExpiresAt, err = c.chosen(form, now); err != nil {
				return err
			}
			return c.mint(tx, token, c.who.session.Token)
		})
	}
	var refused *problem
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		return c.showTokens(refused.Status, page.Tokens{Name: token.Name, Refused: sentence(refused.Detail)})
	}
	if err != nil {
		return err
	}
	return c.showTokens(http.StatusOK, page.Tokens{Created: secret, Name: token.Name})
}

// mint stores a token of the caller that ends with its parent.
func (c *call) mint(tx *store.Tx, token *store.Token, parent string) error {
	err := tx.MintToken(c.ctx(), token, parent)
	if errors.Is(err, store.ErrTooMany) {
		return tooManyTokens(token.Owner)
	}
	if err != nil {
		return err
	}
	return c.audit(c.ctx(), tx, token.Owner, "token.create", token.ID(), token.Scopes)
}

// needToEnd refuses to end a token or a session of the user that has a scope which the
// caller lacks: a token that can only read could revoke all others. Who has the scope that
// revoking by the API needs may end all.
func (c *call) needToEnd(scopes []string) error {
	for _, scope := range scopes {
		if !wire.HasScope(c.who.scopes, wire.Scope(scope)) {
			return c.needScope(wire.ScopeAdminResource)
		}
	}
	return nil
}

// revokeForm ends one of the user's own tokens.
func (s *Server) revokeForm(c *call) error {
	return c.endOne(func(tx *store.Tx, id string) error {
		visible, err := c.ownTokens(&tx.View)
		i := slices.IndexFunc(visible, func(t store.Token) bool { return t.ID() == id })
		if err != nil || i < 0 {
			return err
		}
		if err := c.needToEnd(visible[i].ScopeList()); err != nil {
			return err
		}
		_, err = c.revokeOwn(tx, id)
		return err
	})
}

// endSession ends one of the user's own sessions.
func (s *Server) endSession(c *call) error {
	return c.endOne(func(tx *store.Tx, id string) error {
		visible, err := c.ownSessions(&tx.View)
		i := slices.IndexFunc(visible, func(s store.SignedIn) bool { return s.ID() == id })
		if err != nil || i < 0 {
			return err
		}
		if err := c.needToEnd(visible[i].ScopeList()); err != nil {
			return err
		}
		ended, err := tx.EndSession(c.ctx(), c.who.user, id)
		if err != nil || !ended {
			return err
		}
		return c.audit(c.ctx(), tx, c.who.user, "session.end", id, "")
	})
}

// endOne ends what the id of a form names, and returns to the list. It is not a failure
// if that has ended already.
func (c *call) endOne(end func(tx *store.Tx, id string) error) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	if signedIn, err := c.needSession(tokensPath); !signedIn {
		return err
	}
	c.changesRights = []string{c.who.account}
	if err := c.transact(c.ctx(), func(tx *store.Tx) error { return end(tx, form.Get("id")) }); err != nil {
		return err
	}
	return c.seeOther(tokensPath)
}
