// Package page answers the calls of browsers with the hub's HTML pages, and embeds the files that
// they refer to. Pages are for reading: what changes something is a call of the JSON API, which
// editor/forms.js makes. Signing in and out, links and the approval of a terminal are forms, because
// they must work in every browser.
//
// A file is one subject: its handlers, and what they fill for its templates. What all pages have in
// common is in templates/layout.html, and the parts that several of them use are in
// templates/parts.html.
package page

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Layout is what every page shows around its content.
type Layout struct {
	Title         string // of the window, without the hub's name
	Origin        string // of the hub
	User          string // who is signed in; "" for nobody
	Here          string // path and query of this page, to return to after sign-in
	Account, Slug string // what the page is about, for the breadcrumb; "" for nothing
	Search        string // what was searched for
}

func layout(c *request.Call, title string) Layout {
	l := Layout{Title: title, Origin: c.Hub.PublicURL, Here: c.R.URL.RequestURI()}
	if c.Access != nil {
		l.User = c.Access.Name()
	}
	return l
}

// HubName is the hub's host, as people call it. On the user's own machine an address says nothing.
func (l Layout) HubName() string {
	origin, err := url.Parse(l.Origin)
	if err != nil || origin.Hostname() == "localhost" || net.ParseIP(origin.Hostname()) != nil {
		return "Project hub"
	}
	return origin.Hostname()
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

// accessTo returns the caller's rights on an account. The role is "" without a session, or if it ended meanwhile.
func accessTo(c *request.Call, account string) (*store.Access, error) {
	a, err := c.AccessTo(store.AccessQuery{Account: account})
	if refused, ok := errors.AsType[*request.Problem](err); ok && refused.Status == http.StatusUnauthorized {
		return &store.Access{}, nil
	}
	return a, err
}

// absentPage responds with the page for what is private or does not exist; the two look the same. command looks at
// it from a terminal. With name "" the address is no page's, and is not repeated, since it may be made to be pasted.
func absentPage(c *request.Call, name, command string) error {
	shown := struct {
		Layout
		Name, Command string
	}{layout(c, "Not found"), name, command}
	if name == "" {
		shown.Here = "/"
	}
	return show(c, http.StatusNotFound, "absent", shown)
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

// FailurePage responds with the page of a problem.
func FailurePage(c *request.Call, p *request.Problem) error {
	body, err := render("failure", struct {
		Layout
		*request.Problem
		Name string
	}{layout(c, p.Title), p, failureName(p.Status)})
	setPolicy(c)
	c.Send(p.Status, htmlType, body)
	return err
}

// failureName says in a few words what happened.
func failureName(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "Sign in to continue"
	case status == http.StatusForbidden:
		return "You cannot do this"
	case status == http.StatusTooManyRequests:
		return "Too many requests"
	case status == http.StatusServiceUnavailable:
		return "The hub is busy"
	case status == http.StatusInsufficientStorage:
		return "The hub's disk is full"
	case status >= http.StatusInternalServerError:
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
