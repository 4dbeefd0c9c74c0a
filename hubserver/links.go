package hubserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// NewLink returns the address of a new link of an account to a hub, and the hash that is
// stored of its secret.
func NewLink(publicURL, account string) (address, hash string) {
	secret := newSecret()
	return publicURL + "/link?" + url.Values{"code": {account + "." + secret}}.Encode(), pat.Hash(secret)
}

// createLink creates a link that signs a browser in with the rights of the token.
func (s *Server) createLink(c *call) error {
	var req wire.CreateLink
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if req.Page != "" && localPath(req.Page) != req.Page {
		return invalidBody("/page", "the page is a path of this hub, such as /@acme/web")
	}
	if c.who.token == nil {
		return problemf(http.StatusForbidden, wire.CodeNotPermitted, "a session creates no links: they would outlive it")
	}
	if err := c.needUser("sign in"); err != nil {
		return err
	}
	return c.issueLink(&store.Link{
		Account: c.who.user, Kind: store.LinkSignIn, Token: c.who.token.Hash, Scopes: c.who.token.Scopes, Page: localPath(req.Page),
	}, store.PageLinkLife, "link.create")
}

// createInvitation creates a link that gives one person a role in an org.
func (s *Server) createInvitation(c *call) error {
	var req wire.CreateInvitation
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if !ref.ValidName(req.Account) {
		return invalidBody("/account", "an account is %s", ref.Rule)
	}
	if rank(req.Role) <= 0 {
		return invalidBody("/role", "the role is reader, writer or admin")
	}
	if err := c.permit(req.Account, wire.Admin, wire.ScopeAdminResource); err != nil {
		return err
	}
	if err := c.needUnrestricted("cannot invite people"); err != nil {
		return err
	}
	return c.issueLink(&store.Link{
		Account: req.Account, Kind: store.LinkInvitation, Token: c.who.behind(), Role: string(req.Role), Page: "/@" + req.Account,
	}, store.AccountLinkLife, "invitation.create")
}

// behind is the hash of the token, or of the token behind the session; "" for none.
func (w *caller) behind() string {
	if w.session != nil {
		return w.session.Token
	}
	return w.token.Hash
}

func scopeNames(scopes []wire.Scope) []string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return names
}

func (c *call) issueLink(link *store.Link, life time.Duration, action string) error {
	address, hash := NewLink(c.s.PublicURL, link.Account)
	link.Hash, link.CreatedBy = hash, c.who.user
	err := c.transact(c.ctx(), func(tx *store.Tx) error {
		if err := tx.CreateLink(c.ctx(), link, life); err != nil {
			return err
		}
		return c.audit(c.ctx(), tx, link.Account, action, link.Account, link.Role)
	})
	var kind *store.KindError
	switch {
	case errors.As(err, &kind):
		return invalidBody("/account", "%v", kind)
	case errors.Is(err, store.ErrTooMany):
		return problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "%s has too many links that were not used", link.Account).
			with("Retry-After", "60")
	case err != nil:
		return err
	}
	return c.json(http.StatusCreated, wire.Link{URL: address, ExpiresAt: link.ExpiresAt.Time()})
}

// errLink says why a link cannot be used, in a sentence for its page.
type errLink string

func (e errLink) Error() string { return string(e) }

const (
	linkUnknown errLink = "This hub has no such link. Check that it was copied whole."
	linkUsed    errLink = "This link was used already. Each link works once."
	linkExpired errLink = "This link has expired."
	linkVoid    errLink = "This link is no longer valid: the rights of the person who created it were taken away."
)

// findLink returns the link of a code unless it was used or has expired.
func findLink(ctx context.Context, v *store.View, code string) (*store.Link, error) {
	account, hash, ok := parseSecret(code)
	if !ok {
		return nil, linkUnknown
	}
	link, expired, err := v.Link(ctx, account, hash)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, linkUnknown
	case err != nil:
		return nil, err
	case link.UsedAt != 0:
		return nil, linkUsed
	case expired:
		return nil, linkExpired
	}
	return link, nil
}

// checkLink returns linkVoid unless the person who created a link still has the rights
// for it.
func checkLink(ctx context.Context, v *store.View, link *store.Link) error {
	var refused *problem
	err := linkProblem(ctx, v, link)
	if errors.As(err, &refused) {
		return linkVoid
	}
	return err
}

func linkProblem(ctx context.Context, v *store.View, link *store.Link) error {
	if link.Token != "" {
		if err := bearerProblem(v.Bearer(ctx, link.Token)); err != nil {
			return err
		}
	}
	user := link.Account
	if link.Kind == store.LinkInvitation {
		user = link.CreatedBy
		role, err := v.RoleOf(ctx, user, link.Account)
		if err != nil {
			return err
		}
		if wire.Role(role) != wire.Admin {
			return notPermitted(user, wire.Role(role), link.Account, wire.Admin)
		}
	}
	account, err := v.Account(ctx, user)
	if err == nil && account.DisabledAt != 0 {
		return unauthorized(wire.CodeUnauthorized, "the account "+user+" is disabled")
	}
	return err
}

// linkPage shows what a link does. It uses nothing up: programs that show previews of
// links open them, too.
func (s *Server) linkPage(c *call) error {
	if err := c.visit(); err != nil {
		return err
	}
	code := c.r.URL.Query().Get("code")
	var link *store.Link
	err := s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if link, err = findLink(c.ctx(), v, code); err != nil {
			return err
		}
		return checkLink(c.ctx(), v, link)
	})
	return c.showLink(link, err, code, "", http.StatusOK, "")
}

// showLink responds with the page of a link; err is why it cannot be used, refused why
// the form about it was not accepted.
func (c *call) showLink(link *store.Link, err error, code, name string, status int, refused string) error {
	shown := page.OneTimeLink{Layout: c.layout("Link"), Code: code, Name: name, Refused: refused}
	var unusable errLink
	switch {
	case errors.As(err, &unusable):
		shown.Here, shown.Unusable, status = "/", string(unusable), http.StatusNotFound
	case err != nil:
		return err
	case link.Kind == store.LinkInvitation:
		shown.Title, shown.Org, shown.Role, shown.By = "Join @"+link.Account, link.Account, link.Role, link.CreatedBy
	default:
		shown.Title, shown.SignIn, shown.To = "Sign in", link.Account, link.Page
	}
	body, err := shown.Render()
	return c.html(status, body, err)
}

// useLink does what a link is for, once.
func (s *Server) useLink(c *call) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	if err := c.visit(); err != nil {
		return err
	}
	code, name := form.Get("code"), strings.TrimSpace(form.Get("name"))
	link, err := lookUp(c, func(v *store.View) (*store.Link, error) { return findLink(c.ctx(), v, code) })
	if err != nil { // without taking the writer from others
		return c.showLink(nil, err, code, name, 0, "")
	}
	cookie := ""
	err = s.Store.Write(c.ctx(), func(tx *store.Tx) (err error) {
		if link, err = c.claimLink(tx, code); err != nil {
			return err
		}
		if link.Kind == store.LinkInvitation {
			cookie, err = c.join(tx, link, name)
			return err
		}
		cookie, err = c.startSession(c.ctx(), tx, &store.Session{User: link.Account, Token: link.Token, Scopes: link.Scopes})
		return err
	})
	var refused *problem
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		return c.showLink(link, nil, code, name, refused.Status, sentence(refused.Detail))
	}
	if err != nil {
		return c.showLink(link, err, code, name, 0, "")
	}
	if cookie != "" {
		c.setCookie(cookie)
	}
	return c.seeOther(link.Page)
}

// claimLink marks the link of a code as used, if it can be.
func (c *call) claimLink(tx *store.Tx, code string) (*store.Link, error) {
	link, err := findLink(c.ctx(), &tx.View, code)
	if err != nil {
		return nil, err
	}
	rights, lock := []string{link.Account, link.CreatedBy}, tx.LockRights
	if c.who != nil { // an invitation may change the role
		rights, lock = append(rights, c.who.user), tx.ChangeRights
	}
	if err := lock(c.ctx(), rights...); err != nil {
		return nil, err
	}
	if err := checkLink(c.ctx(), &tx.View, link); err != nil {
		return nil, err
	}
	used, err := tx.UseLink(c.ctx(), link.Account, link.Hash)
	if err == nil && !used {
		err = linkUsed
	}
	return link, err
}

// join gives the role of an invitation to the user of the session, else to a new user
// called name, for whom it starts a session.
func (c *call) join(tx *store.Tx, link *store.Link, name string) (cookie string, err error) {
	ctx := c.ctx()
	if c.who != nil {
		if err := c.who.check(ctx, &tx.View); err != nil {
			return "", err
		}
		return "", c.giveRole(tx, link, c.who.user)
	}
	if !ref.ValidName(name) {
		return "", invalidBody("/name", "a name is %s", ref.Rule)
	}
	if _, err := tx.Account(ctx, name); err == nil {
		return "", invalidBody("/name", "the name %s is taken; if it is yours, sign in first", name)
	} else if !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if err := tx.CreateAccount(ctx, name, store.KindUser); err != nil {
		return "", err
	}
	err = tx.Audit(ctx, store.AuditRow{
		Account: name, Actor: name, Action: "account.create", Object: name,
		Detail: store.KindUser + ", invited by " + link.CreatedBy, RequestID: c.id, Address: c.address(),
	})
	if err != nil {
		return "", err
	}
	if err := c.giveRole(tx, link, name); err != nil {
		return "", err
	}
	return c.startSession(ctx, tx, &store.Session{User: name, Scopes: strings.Join(scopeNames(wire.Scopes), " ")})
}

// giveRole gives user the role of an invitation, unless the user has a higher one.
func (c *call) giveRole(tx *store.Tx, link *store.Link, user string) error {
	has, err := tx.RoleOf(c.ctx(), user, link.Account)
	if err != nil || rank(wire.Role(has)) >= rank(wire.Role(link.Role)) {
		return err
	}
	if err := tx.SetMember(c.ctx(), link.Account, user, link.Role); err != nil {
		return err
	}
	return tx.Audit(c.ctx(), store.AuditRow{
		Account: link.Account, Actor: user, Action: "member.join", Object: user,
		Detail: link.Role + ", invited by " + link.CreatedBy, RequestID: c.id, Address: c.address(),
	})
}
