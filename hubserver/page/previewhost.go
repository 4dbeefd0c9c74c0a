package page

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/hubserver/request"
)

// PreviewOrigin returns the origin of the preview frame of a hub at publicURL for which no other was
// configured: the other name of this machine, "" if the hub is not on loopback. It is another host,
// because an endless loop in a frame stops all later frames of its host.
func PreviewOrigin(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil || !request.IsLoopback(u.Hostname()) {
		return ""
	}
	host := "localhost"
	if u.Hostname() == host {
		host = "127.0.0.1"
	}
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return u.Scheme + "://" + host
}

// IsPreviewHost reports whether a request is for the host of previewURL, which serves only the frame.
func IsPreviewHost(r *http.Request, previewURL string) bool {
	_, host, _ := strings.Cut(previewURL, "://")
	plain := func(host string) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ":80")
	}
	return host != "" && plain(r.Host) == plain(host)
}

// PreviewFile serves the host of the preview's frame: the frame, its program, and nothing else.
func PreviewFile(c *request.Call) error {
	header := c.W.Header()
	header.Set("Cross-Origin-Resource-Policy", "cross-origin") // the frame's own origin is opaque
	if c.R.Method == http.MethodGet || c.R.Method == http.MethodHead {
		switch c.R.URL.Path {
		case "/preview/frame":
			header.Set("Content-Security-Policy", preview.Policy(c.Hub.PreviewURL, c.Hub.PublicURL))
			header.Set("Referrer-Policy", "no-referrer")
			header.Set("Cache-Control", "no-cache")
			c.Send(http.StatusOK, htmlType, preview.Frame())
			return nil
		case "/static/" + preview.Script.Name:
			sendImmutable(c, preview.Script, "text/javascript; charset=utf-8")
			return nil
		}
	}
	return request.Problemf(http.StatusMisdirectedRequest, wire.CodeUnknownRoute,
		"%s serves only the frame of previews", c.Hub.PreviewURL).WithHint("the hub is at %s", c.Hub.PublicURL)
}
