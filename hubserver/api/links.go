package api

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// NewLink returns the address of a new link to the hub at publicURL, and the hash of its secret, which is stored.
func NewLink(publicURL string) (address, hash string) {
	secret := request.NewSecret()
	return publicURL + "/link?" + url.Values{"code": {secret}}.Encode(), pat.Hash(secret)
}

// createLink creates a link that signs a browser in with the rights of the request's token.
func createLink(c *request.Call, req *wire.CreateLink) error {
	if req.Page != "" && request.LocalPath(req.Page) != req.Page {
		return request.InvalidBody("/page", "the page is a path of this hub, such as /@acme/web")
	}
	if c.Access.Session != 0 {
		return request.Forbidden("a browser session cannot create sign-in links")
	}
	if err := c.NeedUser("sign in"); err != nil {
		return err
	}
	return issueLink(c, store.Link{
		Account: c.Access.Account, Kind: store.LinkSignIn, Scopes: c.Access.Scopes, Page: request.LocalPath(req.Page),
	}, store.PageLinkLife, "link.create")
}

// createInvitation creates a link that gives one person a role in an org.
func createInvitation(c *request.Call, req *wire.CreateInvitation) error {
	if !ref.ValidName(req.Account) {
		return request.InvalidBody("/account", "an account is %s", ref.Rule)
	}
	if !isRole(req.Role) {
		return request.InvalidBody("/role", "the role is reader, writer or admin")
	}
	if _, err := c.Permit(store.AccessQuery{Account: req.Account}, wire.Admin, wire.ScopeAdminResource); err != nil {
		return err
	}
	if err := c.NeedUnrestricted("cannot invite people"); err != nil {
		return err
	}
	return issueLink(c, store.Link{
		Account: req.Account, Kind: store.LinkInvitation, Role: string(req.Role), Page: "/@" + req.Account,
	}, store.AccountLinkLife, "invitation.create")
}

// issueLink stores a link, and responds with its address. It is valid no longer than the token of the request.
func issueLink(c *request.Call, link store.Link, life time.Duration, action string) error {
	var address string
	address, link.Hash = NewLink(c.Hub.PublicURL)
	link.TokenID, link.CreatedByID = c.Access.TokenID, c.Access.Caller.AccountID
	err := c.Write(func(tx *store.Tx) (request.Done, error) {
		l := link // a copy, because this may run again
		err := tx.CreateLink(&l, life)
		done := request.Done{Account: l.Account, Action: action, Object: l.Account, Detail: l.Role}
		return done.With(http.StatusCreated, wire.Link{URL: address, ExpiresAt: l.ExpiresAt.Time()}), err
	})
	if kind, ok := errors.AsType[*store.KindError](err); ok {
		return request.InvalidBody("/account", "%v", kind)
	}
	if errors.Is(err, store.ErrTooMany) {
		return request.RateLimited(60, "%s has too many unused links", link.Account)
	}
	return err
}
