package request

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// A call is admitted in these steps: authenticate finds the caller, count counts a bot's request, authorize checks the
// role and the scope that the endpoint needs, and followRename sees to a project's former name. Handlers check
// further rights by Permit. Each role that was checked is a grant, which Write checks again in its transaction.

// grant is a right that was checked: the caller had at least this role on what the query names.
type grant struct {
	query    store.AccessQuery
	role     wire.Role
	resource int64 // ID of the resource that was found; 0: none
}

// admit finds out who the caller is, and returns an error unless the caller may use the endpoint.
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
	if err := c.authorize(); err != nil {
		return err
	}
	return c.followRename()
}

// authorize checks what the endpoint needs, in this order: 401 without a token, 403 for the role, 403 for the
// scope, 404 for a path with an invalid name. It sets Resource to what the path names.
func (c *Call) authorize() error {
	e := c.Endpoint
	switch {
	case c.Access == nil:
		return c.unlessPublic(c.Unauthenticated())
	case e.Account == wire.AnyToken || e.Account == wire.InBody: // the handler calls Permit for the account
		return c.NeedScope(e.Scope)
	case e.Account != wire.InPath && c.Access.Resource.Account == "": // no path or query names it: it is the caller's
		own, err := c.AccessTo(c.about())
		if err != nil {
			return err
		}
		c.Access = own
	}
	role, scope := e.Role, e.Scope
	switch {
	case e.Op == wire.OpRemoveMember && c.Param("user") == c.Access.Name(): // members may leave
		role = wire.Reader
	case e.Op == wire.OpTakeRateLimit && c.Access.IsBot(): // the handler checks the scope if the bot counts for another
		scope = ""
	}
	if err := c.require(c.about(), c.Access, role, scope); err != nil {
		return c.unlessPublic(err)
	}
	c.Resource = c.Access.Resource
	if e.Account == wire.InPath && c.Ref().IsZero() {
		return NotFound(c.R.URL.Path)
	}
	return nil
}

// unlessPublic returns refused, except at a public endpoint for a public project, which it sets as Resource.
func (c *Call) unlessPublic(refused error) error {
	if c.Endpoint.Public {
		if err := c.findPublic(); err != nil || c.Resource.ID != 0 {
			return err
		}
	}
	return refused
}

// findPublic sets Resource to the project that the path names if it is public, else to the zero value.
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

// followRename redirects a GET whose path has a former name of Resource. Other requests are served under the
// present name, which is sent in Content-Location.
func (c *Call) followRename() error {
	if c.Resource.ID == 0 || c.Resource.Slug == c.Param("slug") {
		return nil
	}
	if c.Endpoint.Op == wire.OpRestoreProject { // it restores a deleted project of that name
		c.Resource = store.Resource{}
		return nil
	}
	former := c.about()
	prefix, _, _ := strings.Cut(c.Endpoint.Path, "{")
	rest := strings.TrimPrefix(c.R.URL.Path, prefix+former.Account+"/"+former.Slug)
	to := url.URL{Path: prefix + former.Account + "/" + c.Resource.Slug + rest, RawQuery: c.R.URL.RawQuery}
	if c.R.Method == http.MethodGet || c.R.Method == http.MethodHead {
		return Problemf(http.StatusPermanentRedirect, wire.CodeRenamed, "@%s/%s is %s now",
			former.Account, former.Slug, c.Resource).WithHeader("Location", to.String())
	}
	c.W.Header().Set("Content-Location", to.String())
	for i := range c.Params {
		if c.Params[i].Key == "slug" {
			c.Params[i].Value = c.Resource.Slug
		}
	}
	return nil
}

// Look sets Access and Resource at an endpoint that needs no token. An invalid token is ignored.
// Resource.ID is 0 if the path names nothing that the caller may read. It fails with a 308 if the path has the
// former name of a project.
func (c *Call) Look() (err error) {
	c.Access, err = c.authenticate()
	refused, ok := errors.AsType[*Problem](err)
	isUnknown := ok && refused.Status == http.StatusUnauthorized
	if err != nil && !isUnknown {
		return err
	}
	if !isUnknown {
		if err := c.count(); err != nil {
			return err
		}
	}
	if c.Has(wire.Reader) {
		c.Resource = c.Access.Resource
	} else if err := c.findPublic(); err != nil {
		return err
	}
	return c.followRename()
}

// Visit sets Access to the user of the session, nil if there is none. It ignores tokens: browsers send none
// with a form.
func (c *Call) Visit() (err error) {
	c.Access, err = c.signedIn()
	return err
}

// about returns what the path or the query names. Without an account in the query, it is the caller's own, or ""
// before authentication.
func (c *Call) about() store.AccessQuery {
	e := c.Endpoint
	if e != nil && (e.Account == wire.InQuery || e.Account == wire.InBot) {
		return store.AccessQuery{Account: c.AccountInQuery()}
	}
	query := store.AccessQuery{Account: c.Param("account"), Slug: c.Param("slug")}
	if e != nil {
		query.Kind = e.Kind()
	}
	return query
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

func (c *Call) count() error {
	if c.Access == nil || !c.Access.IsBot() || c.Endpoint.Op == wire.OpTakeRateLimit { // its handler counts
		return nil
	}
	err := c.Hub.CountBot(c)
	if errors.Is(err, store.ErrNotFound) {
		return unknownToken()
	}
	return err
}

// AccessTo returns the caller's role on what a query names, and that resource; the role may be "". It adds the
// caller's token or session to the query. It fails with a 401 if that is missing or no longer valid.
func (c *Call) AccessTo(query store.AccessQuery) (*store.Access, error) {
	if c.Access == nil {
		return nil, c.Unauthenticated()
	}
	return lookUp(c.View().Access, c.credentials(query))
}

// Permit is [Call.AccessTo] with a 403 unless the caller has the role, and the scope. [Call.Write] checks
// the role again, and that the query still names the same resource. A caller without a role gets the same 403
// whether the account exists or not. On a 403 it still returns the access.
func (c *Call) Permit(query store.AccessQuery, role wire.Role, scope wire.Scope) (*store.Access, error) {
	found, err := c.AccessTo(query)
	if err != nil {
		return nil, err
	}
	return found, c.require(query, found, role, scope)
}

// require checks a role and a scope, and remembers the role for checkGrants.
func (c *Call) require(query store.AccessQuery, a *store.Access, needed wire.Role, scope wire.Scope) error {
	if store.Rank(a.Role) < store.Rank(string(needed)) {
		return c.NotPermitted(wire.Role(a.Role), query.Account, needed)
	}
	c.grants = append(c.grants, grant{query: c.credentials(query), role: needed, resource: a.Resource.ID})
	return c.NeedScope(scope)
}

func (c *Call) credentials(query store.AccessQuery) store.AccessQuery {
	if c.Access.Session != 0 {
		query.Session = c.Access.Hash
	} else {
		query.Token = c.Access.Hash
	}
	return query
}

// checkGrants locks the resource that the path names, and checks in tx that the token or session is still valid, that
// the caller still has each role that was checked before, and that each name still refers to the same resource.
func (c *Call) checkGrants(tx *store.Tx) error {
	if c.Access == nil {
		return nil
	}
	grants := c.grants
	if len(grants) == 0 { // a token was needed, but no role
		grants = []grant{{query: c.credentials(store.AccessQuery{})}}
	}
	for _, g := range grants {
		if g.resource == c.Resource.ID {
			g.query.Lock = g.resource
		}
		a, err := lookUp(tx.Access, g.query)
		switch {
		case err != nil:
			return err
		case store.Rank(a.Role) < store.Rank(string(g.role)):
			return c.NotPermitted(wire.Role(a.Role), g.query.Account, g.role)
		case g.resource != 0 && a.Resource.ID == 0:
			return noResource(g.query)
		case g.resource != 0 && a.Resource.ID != g.resource:
			return Problemf(http.StatusConflict, wire.CodePlanOutdated, "@%s/%s is another %s now",
				g.query.Account, g.query.Slug, g.query.Kind).WithHint("send the request again")
		}
	}
	return nil
}

// Recheck checks, during a long response, that the caller may still use the endpoint, and that the path
// still names the same resource. It updates c.Access.
func (c *Call) Recheck() (err error) {
	again := *c
	again.grants, again.Resource = nil, store.Resource{}
	if again.Access, err = c.authenticate(); err != nil {
		return err
	}
	if err := again.authorize(); err != nil {
		return err
	}
	if again.Resource.ID != c.Resource.ID {
		return noResource(c.about())
	}
	c.Access = again.Access
	return nil
}
