package hubserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// checkEndpoint refuses an endpoint that does not say what its caller needs.
func checkEndpoint(e *wire.Endpoint) error {
	switch {
	case e.Account == 0:
		return errors.New("it does not say what the caller needs")
	case (e.Account == wire.Anonymous || e.Account == wire.AnyToken) != (e.Role == ""):
		return errors.New("it needs a role without an account, or an account without a role")
	case rank(e.Role) < 0:
		return fmt.Errorf("unknown role %q", e.Role)
	case e.Scope != "" && !slices.Contains(wire.Scopes, e.Scope):
		return fmt.Errorf("unknown scope %q", e.Scope)
	}
	return nil
}

func rank(r wire.Role) int {
	return slices.Index([]wire.Role{"", wire.Reader, wire.Writer, wire.Admin}, r)
}

// caller is the owner of a valid token.
type caller struct {
	user   string
	token  *store.Bearer
	scopes []wire.Scope
}

// admit lets a request through to its handler: 401, then 403 for the role, then
// 403 for the scope, then 404 for a name that breaks its rule.
func (c *call) admit(e *wire.Endpoint) error {
	if e.Account == wire.Anonymous {
		return nil
	}
	var err error
	if c.who, err = c.authenticate(); err != nil {
		return err
	}
	if c.who == nil {
		if e.Public && c.isPublic() {
			return nil
		}
		return unauthorized(wire.CodeUnauthorized, noToken)
	}
	if e.Account == wire.AnyToken || e.Account == wire.InBody { // a handler that reads the account from the body calls permit
		return c.needScope(e.Scope)
	}
	if err := c.permit(c.accountOf(e.Account), e.Role, e.Scope); err != nil {
		var refused *problem
		if errors.As(err, &refused) && e.Public && c.isPublic() {
			return nil
		}
		return err
	}
	if e.Account == wire.InPath {
		if _, err := c.pathRef(); err != nil {
			return notFound(c.r.URL.Path)
		}
		return nil
	}
	_, err = c.query() // a malformed query is refused before anything is done with a part of it
	return err
}

// query returns the parameters of the request's query, 422 if it is malformed.
func (c *call) query() (url.Values, error) {
	q, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, invalidBody("", "malformed query: %v", err)
	}
	return q, nil
}

// authenticate returns the caller, nil if the request has no token.
func (c *call) authenticate() (*caller, error) {
	header := c.r.Header.Get("Authorization")
	if header == "" {
		return nil, nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || !pat.Valid(token) {
		return nil, unauthorized(wire.CodeUnauthorized, "the Authorization header has no valid token")
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
func (c *call) accountOf(in wire.AccountIn) string {
	if in == wire.InPath {
		return c.params.ByName("account")
	}
	q := c.r.URL.Query()
	if account := q.Get("account"); account != "" {
		return account
	}
	if bot, err := ref.Parse(q.Get("botRefId")); in == wire.InBot && err == nil {
		return bot.Account()
	}
	return c.who.user
}

// permit checks the caller's role on account, then the token's scope. Whether
// account exists makes no difference to a caller without a role on it.
func (c *call) permit(account string, needed wire.Role, scope wire.Scope) error {
	role, err := c.roleOn(account)
	if err != nil {
		return err
	}
	if rank(role) < rank(needed) {
		return notPermitted(c.who.user, role, account, needed)
	}
	c.granted = append(c.granted, grant{account, needed})
	return c.needScope(scope)
}

func (c *call) needScope(scope wire.Scope) error {
	if wire.HasScope(c.who.scopes, scope) {
		return nil
	}
	return problemf(http.StatusForbidden, wire.CodeMissingScope, "the token lacks the scope %s", scope).
		hint("create one that has it: hub token create --user %s --name NAME --scope %s", c.who.user, scope)
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

// isPublic reports whether the request's path names a public project. After an error
// the project counts as private, and the caller gets 401.
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
