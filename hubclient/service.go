package hubclient

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Whoami returns the owner, the scopes and the roles of the token.
func (c *Client) Whoami(ctx context.Context) (*wire.Whoami, error) {
	return result[wire.Whoami](ctx, c, to(wire.OpWhoami, ref.Ref{}))
}

// Limits returns the limits that the hub publishes in its OpenAPI description.
func (c *Client) Limits(ctx context.Context) (wire.Limits, error) {
	var description wire.Description
	_, err := c.send(ctx, to(wire.OpOpenAPI, ref.Ref{}), &description)
	return description.Info.Limits, err
}

// OpenAPI returns the hub's OpenAPI description.
func (c *Client) OpenAPI(ctx context.Context) (jsontext.Value, error) {
	var description jsontext.Value
	_, err := c.send(ctx, to(wire.OpOpenAPI, ref.Ref{}), &description)
	return description, err
}

// Health returns the version of a hub that is running.
func (c *Client) Health(ctx context.Context) (*wire.Status, error) {
	return c.status(ctx, wire.OpHealth)
}

// Ready returns the version of a hub that can serve requests. The error is unavailable
// when its database does not answer or it is about to stop.
func (c *Client) Ready(ctx context.Context) (*wire.Status, error) {
	return c.status(ctx, wire.OpReady)
}

func (c *Client) status(ctx context.Context, op wire.Op) (*wire.Status, error) {
	return result[wire.Status](ctx, c, to(op, ref.Ref{}))
}

// Page returns the HTML page of op, such as [wire.OpConfigPage], about r, zero for a
// page about no project. values are the path's other parameters.
func (c *Client) Page(ctx context.Context, op wire.Op, r ref.Ref, values ...string) ([]byte, error) {
	return c.raw(ctx, to(op, r, values...))
}

// StaticFile returns a file that the pages refer to.
func (c *Client) StaticFile(ctx context.Context, name string) ([]byte, error) {
	return c.raw(ctx, to(wire.OpStatic, ref.Ref{}, name))
}

// FileSchema returns the JSON Schema of a file in .tool, such as client.json.
func (c *Client) FileSchema(ctx context.Context, name string) ([]byte, error) {
	return c.raw(ctx, to(wire.OpGetFileSchema, ref.Ref{}, name))
}

// FileSchemaURL returns the address of the JSON Schema of a file in .tool on the hub at origin.
func FileSchemaURL(origin, name string) string {
	return origin + wire.OpGetFileSchema.Endpoint().Expand(name)
}

// raw returns the body of a response that is not JSON.
func (c *Client) raw(ctx context.Context, r request) ([]byte, error) {
	var body []byte
	_, err := c.send(ctx, r, &body)
	return body, err
}
