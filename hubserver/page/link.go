package page

import (
	"errors"
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// OneTimeLink is the page of a link that works once, with the button that uses it.
type OneTimeLink struct {
	Layout
	Code     string
	Name     string // that was typed for a new account
	Unusable string // why the link cannot be used; "": it can
	Refused  string // why the form was not accepted
	Link     *store.Link
	IsSignIn bool // the link signs in; else it is an invitation
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

// findLink returns the link of a code, and an errLink if it cannot be used.
func findLink(v store.View, code string) (*store.Link, error) {
	if len(code) != request.SecretLength {
		return nil, linkUnknown
	}
	link, err := v.Link(pat.Hash(code))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, linkUnknown
	case err != nil:
		return nil, err
	case link.UsedAt != 0:
		return nil, linkUsed
	case link.Expired:
		return nil, linkExpired
	case link.Void:
		return nil, linkVoid
	}
	return link, nil
}

// linkPage shows what a link does. It uses nothing up: programs that show previews of links open them, too.
func linkPage(c *request.Call) error {
	if err := c.Visit(); err != nil {
		return err
	}
	shown := OneTimeLink{Code: c.R.URL.Query().Get("code")}
	var err error
	shown.Link, err = findLink(c.View(), shown.Code)
	return showLink(c, shown, err)
}

// showLink responds with the page of a link; err is why it cannot be used, or why the form about it was not accepted.
func showLink(c *request.Call, shown OneTimeLink, err error) error {
	shown.Layout = layout(c, "Link")
	if unusable, ok := errors.AsType[errLink](err); ok {
		shown.Here, shown.Unusable = "/", string(unusable)
		return show(c, http.StatusNotFound, "link", shown)
	}
	refused, ok := errors.AsType[*request.Problem](err)
	if err != nil && (!ok || shown.Link == nil || refused.Status == http.StatusUnauthorized) {
		return err
	}
	status := http.StatusOK
	if ok {
		status, shown.Refused = refused.Status, sentence(refused.Detail)
	}
	shown.Title, shown.IsSignIn = "Join @"+shown.Link.Account, shown.Link.Kind == store.LinkSignIn
	if shown.IsSignIn {
		shown.Title = "Sign in"
	}
	return show(c, status, "link", shown)
}

// useLink does what a link is for, once.
func useLink(c *request.Call) error {
	form, err := c.ReadForm()
	if err != nil {
		return err
	}
	if err := c.Visit(); err != nil {
		return err
	}
	shown := OneTimeLink{Code: form.Get("code"), Name: strings.TrimSpace(form.Get("name"))}
	link, err := findLink(c.View(), shown.Code) // one that cannot be used takes no writer from others
	if err != nil {
		return showLink(c, shown, err)
	}
	shown.Link = link
	var secret string // "": the browser keeps the session that it has
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		secret = ""
		if err := tx.LockLink(link); err != nil {
			return done, err
		}
		if _, err := findLink(tx.View, shown.Code); err != nil { // as it is now
			return done, err
		}
		used, err := tx.UseLink(link)
		if err == nil && !used {
			err = linkUsed
		}
		if err != nil {
			return done, err
		}
		if link.Kind == store.LinkInvitation {
			secret, done, err = join(c, tx, link, shown.Name)
			return done, err
		}
		secret, done, err = startSession(c, tx, &store.Session{
			UserID: link.AccountID, User: link.Account, TokenID: link.TokenID, Scopes: link.Scopes,
		})
		return done, err
	})
	if err != nil {
		return showLink(c, shown, err)
	}
	if secret != "" {
		c.SetCookie(secret)
	}
	return seeOther(c, link.Page)
}

// join gives the role of an invitation to the user of the session, else to a new user called name, for whom it starts
// a session.
func join(c *request.Call, tx *store.Tx, link *store.Link, name string) (secret string, done request.Done, err error) {
	if c.Access != nil {
		switch { // the role would be the user's, not that of the token behind the session
		case c.Access.Only.AccountID != 0:
			err = request.Forbidden("this session is restricted to %s: it accepts no invitations", c.Access.Only)
		case len(c.Scopes()) == 0:
			err = request.Problemf(http.StatusForbidden, wire.CodeMissingScope,
				"this session can only read: it accepts no invitations")
		default:
			done, err = giveRole(tx, link, c.Access.Account)
		}
		return "", done, err
	}
	if !ref.ValidName(name) {
		return "", done, request.InvalidBody("/name", "a name is %s", ref.Rule)
	}
	err = tx.CreateAccount(name, store.KindUser)
	if errors.Is(err, store.ErrExists) {
		return "", done, request.InvalidBody("/name", "the name %s is taken; if it is yours, sign in first", name)
	}
	if err != nil {
		return "", done, err
	}
	joined, err := giveRole(tx, link, name)
	if err != nil {
		return "", done, err
	}
	all := request.JoinScopes(wire.Scopes) // as a user's own session has
	secret, session, err := startSession(c, tx, &store.Session{User: name, Scopes: all})
	return secret, request.Done{
		Account: name, Actor: name, Action: "account.create", Object: name,
		Detail: store.KindUser + ", invited by " + link.CreatedBy, Also: []request.Done{joined, session},
	}, err
}

// giveRole gives user the role of an invitation, unless the user has a higher one.
func giveRole(tx *store.Tx, link *store.Link, user string) (done request.Done, err error) {
	has, err := tx.LockMember(link.Account, user)
	if err != nil || store.Rank(has) >= store.Rank(link.Role) {
		return done, err
	}
	return request.Done{
		Account: link.Account, Actor: user, Action: "member.join", Object: user,
		Detail: link.Role + ", invited by " + link.CreatedBy,
	}, tx.SetMember(link.Account, user, link.Role)
}
