package hubclient

import (
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// CreateToken creates a token of the caller. It is sent once, since the hub would create
// another one: after a lost response there may be a token that nobody knows.
func (c *Client) CreateToken(ctx context.Context, token wire.CreateToken) (*wire.CreatedToken, error) {
	req := to(wire.OpCreateToken, ref.Ref{})
	if err := req.jsonBody(token); err != nil {
		return nil, err
	}
	return result[wire.CreatedToken](ctx, c, req)
}

// Tokens returns the valid tokens of the caller, without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]wire.TokenInfo, error) {
	all, err := result[wire.Tokens](ctx, c, to(wire.OpListTokens, ref.Ref{}))
	if err != nil {
		return nil, err
	}
	return all.Tokens, nil
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
