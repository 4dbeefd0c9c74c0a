package hubclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Config returns a project's config. With have, the revision that the caller has
// already, it returns nil if the hub's config is that one.
func (c *Client) Config(ctx context.Context, r ref.Ref, have string) (*wire.Config, error) {
	req := to(wire.OpGetConfig, r)
	if have != "" {
		req.set("If-None-Match", quote(have))
	}
	var config wire.Config
	a, err := c.send(ctx, req, &config)
	if err != nil || a.status == http.StatusNotModified {
		return nil, err
	}
	return &config, nil
}

func quote(revision string) string { return `"` + revision + `"` }

// PutConfig replaces the config of an existing project by settings. With ifRevision
// it does so only if that is the config's revision.
func (c *Client) PutConfig(ctx context.Context, r ref.Ref, body wire.PutConfig, ifRevision string) (*wire.ConfigWritten, error) {
	condition := map[string]string{}
	if ifRevision != "" {
		condition["If-Match"] = quote(ifRevision)
	}
	req := to(wire.OpPutConfig, r)
	req.query(url.Values{"push": {c.push}})
	return c.putConfig(ctx, r, req, body, condition)
}

// RestoreConfig is PutConfig with a config of the project's history, which then says that
// it was restored. A hub that does not know restores says that it was pushed.
func (c *Client) RestoreConfig(ctx context.Context, r ref.Ref, body wire.PutConfig, ifRevision string) (*wire.ConfigWritten, error) {
	req := to(wire.OpPutConfig, r)
	req.query(url.Values{"restore": {"1"}})
	return c.putConfig(ctx, r, req, body, map[string]string{"If-Match": quote(ifRevision)})
}

// CheckConfig reports what PutConfig would return, and writes nothing. The failure is
// unsupported_by_hub if the hub cannot tell.
func (c *Client) CheckConfig(ctx context.Context, r ref.Ref, body wire.PutConfig, ifRevision string) (*wire.ConfigWritten, error) {
	req := to(wire.OpCheckConfig, r)
	req.query(url.Values{"dryRun": {"1"}})
	if err := req.jsonBody(body); err != nil {
		return nil, err
	}
	if ifRevision != "" {
		req.set("If-Match", quote(ifRevision))
	}
	written, err := result[wire.ConfigWritten](ctx, c, req)
	if e, ok := errors.AsType[*Error](err); ok && e.Code == wire.CodeMethodNotAllowed {
		return nil, &Error{Code: CodeUnsupportedByHub, Detail: fmt.Sprintf("the hub %s has no dry run", c.Origin())}
	}
	return written, err
}

// SeedConfig writes the first config of a project that was just created. The hub
// refuses it if the project has a config by now.
func (c Created) SeedConfig(ctx context.Context, body wire.PutConfig) (*wire.ConfigWritten, error) {
	r := c.project.Project
	return c.client.putConfig(ctx, r, to(wire.OpPutConfig, r), body, map[string]string{"If-None-Match": "*"})
}

func (c *Client) putConfig(ctx context.Context, r ref.Ref, req request, body wire.PutConfig, condition map[string]string) (*wire.ConfigWritten, error) {
	req.header = condition
	if err := req.jsonBody(body); err != nil {
		return nil, err
	}
	var written wire.ConfigWritten
	_, err := c.send(ctx, req, &written)
	if HasCode(err, wire.CodeRevisionChanged) && lostBefore(err) {
		return c.writtenBefore(ctx, r, body, condition["If-Match"], err)
	}
	return &written, err
}

// PatchConfig sets and removes keys of a project's config. With ifRevision it does so
// only if that is the config's revision.
func (c *Client) PatchConfig(ctx context.Context, r ref.Ref, body wire.PatchConfig, ifRevision string) (*wire.ConfigWritten, error) {
	req := to(wire.OpPatchConfig, r)
	if err := req.jsonBody(body); err != nil {
		return nil, err
	}
	req.set("If-Match", "*")
	if ifRevision != "" {
		req.set("If-Match", quote(ifRevision))
	}
	return result[wire.ConfigWritten](ctx, c, req)
}

// writtenBefore returns the result of an earlier attempt whose response was lost, if
// that attempt is why the condition was refused.
func (c *Client) writtenBefore(ctx context.Context, r ref.Ref, body wire.PutConfig, match string, refused error) (*wire.ConfigWritten, error) {
	sent, err := flat.Fold(body.Settings)
	if err != nil {
		return nil, refused
	}
	config, err := c.Config(ctx, r, "")
	if err != nil || config.Revision != sent.Revision() {
		return nil, refused
	}
	written := &wire.ConfigWritten{
		Project: r, Config: config.Config, Revision: config.Revision, EnrichmentCount: sent.EnrichmentCount(),
	}
	if empty := (flat.Config{}).Revision(); match != "" && match != quote(empty) {
		written.OverwroteExistingConfig = true
		written.Replaced = &wire.Replaced{Edit: wire.Edit{Revision: match[1 : len(match)-1]}}
	}
	return written, nil
}
