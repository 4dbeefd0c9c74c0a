package request

import (
	"errors"
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// grant is a role that the caller was found to have, at least.
type grant struct {
	ask      store.Ask
	role     wire.Role
	resource int64 // that the ask led to; 0: none
}

// admit finds out who calls, and lets the call through to its handler or not.
func (c *Call) admit() (err error) {
	if c.Endpoint.Account == wire.Anonymous {
		return nil
	}
	if c.Access, err = c.authenticate(); err != nil {
		return err
	}
	if err := c.count(); err != nil {
		return err
	}
	return c.allow()
}

// allow lets the caller through: 401, then 403 for the role, then 403 for the scope, then 404 for a
// name that breaks its rule.
func (c *Call) allow() error {
	e := c.Endpoint
	switch {
	case c.Access == nil:
		return c.allowPublic(c.Unauthenticated())
	case e.Account == wire.AnyToken || e.Account == wire.InBody: // handlers that read the account call Permit
		return c.NeedScope(e.Scope)
	case e.Account == wire.InPath:
	case c.Access.Resource.Account == "": // the query names none: it is the caller's own
		own, err := c.AccessTo(c.about())
		if err != nil {
			return err
		}
		c.Access = own
	}
	role, scope := e.Role, e.Scope
	switch {
	case e.Op == wire.OpRemoveMember && c.Param("user") == c.Access.Name(): // each member may leave
		role = wire.Reader
	case e.Op == wire.OpTakeRateLimit && c.Access.IsBot(): // its handler knows whether the bot asks about itself
		scope = ""
	}
	if err := c.permit(c.about(), c.Access, role, scope); err != nil {
		return c.allowPublic(err)
	}
	c.Resource = c.Access.Resource
	if e.Account == wire.InPath {
		if c.Ref().IsZero() {
			return NotFound(c.R.URL.Path)
		}
		return nil
	}
	_, err := c.Query() // a malformed query is refused before anything is done with a part of it
	return err
}

// allowPublic lets any caller read a public project. It returns the refusal for all else.
func (c *Call) allowPublic(refused error) error {
	if c.Endpoint.Public {
		if err := c.findPublic(); err != nil || c.Resource.ID != 0 {
			return err
		}
	}
	return refused
}

// findPublic looks for a public project of the name that the path names.
func (c *Call) findPublic() (err error) {
	about := c.about()
	if about.Kind != store.KindProject {
		return nil
	}
	c.Resource, err = c.View().PublicProject(about.Account, about.Slug)
	if errors.Is(err, store.ErrNotFound) {
		c.Resource, err = store.Resource{}, nil
	}
	return err
}

// Look finds out who calls, and whether the caller may read what the path names, at an endpoint that
// needs no token. An invalid token counts as none. Resource.ID is 0 if the caller may not read it.
func (c *Call) Look() (err error) {
	c.Access, err = c.authenticate()
	if refused, ok := errors.AsType[*Problem](err); ok && refused.Status == http.StatusUnauthorized {
		return c.findPublic()
	}
	if err != nil {
		return err
	}
	if err := c.count(); err != nil {
		return err
	}
	if c.Has(wire.Reader) {
		c.Resource = c.Access.Resource
		return nil
	}
	return c.findPublic()
}

// Visit makes the user of the session the caller, if there is one. Forms of pages are never sent
// with a token.
func (c *Call) Visit() (err error) {
	c.Access, err = c.signedIn()
	return err
}

// about says what the request is about, as its path or its query names it. In a query without an
// account it is the caller's own, whose name is "" until it is known.
func (c *Call) about() store.Ask {
	ask, e := store.Ask{Account: c.Param("account"), Slug: c.Param("slug")}, c.Endpoint
	switch {
	case e == nil:
	case e.Account == wire.InQuery || e.Account == wire.InBot:
		return store.Ask{Account: c.AccountInQuery()}
	case e.AboutProject():
		ask.Kind = store.KindProject
	case strings.HasPrefix(e.Path, "/v1/apis/{account}/{slug}"):
		ask.Kind = store.KindAPI
	case strings.HasPrefix(e.Path, "/v1/stacks/{account}/{slug}"):
		ask.Kind = store.KindStack
	}
	return ask
}

// AccountInQuery returns the account on which a role is needed, as the query names it; by default the
// caller's own, "" as long as the caller is not known.
func (c *Call) AccountInQuery() string {
	q := c.R.URL.Query()
	if account := q.Get("account"); account != "" {
		return account
	}
	if bot, err := ref.ParseTyped(q.Get("botRefId")); c.Endpoint.Account == wire.InBot && err == nil {
		return bot.Account()
	}
	if c.Access != nil {
		return c.Access.Caller.Account
	}
	return ""
}

// count counts the request of a bot.
func (c *Call) count() error {
	if c.Access == nil || !c.Access.IsBot() || c.Endpoint.Op == wire.OpTakeRateLimit { // whose handler counts
		return nil
	}
	err := c.Hub.CountBot(c)
	if errors.Is(err, store.ErrNotFound) {
		return unknownToken()
	}
	return err
}

// AccessTo returns what there is for the caller of what a names, whose Token and Session are left
// empty. The handler decides what to do without a right.
func (c *Call) AccessTo(a store.Ask) (*store.Access, error) {
	if c.Access == nil {
		return nil, c.Unauthenticated()
	}
	return lookUp(c.View(), c.credentials(a))
}

// Permit checks the caller's role on what a names, then the scope. [Call.Write] checks the role again,
// and that a still leads to the same resource. To a caller without a role, an account that does not
// exist looks like any other.
func (c *Call) Permit(a store.Ask, role wire.Role, scope wire.Scope) (*store.Access, error) {
	found, err := c.AccessTo(a)
	if err != nil {
		return nil, err
	}
	return found, c.permit(a, found, role, scope)
}

func (c *Call) permit(ask store.Ask, a *store.Access, needed wire.Role, scope wire.Scope) error {
	if store.Rank(a.Role) < store.Rank(string(needed)) {
		return c.NotPermitted(wire.Role(a.Role), ask.Account, needed)
	}
	c.grants = append(c.grants, grant{c.credentials(ask), needed, a.Resource.ID})
	return c.NeedScope(scope)
}

// credentials adds to an ask by what the caller was recognised.
func (c *Call) credentials(a store.Ask) store.Ask {
	if c.Access.Session != 0 {
		a.Session = c.Access.Hash
	} else {
		a.Token = c.Access.Hash
	}
	return a
}

// permitAgain checks in v that the caller still has the rights that let the call in, and that each
// name leads to the same resource as then.
func (c *Call) permitAgain(v store.View) error {
	if c.Access == nil {
		return nil
	}
	grants := c.grants
	if len(grants) == 0 {
		grants = []grant{{ask: c.credentials(store.Ask{})}}
	}
	for _, g := range grants {
		a, err := lookUp(v, g.ask)
		switch {
		case err != nil:
			return err
		case store.Rank(a.Role) < store.Rank(string(g.role)):
			return c.NotPermitted(wire.Role(a.Role), g.ask.Account, g.role)
		case g.resource != 0 && a.Resource.ID == 0:
			return absent(g.ask)
		case g.resource != 0 && a.Resource.ID != g.resource:
			return Problemf(http.StatusConflict, wire.CodePlanOutdated, "@%s/%s is another %s now",
				g.ask.Account, g.ask.Slug, g.ask.Kind).WithHint("send the request again")
		}
	}
	return nil
}

// Recheck returns an error unless the caller may still read what the path names, while a response
// lasts.
func (c *Call) Recheck() (err error) {
	again := *c
	again.grants, again.Resource = nil, store.Resource{}
	if again.Access, err = c.authenticate(); err != nil {
		return err
	}
	if err := again.allow(); err != nil {
		return err
	}
	if again.Resource.ID != c.Resource.ID {
		return absent(c.about())
	}
	return nil
}
