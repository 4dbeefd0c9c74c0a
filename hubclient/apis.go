package hubclient

import (
	"context"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// UploadAPI registers an API description in account under a slug that the hub
// takes from its title.
func (c *Client) UploadAPI(ctx context.Context, account string, document []byte) (*wire.API, error) {
	r := request{method: http.MethodPost, path: "/v1/apis/upload?" + url.Values{"account": {account}}.Encode()}
	r.set("Content-Type", "application/octet-stream") // the content decides
	r.bytesBody(document)
	return c.register(ctx, r)
}

// ImportAPI registers the API description that the hub finds at address.
func (c *Client) ImportAPI(ctx context.Context, account, address string) (*wire.API, error) {
	r := request{method: http.MethodPost, path: "/v1/apis/import"}
	if err := r.jsonBody(wire.ImportAPI{Account: account, URL: address}); err != nil {
		return nil, err
	}
	return c.register(ctx, r)
}

func (c *Client) register(ctx context.Context, r request) (*wire.API, error) {
	r.keyed()
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
