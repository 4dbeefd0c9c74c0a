package hubclient

import (
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Stack returns a stack with its published versions, newest first: at least one.
func (c *Client) Stack(ctx context.Context, r ref.Ref) (*wire.Stack, error) {
	var s wire.Stack
	_, err := c.send(ctx, to(wire.OpGetStack, r), &s)
	return &s, err
}

// StackVersion returns one version of a stack.
func (c *Client) StackVersion(ctx context.Context, r ref.Ref, version string) (*wire.StackVersion, error) {
	var v wire.StackVersion
	_, err := c.send(ctx, to(wire.OpGetVersion, r, version), &v)
	return &v, err
}

// Bundle returns the compressed tar of a version of a stack, as it was published.
func (c *Client) Bundle(ctx context.Context, r ref.Ref, version string) ([]byte, error) {
	return c.raw(ctx, to(wire.OpGetBundle, r, version))
}

// PublishVersion publishes files as a version of a stack. already reports that the same
// files were published as this version before.
func (c *Client) PublishVersion(ctx context.Context, r ref.Ref, version string, files tree.Tree, open Opener) (p *wire.Published, already bool, err error) {
	req := to(wire.OpPutVersion, r, version)
	req.archiveBody(files, open)
	p = &wire.Published{}
	a, err := c.send(ctx, req, p)
	if err != nil {
		return nil, false, err
	}
	return p, a.status == http.StatusOK && !a.lost, nil
}
