package hubserver

import (
	"mime"
	"net/http"
	"path"
	"strings"

	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/hubserver/page/preview"
)

// policy is the Content-Security-Policy of every page.
func (s *Server) policy() string { return page.Policy(s.PreviewURL) }

// html responds with a page.
func (c *call) html(status int, body []byte, err error) error {
	if err != nil {
		return err
	}
	c.setPagePolicy()
	return c.bytes(status, htmlType, c.compress(body))
}

const htmlType = "text/html; charset=utf-8"

func (c *call) setPagePolicy() {
	c.w.Header().Set("Content-Security-Policy", c.s.policy())
	c.w.Header().Set("Referrer-Policy", "same-origin")
}

// layout returns what every page shows around its content.
func (c *call) layout(title string) page.Layout {
	l := page.Layout{Title: title, Origin: c.s.PublicURL, Here: c.r.URL.RequestURI()}
	if c.who != nil {
		l.User = c.who.user
	}
	return l
}

// absentPage responds with the one page for what is private or does not exist, which
// command looks at from a terminal. With name "" the address is not a page's.
func (c *call) absentPage(name, command string) error {
	absent := page.Absent{Layout: c.layout("Not found"), Name: name, Command: command}
	if name == "" {
		absent.Here = "/"
	}
	body, err := absent.Render()
	return c.html(http.StatusNotFound, body, err)
}

// failurePage responds with the page of a problem.
func (c *call) failurePage(p *problem) {
	failure := page.Failure{Layout: c.layout(p.Title), Status: p.Status, Detail: sentence(p.Detail), RequestID: p.RequestID}
	if p.Hint != "" {
		failure.Hint = sentence(p.Hint)
	}
	body, err := failure.Render()
	if err != nil {
		c.s.Log.Error("a page cannot be written", "request", c.id, "error", err)
	}
	c.setPagePolicy()
	_ = c.write(p.Status, htmlType, body)
}

// static serves the files that pages refer to.
func (s *Server) static(c *call) error {
	address := strings.TrimPrefix(c.params.ByName("file"), "/")
	if address == preview.Packages.Name {
		c.w.Header().Set("Content-Security-Policy", s.policy())
		return c.immutable(preview.Packages, "application/json")
	}
	name, file, immutable, err := page.Static(address)
	if err != nil {
		return notFound("file " + c.r.URL.Path)
	}
	caching := "no-cache"
	if immutable {
		caching = "public, max-age=31536000, immutable"
	}
	c.w.Header().Set("Cache-Control", caching)
	c.w.Header().Set("Content-Security-Policy", s.policy())
	return c.write(http.StatusOK, mediaTypeOf(name), c.compressStatic(name, file))
}

// mediaTypeOf returns the media type of a static file, whatever this machine's tables say.
func mediaTypeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".json":
		return "application/json"
	}
	return mime.TypeByExtension(path.Ext(name))
}
