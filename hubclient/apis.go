package hubclient

import (
	"context"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Description is an API description to register.
type Description struct {
	Document []byte // OpenAPI 2.0 or 3.x, in JSON or YAML
	Name     string // of its file, such as pets.yaml: the title of a description that has none
}

func (d Description) query() url.Values {
	query := url.Values{}
	if d.Name != "" {
		query.Set("name", d.Name)
	}
	return query
}

// UploadAPI registers an API description in account, with a slug that the hub derives
// from its title. purpose identifies the registration: for a day the hub registers the
// same description for the same purpose only once, so that a program can repeat a call
// whose response was lost. With purpose "" every call registers another API.
func (c *Client) UploadAPI(ctx context.Context, account string, d Description, purpose string) (*wire.API, error) {
	r := to(wire.OpUploadAPI, ref.Ref{})
	query := d.query()
	query.Set("account", account)
	r.query(query)
	r.set("Content-Type", "application/octet-stream") // the content decides
	r.bytesBody(d.Document)
	return c.register(ctx, r, purpose, query.Encode(), string(d.Document))
}

// ImportAPI registers the API description that the hub fetches from an address. For
// purpose see [Client.UploadAPI].
func (c *Client) ImportAPI(ctx context.Context, body wire.ImportAPI, purpose string) (*wire.API, error) {
	r := to(wire.OpImportAPI, ref.Ref{})
	if err := r.jsonBody(body); err != nil {
		return nil, err
	}
	return c.register(ctx, r, purpose, body.Account, body.Slug, body.URL)
}

func (c *Client) register(ctx context.Context, r request, purpose string, what ...string) (*wire.API, error) {
	if purpose != "" {
		r.keyedBy(append(what, purpose)...)
	}
	return result[wire.API](ctx, c, r)
}

// API returns a registered API.
func (c *Client) API(ctx context.Context, r ref.Ref) (*wire.API, error) {
	return result[wire.API](ctx, c, to(wire.OpGetAPI, r))
}

// APIDocument returns the description of a registered API as it was registered.
func (c *Client) APIDocument(ctx context.Context, r ref.Ref) ([]byte, error) {
	return c.raw(ctx, to(wire.OpGetDocument, r))
}

// UpdateAPI replaces the description of a registered API.
func (c *Client) UpdateAPI(ctx context.Context, api ref.Ref, d Description) (*wire.API, error) {
	r := to(wire.OpPutDocument, api)
	r.query(d.query())
	r.set("Content-Type", "application/octet-stream") // the content decides
	r.bytesBody(d.Document)
	return result[wire.API](ctx, c, r)
}

// UpdateAPIFrom is [Client.UpdateAPI] with the description that the hub fetches from address.
func (c *Client) UpdateAPIFrom(ctx context.Context, api ref.Ref, address string) (*wire.API, error) {
	r := to(wire.OpPutDocument, api)
	r.query(url.Values{"url": {address}})
	return result[wire.API](ctx, c, r)
}

// DeleteAPI deletes a registered API that no project uses. It is not an error if it does
// not exist.
func (c *Client) DeleteAPI(ctx context.Context, api ref.Ref) (*wire.DeletedAPI, error) {
	return result[wire.DeletedAPI](ctx, c, to(wire.OpDeleteAPI, api))
}

// Targets returns what enrichments can refer to in a registered API.
func (c *Client) Targets(ctx context.Context, r ref.Ref) (*wire.Targets, error) {
	return result[wire.Targets](ctx, c, to(wire.OpGetTargets, r))
}

// APIs returns the APIs of account; with account "", those of all accounts on which the
// caller has a role.
func (c *Client) APIs(ctx context.Context, account string) ([]wire.API, error) {
	return readPages(ctx, c, wire.OpListAPIs, account, func(p *wire.APIs) ([]wire.API, string) { return p.APIs, p.NextCursor })
}
