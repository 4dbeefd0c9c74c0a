package hubclient

import (
	"context"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Stack returns a stack with its published versions, newest first: at least one.
func (c *Client) Stack(ctx context.Context, r ref.Ref) (*wire.Stack, error) {
	var s wire.Stack
	_, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/stacks/" + r.Path()}, &s)
	return &s, err
}

// PublishVersion publishes files as a version of a stack. already reports that
// the version was there with the same content.
func (c *Client) PublishVersion(ctx context.Context, r ref.Ref, version string, files tree.Tree, open Opener) (p *wire.Published, already bool, err error) {
	req := request{method: http.MethodPut, path: "/v1/stacks/" + r.Path() + "/versions/" + url.PathEscape(version)}
	req.archiveBody(files, open)
	p = &wire.Published{}
	a, err := c.send(ctx, req, p)
	if err != nil {
		return nil, false, err
	}
	return p, a.status == http.StatusOK && !a.lost, nil
}
