// Package page answers the calls of browsers with the hub's HTML pages, and embeds the files that
// they refer to.
//
// A file is one subject: its handlers, and the structs that they fill for its templates. What all
// pages have in common is in templates/layout.html, and the parts that several of them use are in
// templates/parts.html.
package page

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Layout is what every page shows around its content.
type Layout struct {
	Title         string // of the window, without the hub's name
	Origin        string // of the hub
	HubName       string // its host, as people call it
	User          string // who is signed in; "" for nobody
	Here          string // path and query of this page, to return to after sign-in
	Account, Slug string // what the page is about, for the breadcrumb; "" for nothing
	Search        string // what was searched for
}

func layout(c *request.Call, title string) Layout {
	_, host, _ := strings.Cut(c.Hub.PublicURL, "://")
	l := Layout{Title: title, Origin: c.Hub.PublicURL, HubName: host, Here: c.R.URL.RequestURI()}
	if c.Access != nil {
		l.User = c.Access.Name()
	}
	return l
}

const htmlType = "text/html; charset=utf-8"

// show responds with the page that the template of that name makes of data.
func show(c *request.Call, status int, name string, data any) error {
	body, err := render(name, data)
	if err != nil {
		return err
	}
	return respond(c, status, body)
}

func respond(c *request.Call, status int, body []byte) error {
	setPolicy(c)
	return c.Bytes(status, htmlType, c.Compress(body))
}

// seeOther sends the browser on to a path of this hub.
func seeOther(c *request.Call, path string) error {
	c.W.Header().Set("Location", path)
	return respond(c, http.StatusSeeOther, nil)
}

func setPolicy(c *request.Call) {
	c.W.Header().Set("Content-Security-Policy", Policy(c.Hub.PreviewURL))
	c.W.Header().Set("Referrer-Policy", "same-origin")
}

// Policy returns the Content-Security-Policy of every page. frame is the origin of the
// preview's frame, "" for none.
func Policy(frame string) string {
	if frame == "" {
		frame = "'none'"
	}
	return "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src " + frame
}

// maxForm bounds the body of an HTML form, in bytes.
const maxForm = 16 << 10

// needSession makes the user of the session the caller. Without one it sends the browser to sign in
// and to return to a path, and reports false.
func needSession(c *request.Call, to string) (bool, error) {
	if err := c.Visit(); err != nil {
		return false, err
	}
	if c.Access != nil {
		return true, nil
	}
	return false, seeOther(c, "/sign-in?"+url.Values{"to": {to}}.Encode())
}

// ownForm returns the handler of a form for users who are signed in: others are sent to sign in, and
// to return to a path.
func ownForm(to string, answer func(c *request.Call, form url.Values) error) request.Handler {
	return func(c *request.Call) error {
		form, err := c.ReadForm(maxForm)
		if err != nil {
			return err
		}
		if signedIn, err := needSession(c, to); !signedIn {
			return err
		}
		return answer(c, form)
	}
}

// roleOn returns the caller's role on an account, "" for none.
func roleOn(c *request.Call, account string) (wire.Role, error) {
	a, err := c.AccessTo(store.Ask{Account: account})
	if refused, ok := errors.AsType[*request.Problem](err); ok && refused.Status == http.StatusUnauthorized {
		return "", nil // there is no session, or it ended meanwhile
	}
	if err != nil {
		return "", err
	}
	return wire.Role(a.Role), nil
}

// Absent is the page for what is private or does not exist; the two look the same.
type Absent struct {
	Layout
	Name    string // "": the address is no page's, and is not repeated, since it may be made to be pasted
	Command string // looks at it from a terminal
}

// absentPage responds with that page. With name "" the address is not a page's.
func absentPage(c *request.Call, name, command string) error {
	absent := Absent{Layout: layout(c, "Not found"), Name: name, Command: command}
	if name == "" {
		absent.Here = "/"
	}
	return show(c, http.StatusNotFound, "absent", absent)
}

// UnknownRoute responds to a path that is no endpoint's: to people with a page, to clients with a
// problem.
func UnknownRoute(c *request.Call) error {
	path := c.R.URL.Path
	isRead := c.R.Method == http.MethodGet || c.R.Method == http.MethodHead
	forPeople := strings.HasPrefix(path, "/@") ||
		!strings.HasPrefix(path, "/v1/") && strings.Contains(c.R.Header.Get("Accept"), "text/html")
	if !isRead || !forPeople {
		return request.UnknownRoute(c)
	}
	c.Page = true
	if err := c.Look(); err != nil {
		return err
	}
	return absentPage(c, "", "")
}

// Failure is the page for a request that failed.
type Failure struct {
	Layout
	*request.Problem
}

// FailurePage responds with the page of a problem.
func FailurePage(c *request.Call, p *request.Problem) error {
	body, err := render("failure", Failure{layout(c, p.Title), p})
	setPolicy(c)
	c.Send(p.Status, htmlType, body)
	return err
}

// Name says in a few words what happened.
func (f Failure) Name() string {
	switch {
	case f.Status == http.StatusUnauthorized:
		return "Sign in to continue"
	case f.Status == http.StatusForbidden:
		return "You cannot do this"
	case f.Status == http.StatusTooManyRequests:
		return "Too many requests"
	case f.Status == http.StatusServiceUnavailable:
		return "The hub is busy"
	case f.Status == http.StatusInsufficientStorage:
		return "The hub's disk is full"
	case f.Status >= http.StatusInternalServerError:
		return "The hub failed"
	}
	return "The request is not valid"
}

// sentence makes the detail of a problem a sentence of a page. It leaves out the pointer to a field,
// next to which the page shows it.
func sentence(detail string) string {
	if detail == "" {
		return ""
	}
	pointer, rest, ok := strings.Cut(detail, ": ")
	if ok && strings.HasPrefix(pointer, "/") && !strings.Contains(pointer, " ") {
		detail = rest
	}
	return strings.ToUpper(detail[:1]) + detail[1:] + "."
}
