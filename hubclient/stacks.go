package hubclient

import (
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Stack returns a stack with its published versions, newest first: at least one.
func (c *Client) Stack(ctx context.Context, r ref.Ref) (*wire.Stack, error) {
	return result[wire.Stack](ctx, c, to(wire.OpGetStack, r))
}

// StackVersion returns one version of a stack.
func (c *Client) StackVersion(ctx context.Context, r ref.Ref, version string) (*wire.StackVersion, error) {
	return result[wire.StackVersion](ctx, c, to(wire.OpGetVersion, r, version))
}

// Bundle returns the compressed tar of a version of a stack, as it was published.
func (c *Client) Bundle(ctx context.Context, r ref.Ref, version string) ([]byte, error) {
	return c.raw(ctx, to(wire.OpGetBundle, r, version))
}

// SettingsSchema returns the JSON Schema of settings that a version of a stack includes.
// The error is not_found if it includes none.
func (c *Client) SettingsSchema(ctx context.Context, r ref.Ref, version string) ([]byte, error) {
	return c.raw(ctx, to(wire.OpGetSettingsSchema, r, version))
}

// Publication is what a call to [Client.PublishVersion] found or did.
type Publication struct {
	wire.Published
	// Already: the hub had the same files as this version when it answered.
	Already bool
	// Ambiguous: an earlier attempt, whose response was lost, may have published them.
	Ambiguous bool
}

// PublishVersion publishes files as a version of a stack, and sends all of them. It is not
// an error if the same files are published as this version.
func (c *Client) PublishVersion(ctx context.Context, r ref.Ref, version string, files FileSet) (*Publication, error) {
	p := c.newPush(r, files, nil)
	req := to(wire.OpPutVersion, r, version)
	err := req.setUpload(ctx, &upload{
		list: compressList(files.Snapshot.Tree.Canonical(), nil), blobs: p.newBlobs(),
		open: files.Open, onProgress: files.OnProgress,
	})
	if err != nil {
		return nil, err
	}
	var done Publication
	a, err := c.send(ctx, req, &done.Published)
	if err != nil {
		return nil, err
	}
	done.Already = a.status == http.StatusOK
	done.Ambiguous = done.Already && a.lost
	return &done, nil
}
