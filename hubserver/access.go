package hubserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// needs says what a route asks of its caller. The zero value asks nothing and is refused.
type needs struct {
	where  where
	role   wire.Role  // on the account, at least
	scope  wire.Scope // "": every token
	public bool       // a public project is for everyone, with and without a token
}

// where says where the account stands on which the role is needed.
type where int

const (
	unsaid  where = iota
	open          // no token is looked at
	nowhere       // a token, but no account
	inPath        // :account
	inQuery       // ?account=, else the caller's own
	inBot         // ?account=, else that of ?botRefId= where that is a ref, else the caller's own
	inBody        // the handler calls permit once it has read the body
)

func (n needs) check() error {
	switch {
	case n.where == unsaid:
		return errors.New("the route does not say what it needs")
	case (n.where == open || n.where == nowhere) != (n.role == ""):
		return errors.New("a role goes with an account, and an account with a role")
	case n.role != "" && rank(n.role) == 0:
		return errors.New("there is no such role")
	case n.scope != "" && !slices.Contains(wire.Scopes, n.scope):
		return errors.New("there is no such scope")
	}
	return nil
}

func rank(r wire.Role) int {
	return slices.Index([]wire.Role{"", wire.Reader, wire.Writer, wire.Admin}, r)
}

// caller is whoever a valid token belongs to.
type caller struct {
	user   string
	token  *store.Bearer
	scopes []wire.Scope
}

// admit lets a request through to its handler: 401, then 403 for the role, then
// 403 for the scope, then 404 for a name that breaks its rule.
func (c *call) admit(n needs) error {
	if n.where == open {
		return nil
	}
	var err error
	if c.who, err = c.authenticate(); err != nil {
		return err
	}
	if c.who == nil {
		if n.public && c.isPublic() {
			return nil
		}
		return unauthorized(wire.CodeUnauthorized, "this needs a token")
	}
	switch n.where {
	case nowhere, inBody:
		return c.needScope(n.scope)
	case inPath:
		if err := c.permit(c.accountOf(inPath), n); err != nil {
			return err
		}
		if _, err := c.pathRef(); err != nil {
			return notFound(c.r.URL.Path)
		}
		return nil
	}
	if err := c.permit(c.accountOf(n.where), n); err != nil {
		return err
	}
	_, err = c.query() // before anything is done with what could be read of it
	return err
}

// query returns the parameters of the request's query. What cannot be read is no
// reason to act as if it were not there.
func (c *call) query() (url.Values, error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, invalidBody("", "the query cannot be read: %v", err)
	}
	return q, nil
}

// authenticate returns the caller, nil when the request bears no token.
func (c *call) authenticate() (*caller, error) {
	header := c.r.Header.Get("Authorization")
	if header == "" {
		return nil, nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || !pat.Valid(token) {
		return nil, unauthorized(wire.CodeUnauthorized, "the Authorization header holds no valid token")
	}
	var bearer *store.Bearer
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		bearer, err = v.Bearer(c.ctx(), pat.Hash(token))
		return err
	})
	if err := bearerProblem(bearer, err); err != nil {
		return nil, err
	}
	if bearer.Stale {
		c.s.uses.note(bearer.Hash)
	}
	who := &caller{user: bearer.Owner, token: bearer}
	for _, scope := range bearer.ScopeList() {
		who.scopes = append(who.scopes, wire.Scope(scope))
	}
	return who, nil
}

// accountOf returns the account on which a role is needed, as the request names it.
func (c *call) accountOf(w where) string {
	if w == inPath {
		return c.params.ByName("account")
	}
	q := c.r.URL.Query()
	if account := q.Get("account"); account != "" {
		return account
	}
	if bot, err := ref.Parse(q.Get("botRefId")); w == inBot && err == nil {
		return bot.Account()
	}
	return c.who.user
}

// permit checks the caller's role on account, then the token's scope. Whether
// account exists makes no difference to a caller without a role on it.
func (c *call) permit(account string, n needs) error {
	role, err := c.roleOn(account)
	if err != nil {
		return err
	}
	if rank(role) < rank(n.role) {
		if n.public && c.isPublic() {
			return nil
		}
		return notPermitted(c.who.user, role, account, n.role)
	}
	c.granted = append(c.granted, grant{account, n.role})
	return c.needScope(n.scope)
}

func (c *call) needScope(scope wire.Scope) error {
	if wire.HasScope(c.who.scopes, scope) {
		return nil
	}
	return problemf(http.StatusForbidden, wire.CodeMissingScope, "the token lacks the scope %s", scope).
		hint("make one that has it: hub token create --user %s --name NAME --scope %s", c.who.user, scope)
}

// roleOn returns the caller's role on account, "" for none.
func (c *call) roleOn(account string) (wire.Role, error) {
	if c.who == nil || !ref.ValidName(account) {
		return "", nil
	}
	if c.who.user == account {
		return wire.Admin, nil
	}
	var role string
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		role, err = v.RoleOf(c.ctx(), c.who.user, account)
		return err
	})
	return wire.Role(role), err
}

// isPublic reports whether the request's path names a public project. An error
// makes it private: the caller is told to bring a token.
func (c *call) isPublic() bool {
	r, err := c.pathRef()
	if err != nil {
		return false
	}
	var found *store.ProjectView
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		found, err = v.Project(c.ctx(), r)
		return err
	})
	return err == nil && found.IsPublic()
}

// pathRef returns the ref that the path names.
func (c *call) pathRef() (ref.Ref, error) {
	return ref.New(c.params.ByName("account"), c.params.ByName("slug"))
}

// ref returns the ref that the path names, after admit has found it valid.
func (c *call) ref() ref.Ref {
	r, _ := c.pathRef()
	return r
}

// audit adds a row about what the caller does, in the transaction that does it.
func (c *call) audit(ctx context.Context, tx *store.Tx, account, action, object, detail string) error {
	return tx.Audit(ctx, store.AuditRow{
		Account: account, Actor: c.who.user, Token: c.who.token.Shown,
		Action: action, Object: object, Detail: detail, RequestID: c.id, Address: c.address(),
	})
}
