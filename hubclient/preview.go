package hubclient

import (
	"context"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// PreviewStack returns the tar of the stack version of a project, or of another version of
// its stack, as the project's preview takes it.
func (c *Client) PreviewStack(ctx context.Context, r ref.Ref, version string) ([]byte, error) {
	call := to(wire.OpPreviewStack, r)
	call.query(url.Values{"version": {version}})
	return c.raw(ctx, call)
}

// PreviewAPI returns the API description of a project as JSON, as the project's preview
// takes it.
func (c *Client) PreviewAPI(ctx context.Context, r ref.Ref) ([]byte, error) {
	return c.raw(ctx, to(wire.OpPreviewAPI, r))
}
