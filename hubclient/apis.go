package hubclient

import (
	"context"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// UploadAPI registers an API description in account under a slug that the hub takes from
// its title. purpose says what the API is for, the same in every program that means the
// same registration: for a day the hub registers the same description for the same
// purpose only once, so that a call whose response was lost can be made again. With
// purpose "" every call registers another API.
func (c *Client) UploadAPI(ctx context.Context, account string, document []byte, purpose string) (*wire.API, error) {
	r := request{method: http.MethodPost, path: "/v1/apis/upload?" + url.Values{"account": {account}}.Encode()}
	r.set("Content-Type", "application/octet-stream") // the content decides
	r.bytesBody(document)
	return c.register(ctx, r, purpose, account, string(document))
}

// ImportAPI registers the API description that the hub finds at address. For purpose
// see [Client.UploadAPI].
func (c *Client) ImportAPI(ctx context.Context, account, address, purpose string) (*wire.API, error) {
	r := request{method: http.MethodPost, path: "/v1/apis/import"}
	if err := r.jsonBody(wire.ImportAPI{Account: account, URL: address}); err != nil {
		return nil, err
	}
	return c.register(ctx, r, purpose, account, address)
}

func (c *Client) register(ctx context.Context, r request, purpose string, what ...string) (*wire.API, error) {
	r.keyed()
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
	_, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/apis/" + r.Path()}, &api)
	return &api, err
}
