package hubclient

import (
	"cmp"
	"context"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// StartDevice asks for a token that a user approves in a browser. client is what the
// caller is called there. The page is the hub's own: with that of another one, which it asks
// in our place, the hub would get the token that a user approves there.
func (c *Client) StartDevice(ctx context.Context, client string) (*wire.Device, error) {
	var d wire.Device
	if err := c.device(ctx, wire.OpStartDevice, wire.StartDevice{Client: client}, &d); err != nil {
		return nil, err
	}
	d.VerificationURIComplete = cmp.Or(d.VerificationURIComplete, d.VerificationURI)
	return &d, CheckPage(c.Origin(), d.VerificationURIComplete)
}

// DeviceToken returns the token that was approved. Until then the error is
// authorization_pending; it is access_denied or expired_token if there will be none.
func (c *Client) DeviceToken(ctx context.Context, deviceCode string) (*wire.DeviceToken, error) {
	var t wire.DeviceToken
	return &t, c.device(ctx, wire.OpDeviceToken, wire.DeviceCode{DeviceCode: deviceCode}, &t)
}

func (c *Client) device(ctx context.Context, op wire.Op, body, v any) error {
	r := to(op, ref.Ref{})
	if err := r.jsonBody(body); err != nil {
		return err
	}
	_, err := c.send(ctx, r, v)
	return err
}
