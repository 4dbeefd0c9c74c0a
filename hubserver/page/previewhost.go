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

// PreviewFile serves the host of the preview's frame: the frame, and nothing else.
func PreviewFile(c *request.Call) error {
	if c.R.URL.Path != "/preview/frame" || c.R.Method != http.MethodGet && c.R.Method != http.MethodHead {
		return request.Problemf(http.StatusMisdirectedRequest, wire.CodeUnknownRoute,
			"%s serves only the frame of previews", c.Hub.PreviewURL).WithHint("the hub is at %s", c.Hub.PublicURL)
	}
	preview.SetHeader(c.W.Header(), c.Hub.PublicURL)
	c.W.Header().Set("Cache-Control", "no-cache")
	if !c.Unmodified(preview.Frame.Name) {
		sendFile(c, preview.Frame, htmlType)
	}
	return nil
}
