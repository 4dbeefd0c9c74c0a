package hubclient

import (
	"cmp"
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Limits returns the limits that the hub publishes in its OpenAPI description.
func (c *Client) Limits(ctx context.Context) (wire.Limits, error) {
	description, err := result[wire.Description](ctx, c, to(wire.OpOpenAPI, ref.Ref{}))
	return description.Info.Limits, err
}

// FileSchemaURL returns the address of the JSON Schema of a file in .tool on the hub at origin.
func FileSchemaURL(origin, name string) string {
	return origin + wire.OpGetFileSchema.Endpoint().Expand(name)
}

// Whoami returns the owner, the scopes and the roles of the token.
func (c *Client) Whoami(ctx context.Context) (*wire.Whoami, error) {
	return result[wire.Whoami](ctx, c, to(wire.OpWhoami, ref.Ref{}))
}

// CreateToken creates a token of the caller. It is sent once, since the hub would create
// another one: after a lost response there may be a token that nobody knows.
func (c *Client) CreateToken(ctx context.Context, token wire.CreateToken) (*wire.CreatedToken, error) {
	return result[wire.CreatedToken](ctx, c, to(wire.OpCreateToken, ref.Ref{}).json(token))
}

// Tokens returns the valid tokens of the caller, without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]wire.TokenInfo, error) {
	all, err := result[wire.Tokens](ctx, c, to(wire.OpListTokens, ref.Ref{}))
	return all.Tokens, err
}

// RevokeToken revokes the token of the caller with this ID, or the client's own with
// [wire.TokenSelf]. It is not an error if that is revoked already; of the client's own
// token, ID and Name are then empty.
func (c *Client) RevokeToken(ctx context.Context, id string) (*wire.RevokedToken, error) {
	revoked, err := result[wire.RevokedToken](ctx, c, to(wire.OpRevokeToken, ref.Ref{}, id))
	if id == wire.TokenSelf && HasCode(err, wire.CodeTokenRevoked) {
		return &wire.RevokedToken{Self: true}, nil
	}
	if err == nil && id != wire.TokenSelf && revoked.ID != id {
		return nil, c.notAHub(http.StatusOK, "it revoked another token")
	}
	return revoked, err
}

// StartDevice asks for a token that a user approves in a browser. client is what the
// caller is called there. The page is the hub's own: with that of another one, which it asks
// in our place, the hub would get the token that a user approves there.
func (c *Client) StartDevice(ctx context.Context, client string) (*wire.Device, error) {
	d, err := result[wire.Device](ctx, c, to(wire.OpStartDevice, ref.Ref{}).json(wire.StartDevice{Client: client}))
	if err != nil {
		return nil, err
	}
	d.VerificationURIComplete = cmp.Or(d.VerificationURIComplete, d.VerificationURI)
	return d, CheckPage(c.Origin(), d.VerificationURIComplete)
}

// DeviceToken returns the token that was approved. Until then the error is
// authorization_pending; it is access_denied or expired_token if there will be none.
func (c *Client) DeviceToken(ctx context.Context, deviceCode string) (*wire.DeviceToken, error) {
	r := to(wire.OpDeviceToken, ref.Ref{}).json(wire.DeviceCode{DeviceCode: deviceCode})
	return result[wire.DeviceToken](ctx, c, r)
}

// CreateLink returns a link that signs a browser in with the rights of the token, once
// and within a minute, and opens page, a path of the hub.
func (c *Client) CreateLink(ctx context.Context, page string) (*wire.Link, error) {
	return result[wire.Link](ctx, c, to(wire.OpCreateLink, ref.Ref{}).json(wire.CreateLink{Page: page}))
}
