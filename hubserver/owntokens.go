package hubserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// createToken creates a token of the caller. It has no more scopes than the one of the
// request, lives no longer, and is revoked with it.
func (s *Server) createToken(c *call) error {
	var req wire.CreateToken
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if err := c.needUser("create tokens"); err != nil {
		return err
	}
	if err := c.needUnrestricted("creates no tokens"); err != nil {
		return err
	}
	if len(c.who.scopes) == 0 {
		return problemf(http.StatusForbidden, wire.CodeMissingScope, "the token has no scope, so that it can only read")
	}
	if err := checkTokenName(req.Name); err != nil {
		return err
	}
	scopes, err := c.ownScopes(req.Scopes)
	if err != nil {
		return err
	}
	only, err := c.restriction(req.Restriction)
	if err != nil {
		return err
	}
	secret := pat.New()
	token := &store.Token{
		Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: req.Name, Owner: c.who.user, Scopes: strings.Join(scopes, " "), Restriction: only,
	}
	err = c.transact(c.ctx(), func(tx *store.Tx) error {
		now, err := tx.Now(c.ctx())
		if err != nil {
			return err
		}
		if token.ExpiresAt, err = c.ownLifetime(req.Lifetime, now); err != nil {
			return err
		}
		return c.mint(tx, token, c.who.behind())
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusCreated, wire.CreatedToken{TokenInfo: toTokenInfo(token), Token: secret})
}

// restriction returns what a new token is to be restricted to. The caller needs a role there.
func (c *call) restriction(asked wire.Restriction) (store.Restriction, error) {
	only := store.Restriction{OnlyAccount: cmp.Or(asked.Account, asked.Project.Account()), OnlySlug: asked.Project.Slug()}
	switch {
	case only.OnlyAccount == "":
		return only, nil
	case asked.Account != "" && only.OnlySlug != "":
		return only, invalidBody("/project", "give an account or a project, not both")
	case !ref.ValidName(only.OnlyAccount):
		return only, invalidBody("/account", "an account is %s", ref.Rule)
	}
	role, err := c.roleIn(only)
	if err != nil {
		return only, err
	}
	if err := c.permitAs(role, only.OnlyAccount, wire.Reader, ""); err != nil {
		return only, err
	}
	if only.OnlySlug == "" {
		return only, nil
	}
	_, err = lookUp(c, func(v *store.View) (*store.ProjectView, error) { return v.Project(c.ctx(), asked.Project) })
	if errors.Is(err, store.ErrNotFound) {
		return only, invalidBody("/project", "there is no project %s", asked.Project)
	}
	return only, err
}

// listTokens lists the valid tokens of the caller and of the bots of the caller's account.
func (s *Server) listTokens(c *call) error {
	if err := c.needUser("list tokens"); err != nil {
		return err
	}
	tokens, err := lookUp(c, c.ownTokens)
	if err != nil {
		return err
	}
	answer := wire.Tokens{Tokens: []wire.TokenInfo{}}
	for i := range tokens {
		info := toTokenInfo(&tokens[i])
		info.Self = c.who.token != nil && tokens[i].Hash == c.who.token.Hash
		answer.Tokens = append(answer.Tokens, info)
	}
	return c.json(http.StatusOK, answer)
}

// ownTokens returns the valid tokens that the caller may see: a restricted token sees
// those that are restricted at least as much.
func (c *call) ownTokens(v *store.View) (visible []store.Token, err error) {
	all, err := v.ValidTokens(c.ctx(), c.who.user)
	for _, t := range all {
		if c.who.only.Allows(t.Restriction) {
			visible = append(visible, t)
		}
	}
	return visible, err
}

// revokeToken revokes a token of the caller: that of the request, which needs no scope, or
// one by its ID. It is not a failure if that is revoked already.
func (s *Server) revokeToken(c *call) error {
	id := c.params.ByName("id")
	self := c.who.token != nil && (id == wire.TokenSelf || id == c.who.token.ID())
	if self {
		id = c.who.token.ID()
	} else {
		if err := c.needUser("revoke other tokens"); err != nil {
			return err
		}
		if err := c.needScope(wire.ScopeAdminResource); err != nil {
			return err
		}
	}
	c.changesRights = []string{c.who.account}
	var token *store.RevokedToken
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		token, err = c.revokeOwn(tx, id)
		return err
	})
	if err != nil {
		return absent(err, fmt.Sprintf("token %.12s of %s", id, c.who.user))
	}
	answer := wire.RevokedToken{ID: token.ID(), Name: token.Name, Self: self}
	for _, t := range token.With {
		answer.AlsoRevoked = append(answer.AlsoRevoked, wire.TokenName{ID: t.ID(), Name: t.Name})
	}
	return c.json(http.StatusOK, answer)
}

// revokeOwn revokes a token that the caller may see; ErrNotFound if there is none.
func (c *call) revokeOwn(tx *store.Tx, id string) (*store.RevokedToken, error) {
	token, err := tx.RevokeOwnToken(c.ctx(), c.who.account, id, c.who.only)
	if err != nil {
		return nil, err
	}
	return token, tx.AuditRevocation(c.ctx(), c.auditRow(c.who.account), token)
}
