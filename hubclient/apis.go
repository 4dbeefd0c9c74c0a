package hubclient

import (
	"context"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// UploadAPI registers an API description in account, with a slug that the hub derives
// from its title. purpose identifies the registration: for a day the hub registers the
// same description for the same purpose only once, so that a program can repeat a call
// whose response was lost. With purpose "" every call registers another API.
func (c *Client) UploadAPI(ctx context.Context, account string, document []byte, purpose string) (*wire.API, error) {
	r := to(wire.OpUploadAPI, ref.Ref{})
	r.query(url.Values{"account": {account}})
	r.set("Content-Type", "application/octet-stream") // the content decides
	r.bytesBody(document)
	return c.register(ctx, r, purpose, account, string(document))
}

// ImportAPI registers the API description that the hub fetches from address. For
// purpose see [Client.UploadAPI].
func (c *Client) ImportAPI(ctx context.Context, account, address, purpose string) (*wire.API, error) {
	r := to(wire.OpImportAPI, ref.Ref{})
	if err := r.jsonBody(wire.ImportAPI{Account: account, URL: address}); err != nil {
		return nil, err
	}
	return c.register(ctx, r, purpose, account, address)
}

func (c *Client) register(ctx context.Context, r request, purpose string, what ...string) (*wire.API, error) {
	if purpose != "" {
		r.keyedBy(append(what, purpose)...)
	}
	var api wire.API
	_, err := c.send(ctx, r, &api)
	return &api, err
}

// API returns a registered API.
func (c *Client) API(ctx context.Context, r ref.Ref) (*wire.API, error) {
	var api wire.API
	_, err := c.send(ctx, to(wire.OpGetAPI, r), &api)
	return &api, err
}

// APIDocument returns the description of a registered API as it was registered.
func (c *Client) APIDocument(ctx context.Context, r ref.Ref) ([]byte, error) {
	return c.raw(ctx, to(wire.OpGetDocument, r))
}

// APIs returns the APIs of account; with account "", those of all accounts on which the
// caller has a role.
func (c *Client) APIs(ctx context.Context, account string) ([]wire.API, error) {
	return readPages(ctx, c, wire.OpListAPIs, account, func(p *wire.APIs) ([]wire.API, string) { return p.APIs, p.NextCursor })
}
