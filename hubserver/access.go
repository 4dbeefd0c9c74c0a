package hubserver

import (
	"cmp"
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

// caller is the owner of a valid token, or of a session in a browser.
type caller struct {
	user    string        // for a bot, its ref
	account string        // the user's own, or the one that owns the bot
	token   *store.Bearer // nil: a session
	asked   store.Asked   // what was read with the token
	read    *store.Admission
	session *store.SignedIn // nil: a token
	scopes  []wire.Scope
	only    store.Restriction // of the token, or of the one behind the session
}

func newCaller(user string, scopes []string) *caller {
	who := &caller{user: user, account: user}
	for _, scope := range scopes {
		who.scopes = append(who.scopes, wire.Scope(scope))
	}
	return who
}

// isBot reports whether the caller is a bot: a writer in its own account, and nothing else.
func (w *caller) isBot() bool { return w.token != nil && w.token.Bot != "" }

// notPermitted says that the caller's role on account is not the one that is needed.
func (w *caller) notPermitted(has wire.Role, account string, needed wire.Role) *problem {
	p := notPermitted(w.user, has, account, needed)
	switch {
	case w.isBot():
		return p.hint("a bot is a writer in its own account only")
	case w.only.OnlyAccount != "":
		return p.hint("the token is restricted to %s", w.only)
	}
	return p
}

// needUser refuses a bot what only users do.
func (c *call) needUser(what string) error {
	if c.who.isBot() {
		return problemf(http.StatusForbidden, wire.CodeNotPermitted, "a bot cannot %s", what).
			hint("send the request with the token of a user")
	}
	return nil
}

// needUnrestricted refuses a token that is restricted what would give rights to others, or
// to a token that is not: it then says what such a token cannot do.
func (c *call) needUnrestricted(cannot string) error {
	if c.who.only.OnlyAccount != "" {
		return problemf(http.StatusForbidden, wire.CodeNotPermitted, "a token that is restricted to %s %s", c.who.only, cannot).
			hint("use a token that is not restricted")
	}
	return nil
}

// tokenName is the name of the token, or of the token behind the session.
func (w *caller) tokenName() string {
	if w.session != nil {
		return w.session.TokenName
	}
	return w.token.Name
}

// shown is what logs may show of what the caller authenticated with.
func (w *caller) shown() string {
	if w.session != nil {
		return "session " + w.session.ID()
	}
	return w.token.Shown
}

// expiresAt is when the token or the session ends at the latest.
func (w *caller) expiresAt() store.Time {
	if w.session != nil {
		return w.session.ExpiresAt
	}
	return w.token.ExpiresAt
}

// check reads again whether the token or the session is valid.
func (w *caller) check(ctx context.Context, v *store.View) error {
	_, err := w.checkOn(ctx, v, "")
	return err
}

// checkOn is check that also returns the role on account as a member, if that was read
// with the token; else nil.
func (w *caller) checkOn(ctx context.Context, v *store.View, account string) (*string, error) {
	if w.session != nil {
		return nil, sessionProblem(v.SignedIn(ctx, w.user, w.session.Hash))
	}
	read, err := v.Admission(ctx, store.Asked{Token: w.token.Hash, Account: account})
	return &read.Role, bearerProblem(&read.Bearer, err)
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
		return c.unauthenticated()
	}
	if e.Account == wire.AnyToken || e.Account == wire.InBody { // a handler that reads the account from the body calls permit
		return c.needScope(e.Scope)
	}
	role, scope := e.Role, e.Scope
	if e.Op == wire.OpRemoveMember && c.params.ByName("user") == c.who.user { // everybody may leave
		role = wire.Reader
	}
	if e.Op == wire.OpTakeRateLimit && c.who.isBot() { // its handler knows whether the bot asks about itself
		scope = ""
	}
	permit := c.permit
	if e.AboutProject() {
		permit = c.permitProject
	}
	if err := permit(c.accountOf(e.Account), role, scope); err != nil {
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

// authenticate returns the caller, nil if the request has neither a token nor the cookie
// of a session that has not ended. A token takes precedence.
func (c *call) authenticate() (*caller, error) {
	if header := c.r.Header.Get("Authorization"); header != "" {
		return c.bearer(header)
	}
	return c.signedIn()
}

// bearer returns the owner of the token in an Authorization header.
func (c *call) bearer(header string) (*caller, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || !pat.Valid(token) {
		return nil, unauthorized(wire.CodeUnauthorized, "the Authorization header has no valid token")
	}
	asked := c.asked(pat.Hash(token))
	read, err := lookUp(c, func(v *store.View) (*store.Admission, error) { return v.Admission(c.ctx(), asked) })
	if err == nil && read.ExpiresAt != 0 {
		c.w.Header().Set(wire.TokenExpires, read.ExpiresAt.Time().Format(http.TimeFormat))
	}
	if err := bearerProblem(&read.Bearer, err); err != nil {
		return nil, err
	}
	bearer := &read.Bearer
	if bearer.Stale() {
		c.s.uses.note([]string{bearer.Hash})
	}
	who := newCaller(bearer.Owner, bearer.ScopeList())
	who.token, who.only, who.asked, who.read = bearer, bearer.Restriction, asked, read
	if who.isBot() {
		who.user = bearer.BotRefID
		return who, c.countRequest(who)
	}
	return who, nil
}

// asked says what to read with a token: what nearly every request needs, and what this
// one needs besides.
func (c *call) asked(hash string) store.Asked {
	asked := store.Asked{Token: hash}
	if r, err := c.pathRef(); err == nil {
		asked.Account, asked.Slug = r.Account(), r.Slug()
	}
	if c.op == wire.OpGetConfig {
		asked.Body = smallResponse
	}
	return asked
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
	return c.who.account
}

// permit checks the caller's role on account, then the token's scope. Whether
// account exists makes no difference to a caller without a role on it.
func (c *call) permit(account string, needed wire.Role, scope wire.Scope) error {
	role, err := c.roleOn(account)
	if err != nil {
		return err
	}
	return c.permitAs(role, account, needed, scope)
}

// permitProject is permit for what belongs to the project that the path names, which is
// one of account.
func (c *call) permitProject(account string, needed wire.Role, scope wire.Scope) error {
	role, err := c.roleOnProject()
	if err != nil {
		return err
	}
	return c.permitAs(role, account, needed, scope)
}

func (c *call) permitAs(role wire.Role, account string, needed wire.Role, scope wire.Scope) error {
	if rank(role) < rank(needed) {
		return c.who.notPermitted(role, account, needed)
	}
	c.granted = append(c.granted, grant{account, needed, c.who.read})
	return c.needScope(scope)
}

func (c *call) needScope(scope wire.Scope) error {
	if wire.HasScope(c.who.scopes, scope) {
		return nil
	}
	if c.who.session != nil {
		return problemf(http.StatusForbidden, wire.CodeMissingScope, "the token behind this session lacks the scope %s", scope).
			hint("sign in with a token that has it")
	}
	p := problemf(http.StatusForbidden, wire.CodeMissingScope, "the token lacks the scope %s", scope)
	if c.who.isBot() {
		return p.hint("create one that has it: tool bot token %s --name NAME --scope %s", c.who.user, scope)
	}
	// The page comes first, as few users reach the hub's machine. It offers the scopes of its session alone.
	return p.hint("create one that has it on the hub's page /tokens, or ask the hub's administrator: hub token create --user %s --name NAME --scope %s", c.who.user, scope)
}

// roleOn returns the caller's role on account, "" for none.
func (c *call) roleOn(account string) (wire.Role, error) {
	return c.roleIn(store.Restriction{OnlyAccount: account})
}

// roleOnProject returns the caller's role on the project that the path names, "" for
// none. It is the one on its account, unless the token is restricted.
func (c *call) roleOnProject() (wire.Role, error) {
	return c.roleIn(store.Restriction{OnlyAccount: c.params.ByName("account"), OnlySlug: c.params.ByName("slug")})
}

func (c *call) roleIn(part store.Restriction) (wire.Role, error) {
	account := part.OnlyAccount
	if c.who == nil || !ref.ValidName(account) {
		return "", nil
	}
	return c.who.roleIn(part, func() (string, error) {
		if c.who.asked.Account == account {
			return c.who.read.Role, nil
		}
		return lookUp(c, func(v *store.View) (string, error) { return v.RoleOf(c.ctx(), c.who.user, account) })
	})
}

// roleIn returns the role on an account, or on a project of it: member's for a user who
// may be a member of the account.
func (w *caller) roleIn(part store.Restriction, member func() (string, error)) (wire.Role, error) {
	account := part.OnlyAccount
	switch {
	case !w.only.Allows(part):
		return "", nil
	case w.isBot() && w.account == account:
		return wire.Writer, nil
	case w.isBot():
		return "", nil
	case w.user == account:
		return wire.Admin, nil
	}
	role, err := member()
	return wire.Role(role), err
}

// isPublic reports whether the request's path names a public project. After an error
// the project counts as private, and the caller gets 401.
func (c *call) isPublic() bool {
	public, err := c.readsPublic()
	return err == nil && public
}

func (c *call) readsPublic() (bool, error) {
	r, err := c.pathRef()
	if err != nil {
		return false, nil
	}
	return lookUp(c, func(v *store.View) (bool, error) { return v.IsPublic(c.ctx(), r) })
}

// pathRef returns the ref that the path names.
func (c *call) pathRef() (ref.Ref, error) {
	return ref.New(c.params.ByName("account"), cmp.Or(c.params.ByName("slug"), c.params.ByName("user")))
}

// ref returns the ref that the path names, after admit has found it valid.
func (c *call) ref() ref.Ref {
	r, _ := c.pathRef()
	return r
}

// audit adds a row about what the caller does, in the transaction that does it.
func (c *call) audit(ctx context.Context, tx *store.Tx, account, action, object, detail string) error {
	row := c.auditRow(account)
	row.Action, row.Object, row.Detail = action, object, detail
	return tx.Audit(ctx, row)
}

// auditRow returns a row of the audit log that says who calls, but not yet what it does.
func (c *call) auditRow(account string) store.AuditRow {
	return store.AuditRow{Account: account, Actor: c.who.user, Token: c.who.shown(), RequestID: c.id, Address: c.address()}
}
