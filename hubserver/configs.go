package hubserver

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) getConfig(c *call) error {
	if err := c.takeAtMost(viewing, 2*s.Limits.ConfigBytes); err != nil {
		return err
	}
	config, err := c.config()
	if err != nil || c.unmodified(config.Revision) {
		return err
	}
	return c.json(http.StatusOK, toConfig(config))
}

// config returns the config of the project that the path names, 404 if it does not exist.
func (c *call) config() (config *store.Config, err error) {
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		config, err = v.Config(c.ctx(), c.ref())
		return err
	})
	return config, absent(err, "project "+c.ref().String())
}

// configSize returns the length of that config, in bytes.
func (c *call) configSize() (size int64, err error) {
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		size, err = v.ConfigSize(c.ctx(), c.ref())
		return err
	})
	return size, absent(err, "project "+c.ref().String())
}

// configChange computes what a config becomes; false leaves it as it is.
type configChange func(current *store.Config) (config flat.Config, write bool, err error)

// replacedCost is how much memory a byte of a config takes that is replaced: it is
// read, and part of the response, which has to be possible once the write is done.
const replacedCost = 4

func (s *Server) putConfig(c *call) error {
	size, err := c.configSize()
	if err != nil {
		return err
	}
	var req wire.PutConfig
	body, err := c.readJSON("the body", s.Limits.ConfigBytes+maxJSON, &req)
	if err != nil {
		return err
	}
	if err := c.takeAtMost(changing, jsonMemory(body)+replacedCost*size); err != nil {
		return err
	}
	via := wire.ViaPush
	if c.createOnly() {
		via = wire.ViaCreate
	}
	if req.Settings == nil {
		return c.changeConfig(via, func() (configChange, error) {
			return func(*store.Config) (flat.Config, bool, error) { return flat.Config{}, false, nil }, nil
		})
	}
	return c.changeConfig(via, func() (configChange, error) {
		config, err := flat.Fold(req.Settings)
		if err != nil {
			return nil, invalidConfig("/settings", err)
		}
		return func(*store.Config) (flat.Config, bool, error) { return config, true, nil }, s.checkConfig(config)
	})
}

// patchedCost is how much memory a byte of a config takes while it is patched.
const patchedCost = 8

func (s *Server) patchConfig(c *call) error {
	if _, err := c.project(); err != nil {
		return err
	}
	var req wire.PatchConfig
	body, err := c.readJSON("the body", s.Limits.ConfigBytes+maxJSON, &req)
	if err != nil {
		return err
	}
	if err := c.takeAtMost(changing, jsonMemory(body)+patchedCost*s.Limits.ConfigBytes); err != nil {
		return err
	}
	return c.changeConfig(wire.ViaAPI, func() (configChange, error) {
		// What the request alone shows is checked before the condition.
		if _, err := (flat.Config{}).Patch(req.Set, req.Remove); err != nil {
			return nil, invalidConfig("", err)
		}
		if _, conditional := c.r.Header["If-Match"]; !conditional {
			return nil, problemf(http.StatusPreconditionRequired, wire.CodePreconditionRequired, "a PATCH needs If-Match").
				hint("send the ETag of the config that the change is based on")
		}
		return func(current *store.Config) (flat.Config, bool, error) {
			if current.Body == nil { // it is damaged, which the store reports
				return flat.Config{}, false, nil
			}
			config, err := flat.Parse(current.Body)
			if err != nil {
				return flat.Config{}, false, err
			}
			if config, err = config.Patch(req.Set, req.Remove); err != nil {
				return flat.Config{}, false, invalidConfig("", err)
			}
			return config, true, s.checkConfig(config)
		}, nil
	})
}

// changeConfig applies the change that prepare returns, and responds with the config as
// it is now and as it was before.
func (c *call) changeConfig(via wire.Via, prepare func() (configChange, error)) error {
	change, err := prepare()
	if err != nil {
		return err
	}
	answer, err := c.writeConfig(via, change)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", etag(answer.Revision))
	return c.json(http.StatusOK, answer)
}

// writeConfig replaces the config by what change returns, if the request's conditions
// are met. If there is nothing to write, it returns the present state.
func (c *call) writeConfig(via wire.Via, change configChange) (*wire.ConfigWritten, error) {
	var before, after *store.Config
	var config flat.Config
	wrote := false
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		before, after, err = tx.WriteConfig(c.ctx(), c.ref(), c.who.user, string(via), func(current *store.Config) (body []byte, err error) {
			if err := c.checkRevision(current); err != nil {
				return nil, err
			}
			if config, wrote, err = change(current); err != nil || !wrote {
				return nil, err
			}
			return config.Canonical(), nil // the store computes its revision
		})
		if err != nil || after.Revision == before.Revision {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "config.write", c.ref().String(), before.Revision+" to "+after.Revision)
	})
	if err != nil {
		return nil, absent(err, "project "+c.ref().String())
	}
	if !wrote {
		if config, err = flat.Parse(after.Body); err != nil {
			return nil, err
		}
	}
	answer := &wire.ConfigWritten{
		Project: c.ref(), Config: jsontext.Value(after.Body), Revision: after.Revision,
		EnrichmentCount:         config.EnrichmentCount(),
		OverwroteExistingConfig: wrote && before.HasConfig,
	}
	if answer.OverwroteExistingConfig {
		answer.Replaced = &wire.Replaced{Config: jsontext.Value(before.Body), Edit: toEdit(before.ConfigState)}
	}
	return answer, nil
}

// checkRevision checks the request's conditions against the stored config.
func (c *call) checkRevision(current *store.Config) error {
	var p *problem
	switch {
	case c.ifNoneMatch(current.Revision, current.HasConfig):
		p = revisionChanged(c.ref().String() + " already has a config")
	case !c.ifMatch(current.Revision, true):
		p = revisionChanged("the config of " + c.ref().String() + " is not the one that If-Match names")
	default:
		return nil
	}
	edit := toEdit(current.ConfigState)
	p.Current = &edit
	if current.UpdatedBy != "" {
		p.Hint = "it was written by " + current.UpdatedBy + " through " + current.UpdatedVia + " on " + formatTime(edit.UpdatedAt)
	}
	return p
}

// checkConfig refuses a config above the limits.
func (s *Server) checkConfig(config flat.Config) error {
	err := config.Check(flat.Limits{Bytes: s.Limits.ConfigBytes, Keys: s.Limits.ConfigKeys, Depth: s.Limits.ConfigDepth})
	if err != nil {
		return problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge, "%v", err)
	}
	return nil
}

// invalidConfig converts errors of flat to a 422 whose pointers are into the body, below at.
func invalidConfig(at string, err error) error {
	var shape *wire.ShapeError
	var conflict *flat.ConflictError
	switch {
	case errors.As(err, &shape):
		return invalidBody(at+shape.Pointer, "%s", shape.Detail)
	case errors.As(err, &conflict):
		return invalidBody(at+conflict.Pointer, "%s", conflict.Detail)
	}
	return err
}
