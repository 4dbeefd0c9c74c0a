package hubserver

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// signInPage asks for a token.
func (s *Server) signInPage(c *call) error {
	if err := c.visit(); err != nil {
		return err
	}
	to := localPath(c.r.URL.Query().Get("to"))
	if c.who != nil && to != "/" {
		return c.seeOther(to)
	}
	return c.askToSignIn(http.StatusOK, to, "")
}

func (c *call) askToSignIn(status int, to, refused string) error {
	shown := page.SignIn{Layout: c.layout("Sign in"), To: to, Refused: refused}
	shown.Here = to
	if origin, err := url.Parse(c.s.PublicURL); err == nil {
		shown.Open = IsOpen(origin)
	}
	body, err := shown.Render()
	return c.html(status, body, err)
}

// signIn starts a session with the rights of the token that was typed.
func (s *Server) signIn(c *call) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	to, token := localPath(form.Get("to")), strings.TrimSpace(form.Get("token"))
	if !pat.Valid(token) {
		return c.askToSignIn(http.StatusUnprocessableEntity, to, "That is not a whole token: it begins with hubpat_ and has 38 more letters and digits.")
	}
	bearer, err := lookUp(c, func(v *store.View) (*store.Bearer, error) { return v.Bearer(c.ctx(), pat.Hash(token)) })
	err = bearerProblem(bearer, err) // an unknown token takes no writer from others
	if err == nil && bearer.Bot != "" {
		err = problemf(http.StatusForbidden, wire.CodeNotPermitted, "a bot cannot sign in")
	}
	cookie := ""
	if err == nil {
		err = s.Store.Write(c.ctx(), func(tx *store.Tx) (err error) {
			cookie, err = c.startSession(c.ctx(), tx, &store.Session{User: bearer.Owner, Token: bearer.Hash, Scopes: bearer.Scopes})
			return err
		})
	}
	var refused *problem
	if errors.As(err, &refused) {
		return c.askToSignIn(http.StatusUnprocessableEntity, to, sentence(refused.Detail))
	}
	if err != nil {
		return err
	}
	c.setCookie(cookie)
	return c.seeOther(to)
}

// signOut ends the session.
func (s *Server) signOut(c *call) error {
	if err := c.visit(); err != nil {
		return err
	}
	if c.who != nil {
		err := s.Store.Write(c.ctx(), func(tx *store.Tx) error {
			if _, err := tx.EndSession(c.ctx(), c.who.user, c.who.session.Hash); err != nil {
				return err
			}
			return c.audit(c.ctx(), tx, c.who.user, "session.end", c.who.user, "")
		})
		if err != nil {
			return err
		}
	}
	c.setCookie("")
	return c.seeOther("/sign-in")
}

// maxForm bounds the body of an HTML form, in bytes.
const maxForm = 16 << 10

// form reads the fields of an HTML form.
func (c *call) form() (url.Values, error) { return c.formUpTo(maxForm) }

func (c *call) formUpTo(limit int64) (url.Values, error) {
	if err := c.needMediaType(wire.FormType); err != nil {
		return nil, err
	}
	data, err := c.readAll(changing, "the form", limit)
	if err != nil {
		return nil, err
	}
	fields, err := url.ParseQuery(storableQuery(string(data)))
	if err != nil {
		return nil, problemf(http.StatusBadRequest, wire.CodeInvalidBody, "malformed form: %v", err)
	}
	return fields, nil
}

// seeOther sends the browser on to a path of this hub.
func (c *call) seeOther(path string) error {
	c.w.Header().Set("Location", path)
	return c.html(http.StatusSeeOther, nil, nil)
}

// maxReturn bounds the path to which a browser returns, in bytes.
const maxReturn = 2 << 10

// localPath returns the path and query to return to after signing in, "/" for what a
// browser would not look for on this hub. Browsers take \ for / and leave out control
// characters, so what has any is refused.
func localPath(to string) string {
	u, err := url.Parse(to)
	switch {
	case err != nil, len(to) > maxReturn, !strings.HasPrefix(to, "/"), strings.HasPrefix(to, "//"),
		strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r >= 0x7f }),
		u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "":
		return "/"
	}
	return to
}

// sentence makes the detail of a problem a sentence of a page, on which it is clear
// which field the detail is about.
func sentence(detail string) string {
	if detail == "" {
		return ""
	}
	if pointer, rest, ok := strings.Cut(detail, ": "); ok && strings.HasPrefix(pointer, "/") && !strings.Contains(pointer, " ") {
		detail = rest
	}
	return strings.ToUpper(detail[:1]) + detail[1:] + "."
}
