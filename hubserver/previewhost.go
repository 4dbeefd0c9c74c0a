package hubserver

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page/preview"
)

// PreviewOrigin returns the origin of the preview frame of a hub at publicURL for which no
// other was configured: the other name of this machine, "" if the hub is not on loopback. It
// is another host, because an endless loop in a frame stops all later frames of its host.
func PreviewOrigin(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	switch ip := net.ParseIP(host); {
	case host == "localhost":
		host = "127.0.0.1"
	case ip != nil && ip.IsLoopback():
		host = "localhost"
	default:
		return ""
	}
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return u.Scheme + "://" + host
}

// isPreviewHost reports whether a request is for the host that serves only the frame.
func (s *Server) isPreviewHost(r *http.Request) bool {
	return s.previewHost != "" && sameHost(r.Host, s.previewHost)
}

func sameHost(a, b string) bool {
	plain := func(host string) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ":80")
	}
	return plain(a) == plain(b)
}

func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}

// previewFile serves the host of the preview frame: the frame, its program, and nothing else.
func (s *Server) previewFile(c *call) error {
	header := c.w.Header()
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return s.notOnPreviewHost(c)
	}
	switch c.r.URL.Path {
	case "/preview/frame":
		header.Set("Content-Security-Policy", preview.Policy(s.PreviewURL, s.PublicURL))
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-cache")
		return c.write(http.StatusOK, htmlType, preview.Frame())
	case "/static/" + preview.Script.Name:
		return c.immutable(preview.Script, "text/javascript; charset=utf-8")
	}
	return s.notOnPreviewHost(c)
}

func (s *Server) notOnPreviewHost(c *call) error {
	return problemf(http.StatusMisdirectedRequest, wire.CodeUnknownRoute, "%s serves only the frame of previews", s.PreviewURL).
		hint("the hub is at %s", s.PublicURL)
}

// immutable responds with a file whose address changes with its content.
func (c *call) immutable(f preview.File, mediaType string) error {
	header := c.w.Header()
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	if acceptsGzip(c.r.Header) {
		header.Set("Content-Encoding", "gzip")
		return c.write(http.StatusOK, mediaType, f.Gzipped)
	}
	return c.write(http.StatusOK, mediaType, f.Content())
}
