package page

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// SignIn is the page that asks for a token.
type SignIn struct {
	Layout
	To      string // the path to return to
	Refused string // why the last token was refused
	Open    bool   // others on the network can read the token
}

// Command returns the command that signs a browser in. It opens the project to which the
// page returns; without one, that of the directory in which it runs.
func (s SignIn) Command() string {
	path, _, _ := strings.Cut(strings.TrimPrefix(s.To, "/"), "?")
	account, below, _ := strings.Cut(path, "/")
	slug, _, _ := strings.Cut(below, "/")
	if r, err := ref.Parse(account + "/" + slug); err == nil {
		return "tool project view " + r.String() + " --web"
	}
	return "tool project view --web"
}

// signInPage asks for a token.
func signInPage(c *request.Call) error {
	if err := c.Visit(); err != nil {
		return err
	}
	to := request.LocalPath(c.R.URL.Query().Get("to"))
	if c.Access != nil && to != "/" {
		return seeOther(c, to)
	}
	return askToSignIn(c, to, "")
}

// askToSignIn responds with the page; refused is why the last token was, "" if none was.
func askToSignIn(c *request.Call, to, refused string) error {
	status := http.StatusOK
	if refused != "" {
		status = http.StatusUnprocessableEntity
	}
	shown := SignIn{Layout: layout(c, "Sign in"), To: to, Refused: refused}
	shown.Here = to
	if origin, err := url.Parse(c.Hub.PublicURL); err == nil {
		shown.Open = request.IsOpen(origin)
	}
	return show(c, status, "sign-in", shown)
}

// signIn starts a session with the rights of the token that was typed.
func signIn(c *request.Call) error {
	form, err := c.ReadForm()
	if err != nil {
		return err
	}
	to, token := request.LocalPath(form.Get("to")), strings.TrimSpace(form.Get("token"))
	if !pat.Valid(token) {
		return askToSignIn(c, to,
			"That is not a whole token: it begins with hubpat_ and has 38 more letters and digits.")
	}
	owner, err := c.Bearer(token) // an unknown token takes no writer from others
	if refused, ok := errors.AsType[*request.Problem](err); ok {
		return askToSignIn(c, to, sentence(refused.Detail))
	}
	if err != nil {
		return err
	}
	if owner.IsBot() {
		return askToSignIn(c, to, "A bot cannot sign in.")
	}
	var secret string
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		secret, done, err = startSession(c, tx, &store.Session{
			UserID: owner.Caller.AccountID, User: owner.Account, TokenID: owner.TokenID, Scopes: owner.Scopes,
		})
		return done, err
	})
	if err != nil {
		return err
	}
	c.SetCookie(secret)
	return seeOther(c, to)
}

// maxAgent bounds what is stored of what a browser calls itself, in bytes.
const maxAgent = 200

// startSession signs the browser in, in place of the session that it had.
func startSession(c *request.Call, tx *store.Tx, s *store.Session) (secret string, done request.Done, err error) {
	if former := c.SessionHash(); former != "" {
		if _, err := tx.EndSession(former); err != nil {
			return "", done, err
		}
	}
	secret = request.NewSecret()
	agent := c.R.UserAgent()
	s.Hash, s.Address, s.Agent = pat.Hash(secret), c.Address(), request.Fit(agent[:min(len(agent), maxAgent)])
	return secret, request.Done{
		Account: s.User, Actor: s.User, Token: "session " + s.ShortID(), Action: "session.create", Object: s.User,
	}, tx.CreateSession(s)
}

func signOut(c *request.Call) error {
	if err := c.Visit(); err != nil {
		return err
	}
	if c.Access != nil {
		err := c.Write(func(tx *store.Tx) (request.Done, error) {
			_, err := tx.EndSession(c.Access.Hash)
			return request.Done{Account: c.Access.Account, Action: "session.end", Object: c.Access.Account}, err
		})
		if err != nil {
			return err
		}
	}
	c.SetCookie("")
	return seeOther(c, "/sign-in")
}
