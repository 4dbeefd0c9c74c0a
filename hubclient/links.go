package hubclient

import (
	"context"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// CreateLink returns a link that signs a browser in with the rights of the token, once
// and within a minute, and opens page, a path of the hub.
func (c *Client) CreateLink(ctx context.Context, page string) (*wire.Link, error) {
	return c.createLink(ctx, wire.OpCreateLink, wire.CreateLink{Page: page})
}

// CreateInvitation returns a link with which one person gets a role on the org account,
// within a day.
func (c *Client) CreateInvitation(ctx context.Context, account string, role wire.Role) (*wire.Link, error) {
	return c.createLink(ctx, wire.OpCreateInvitation, wire.CreateInvitation{Account: account, Role: role})
}

func (c *Client) createLink(ctx context.Context, op wire.Op, body any) (*wire.Link, error) {
	r := to(op, ref.Ref{})
	if err := r.jsonBody(body); err != nil {
		return nil, err
	}
	var link wire.Link
	_, err := c.send(ctx, r, &link)
	return &link, err
}
