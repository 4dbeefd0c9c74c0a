package hubclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Description is an API description to register.
type Description struct {
	Document []byte // OpenAPI 2.0 or 3.x, in JSON or YAML
	Name     string // of its file, such as pets.yaml: the title of a description that has none
}

// register makes d the body of r. Its content says how the hub reads it.
func (d Description) register(r *request, account string) *request {
	return r.query(url.Values{"name": {d.Name}, "account": {account}}).bytes("application/octet-stream", d.Document)
}

// UploadAPI registers an API description in account, with a slug that the hub derives
// from its title. purpose identifies the registration: for a day the hub registers the
// same description for the same purpose only once, so that a program can repeat a call
// whose response was lost. With purpose "" every call registers another API.
func (c *Client) UploadAPI(ctx context.Context, account string, d Description, purpose string) (*wire.API, error) {
	r := d.register(to(wire.OpUploadAPI, ref.Ref{}), account)
	return result[wire.API](ctx, c, r.onceFor(purpose, account, d.Name, string(d.Document)))
}

// ImportAPI is [Client.UploadAPI] of a description that the hub fetches from an address.
func (c *Client) ImportAPI(ctx context.Context, body wire.ImportAPI, purpose string) (*wire.API, error) {
	r := to(wire.OpImportAPI, ref.Ref{}).json(body)
	return result[wire.API](ctx, c, r.onceFor(purpose, body.Account, body.Slug, body.URL))
}

// onceFor sets the Idempotency-Key that is the same in every program that gives
// this purpose and these parts, so that the hub creates once even if the program is run
// again. Purpose "" leaves the random key.
func (r *request) onceFor(purpose string, parts ...string) *request {
	if purpose != "" {
		h := sha256.New()
		for _, part := range append(parts, purpose) {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
		r.header["Idempotency-Key"] = hex.EncodeToString(h.Sum(nil))
	}
	return r
}

// API returns a registered API.
func (c *Client) API(ctx context.Context, r ref.Ref) (*wire.API, error) {
	return result[wire.API](ctx, c, to(wire.OpGetAPI, r))
}

// UpdateAPI replaces the description of a registered API.
func (c *Client) UpdateAPI(ctx context.Context, api ref.Ref, d Description) (*wire.API, error) {
	return result[wire.API](ctx, c, d.register(to(wire.OpPutDocument, api), ""))
}

// UpdateAPIFrom is [Client.UpdateAPI] with the description that the hub fetches from address.
func (c *Client) UpdateAPIFrom(ctx context.Context, api ref.Ref, address string) (*wire.API, error) {
	return result[wire.API](ctx, c, to(wire.OpPutDocument, api).query(url.Values{"url": {address}}))
}

// DeleteAPI deletes a registered API that no project uses, if it exists.
func (c *Client) DeleteAPI(ctx context.Context, api ref.Ref) (*wire.DeletedAPI, error) {
	return result[wire.DeletedAPI](ctx, c, to(wire.OpDeleteAPI, api))
}

// APIs returns the APIs of account; with account "", those of all accounts on which the
// caller has a role.
func (c *Client) APIs(ctx context.Context, account string) ([]wire.API, error) {
	return listAll(ctx, c, wire.OpListAPIs, account, func(p *wire.APIs) ([]wire.API, string) {
		return p.APIs, p.NextCursor
	})
}

// PreviewAPI returns the API description of a project as JSON, as its preview takes it.
func (c *Client) PreviewAPI(ctx context.Context, project ref.Ref) ([]byte, error) {
	description, err := result[[]byte](ctx, c, to(wire.OpPreviewAPI, project))
	return *description, err
}

// Stack returns a stack with its published versions, newest first: at least one.
func (c *Client) Stack(ctx context.Context, r ref.Ref) (*wire.Stack, error) {
	return result[wire.Stack](ctx, c, to(wire.OpGetStack, r))
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
	req, err := to(wire.OpPutVersion, r, version).upload(ctx, &upload{
		list: compress(files.Snapshot.Tree.Canonical()), blobs: c.Upload(r, files).blobs,
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
