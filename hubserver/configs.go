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
	revision, err := c.revision()
	if err != nil {
		return err
	}
	var config *store.Config
	if revision == "" {
		config, err = c.smallConfig()
	}
	if config == nil && err == nil {
		if err := c.takeAtMost(viewing, 2*s.Limits.ConfigBytes); err != nil {
			return err
		}
		if revision != "" {
			return c.getRevision(revision)
		}
		config, err = c.config()
	}
	if err != nil || c.unmodified(config.Revision) {
		return err
	}
	return c.encoded(http.StatusOK, toConfig(config).EncodeTo)
}

// config returns the config of the project that the path names, 404 if it does not exist.
func (c *call) config() (config *store.Config, err error) {
	config, err = lookUp(c, func(v *store.View) (*store.Config, error) { return v.Config(c.ctx(), c.ref()) })
	return config, c.noProject(err)
}

// smallConfig returns that config if it was read with the token, else nil.
func (c *call) smallConfig() (*store.Config, error) {
	if c.who == nil || c.who.asked.Body == 0 {
		return nil, nil
	}
	return c.who.read.ConfigOf(c.ref())
}

// configSize returns the length of that config, in bytes.
func (c *call) configSize() (size int64, err error) {
	if c.who != nil && c.who.asked.Slug != "" && c.who.read.HasProject() {
		return c.who.read.Size, nil
	}
	size, err = lookUp(c, func(v *store.View) (int64, error) { return v.ConfigSize(c.ctx(), c.ref()) })
	return size, c.noProject(err)
}

// configWrite is one write of a config.
type configWrite struct {
	via    wire.Via
	change configChange
	ready  *store.ReadyBody // see store.ConfigWrite
	dryRun bool             // roll it back
}

// errDryRun rolls a write back that would have succeeded.
var errDryRun = errors.New("this is a dry run")

// configChange computes what a config becomes, and its canonical form; without that, it
// stays as it is.
type configChange func(current *store.Config) (config flat.Config, body []byte, err error)

// replacedCost is how much memory a byte of a config takes that is replaced: it is
// read, and part of the response, which has to be possible once the write is done.
const replacedCost = 4

func (s *Server) putConfig(c *call) error {
	put := configWrite{via: wire.ViaPush}
	if q := c.r.URL.Query(); q.Has("restore") {
		if n := q.Get("restore"); n != "1" {
			return invalidBody("", "restore must be 1, not %q", n)
		}
		put.via = wire.ViaRestore
	}
	return s.replaceConfig(c, put)
}

// checkPut answers as putConfig does, and writes nothing.
func (s *Server) checkPut(c *call) error {
	if n := c.r.URL.Query().Get("dryRun"); n != "1" {
		return invalidBody("", "dryRun must be 1, not %q: PUT replaces the config", n)
	}
	return s.replaceConfig(c, configWrite{via: wire.ViaPush, dryRun: true})
}

func (s *Server) replaceConfig(c *call, put configWrite) error {
	size, err := c.configSize()
	if err != nil {
		return err
	}
	body, err := c.readText("the body", s.Limits.ConfigBytes+maxJSON)
	if err != nil {
		return err
	}
	if err := c.takeAtMost(changing, jsonMemory(body)+replacedCost*size); err != nil {
		return err
	}
	if c.createOnly() {
		put.via = wire.ViaCreate
	}
	return c.changeConfig(&put, func() (configChange, error) {
		config, found, err := flat.FoldMember(body, "settings", "source") // see wire.PutConfig
		if err != nil {
			return nil, bodyProblem(err)
		}
		if !found {
			return func(*store.Config) (flat.Config, []byte, error) { return flat.Config{}, nil, nil }, nil
		}
		if err := s.checkConfig(config); err != nil {
			return nil, err
		}
		body := config.Canonical()
		put.ready = store.Ready(body)
		return func(*store.Config) (flat.Config, []byte, error) { return config, body, nil }, nil
	})
}

// patchedCost is how much memory a byte of a config takes while it is patched.
const patchedCost = 8

func (s *Server) patchConfig(c *call) error {
	if _, err := c.configSize(); err != nil {
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
	return c.changeConfig(&configWrite{via: wire.ViaAPI}, func() (configChange, error) {
		// What the request alone shows is checked before the condition.
		if _, err := (flat.Config{}).Patch(req.Set, req.Remove); err != nil {
			return nil, invalidConfig("", err)
		}
		if _, conditional := c.r.Header["If-Match"]; !conditional {
			return nil, problemf(http.StatusPreconditionRequired, wire.CodePreconditionRequired, "a PATCH needs If-Match").
				hint("send the ETag of the config that the change is based on")
		}
		return func(current *store.Config) (flat.Config, []byte, error) {
			if current.Body == nil { // it is damaged, which the store reports
				return flat.Config{}, nil, nil
			}
			config, err := flat.Parse(current.Body)
			if err != nil {
				return flat.Config{}, nil, err
			}
			if config, err = config.Patch(req.Set, req.Remove); err != nil {
				return flat.Config{}, nil, invalidConfig("", err)
			}
			if err := s.checkConfig(config); err != nil {
				return flat.Config{}, nil, err
			}
			return config, config.Canonical(), nil
		}, nil
	})
}

// changeConfig applies the change that prepare returns, and responds with the config as
// it is now and as it was before.
func (c *call) changeConfig(w *configWrite, prepare func() (configChange, error)) error {
	var err error
	if w.change, err = prepare(); err != nil {
		return err
	}
	answer, err := c.writeConfig(*w)
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", etag(answer.Revision))
	return c.encoded(http.StatusOK, answer.EncodeTo)
}

// via is how the caller writes configs, which is through the page for a session. The
// history shows a restore as one, wherever it was made.
func (w *caller) via(byToken wire.Via) wire.Via {
	if w.session != nil && byToken != wire.ViaRestore {
		return wire.ViaPage
	}
	return byToken
}

// writeConfig replaces the config by what the change returns, if the request's conditions
// are met. If there is nothing to write, it returns the present state.
func (c *call) writeConfig(w configWrite) (*wire.ConfigWritten, error) {
	var checked checkedSettings
	for range maxChecks {
		answer, err := c.writeChecked(w, &checked)
		var unchecked *uncheckedError
		if !errors.As(err, &unchecked) {
			return answer, err
		}
		if err := c.checkSettings(unchecked.config, &checked); err != nil {
			return nil, err
		}
		if len(checked.findings) > 0 {
			return nil, settingsInvalid(checked.findings)
		}
	}
	return nil, problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "others keep changing the config of %s", c.ref()).with("Retry-After", "1")
}

// writeChecked is writeConfig for a config that was checked against the stack's schema, if
// the project needs that.
func (c *call) writeChecked(w configWrite, checked *checkedSettings) (*wire.ConfigWritten, error) {
	var before, after *store.Config
	var config flat.Config
	wrote := false
	c.writesConfig = true
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		write := store.ConfigWrite{Author: c.author(w.via), Count: countKeys, Ready: w.ready}
		write.Change = func(current *store.Config) (body []byte, err error) {
			if err := c.checkRevision(current); err != nil {
				return nil, err
			}
			config, body, err = w.change(current)
			if wrote = body != nil; err != nil || !wrote {
				return nil, err
			}
			return body, c.needCheck(current, config, checked) // the store computes its revision
		}
		before, after, err = tx.WriteConfig(c.ctx(), c.ref(), write)
		switch {
		case err != nil:
			return err
		case w.dryRun:
			return errDryRun
		case after.Revision == before.Revision:
			return nil
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "config.write", c.ref().String(), before.Revision+" to "+after.Revision)
	})
	switch {
	case err == nil:
		c.s.watches.wrote(c.ref())
	case !errors.Is(err, errDryRun):
		return nil, c.noProject(err)
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
	if after.Schema {
		answer.Findings = c.findings(config, checked)
	}
	answer.StackVersion, answer.UseStackVersion = after.Withdrawn, after.UseVersion
	if answer.OverwroteExistingConfig {
		answer.Replaced = &wire.Replaced{Config: jsontext.Value(before.Body), Edit: toEdit(before.ConfigState)}
	}
	return answer, nil
}

// author says who the caller is, for the history of what is written.
func (c *call) author(via wire.Via) store.Author {
	return store.Author{By: c.who.user, Via: string(c.who.via(via)), TokenName: c.who.tokenName(), RequestID: c.id}
}

func countKeys(from, to []byte) (store.KeyCounts, error) {
	counts, err := flat.Count(from, to)
	return store.KeyCounts(counts), err
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
		p.Hint = "it was written by " + current.UpdatedBy + " through " + wire.Via(current.UpdatedVia).Phrase() + " on " + formatTime(edit.UpdatedAt)
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
