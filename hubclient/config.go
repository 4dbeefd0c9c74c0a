package hubclient

import (
	"context"
	"errors"
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
		req.header["If-None-Match"] = quote(have)
	}
	var config wire.Config
	a, err := c.send(ctx, req, &config)
	if err != nil || a.status == http.StatusNotModified {
		return nil, err
	}
	return &config, nil
}

// PutConfig replaces the config of an existing project by settings. With ifRevision
// it does so only if that is the config's revision.
func (c *Client) PutConfig(
	ctx context.Context, r ref.Ref, body wire.PutConfig, ifRevision string,
) (*wire.ConfigWritten, error) {
	return c.putConfig(ctx, to(wire.OpPutConfig, r).query(c.pushQuery()).match(ifRevision), body)
}

// RestoreConfig is PutConfig with a config of the history, which then says that it was restored.
func (c *Client) RestoreConfig(
	ctx context.Context, r ref.Ref, body wire.PutConfig, ifRevision string,
) (*wire.ConfigWritten, error) {
	return c.putConfig(ctx, to(wire.OpPutConfig, r).query(url.Values{"restore": {"1"}}).match(ifRevision), body)
}

// SeedConfig writes the first config of a project that was just created, if it has none yet.
func (c Created) SeedConfig(ctx context.Context, body wire.PutConfig) (*wire.ConfigWritten, error) {
	req := to(wire.OpPutConfig, c.project.Project)
	req.header["If-None-Match"] = "*"
	return c.client.putConfig(ctx, req, body)
}

func (c *Client) putConfig(ctx context.Context, req *request, body wire.PutConfig) (*wire.ConfigWritten, error) {
	var written wire.ConfigWritten
	_, err := c.send(ctx, req.json(body), &written)
	if e, ok := errors.AsType[*Error](err); ok && e.mayHaveWritten() {
		// An earlier attempt, whose response was lost, may be why the condition is not met.
		sent, invalid := flat.Fold(body.Settings)
		if invalid != nil || sent.Revision() != e.Current.Revision {
			return nil, err
		}
		written = wire.ConfigWritten{
			Project: req.about, Config: sent.Canonical(), Revision: sent.Revision(), EnrichmentCount: sent.EnrichmentCount(),
		}
		if match := req.header["If-Match"]; match != "" && match != quote((flat.Config{}).Revision()) {
			written.OverwroteExistingConfig = true
			written.Replaced = &wire.Replaced{Edit: wire.Edit{Revision: match[1 : len(match)-1]}}
		}
		return &written, nil
	}
	return &written, err
}

// CheckConfig reports what PutConfig would return, and writes nothing.
func (c *Client) CheckConfig(
	ctx context.Context, r ref.Ref, body wire.PutConfig, ifRevision string,
) (*wire.ConfigWritten, error) {
	return result[wire.ConfigWritten](ctx, c, to(wire.OpCheckConfig, r).dryRun().match(ifRevision).json(body))
}

// CheckSettings returns what a JSON Schema does not allow in settings, whatever project they are for.
func (c *Client) CheckSettings(ctx context.Context, body wire.CheckSettings) ([]wire.FieldError, error) {
	checked, err := result[wire.CheckedSettings](ctx, c, to(wire.OpCheckSettings, ref.Ref{}).json(body))
	return checked.Findings, err
}

// PatchConfig sets and removes keys of a project's config. With ifRevision it does so
// only if that is the config's revision.
func (c *Client) PatchConfig(
	ctx context.Context, r ref.Ref, body wire.PatchConfig, ifRevision string,
) (*wire.ConfigWritten, error) {
	req := to(wire.OpPatchConfig, r).json(body)
	req.header["If-Match"] = "*"
	return result[wire.ConfigWritten](ctx, c, req.match(ifRevision))
}
