package hubserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/fileschema"
	"example.com/projecthub/hubserver/schema"
	"example.com/projecthub/store"
)

// bundledSchema returns the JSON Schema of settings in a bundle, nil for none.
func (c *call) bundledSchema(data [][]byte, compression string, manifest []byte) (text []byte, err error) {
	path, err := wire.SettingsSchema(manifest)
	if err != nil {
		return nil, badArchive("its %s: %v", stackManifest, err)
	}
	if path == "" {
		return nil, nil
	}
	if _, _, err := c.scanBundle(data, compression, path, func(content []byte) { text = content }); err != nil {
		return nil, err
	}
	if text == nil {
		return nil, badArchive("its %s names the settings schema %s, which is not in the bundle", stackManifest, path)
	}
	if err := schema.Check(text); err != nil {
		return nil, badArchive("%s is not a JSON Schema that the hub can use: %v", path, err)
	}
	return text, nil
}

func (s *Server) getSettingsSchema(c *call) error {
	row, err := c.stackVersion()
	if err != nil {
		return err
	}
	var found *store.Schema
	err = s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		found, err = v.Schema(c.ctx(), c.ref(), row.Version)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return notFound("settings schema in version " + row.Version + " of the stack " + c.ref().String())
	}
	if err != nil || c.unmodified(found.SHA256) {
		return err
	}
	return c.bytes(http.StatusOK, "application/json", found.Body)
}

// getFileSchema responds with the JSON Schema of a file in .tool, for an editor.
func (s *Server) getFileSchema(c *call) error {
	name := c.params.ByName("name")
	found, ok := fileschema.Get(name)
	if !ok {
		return notFound("schema " + name)
	}
	c.w.Header().Set("Cache-Control", "public, max-age=3600")
	if c.unmodified(found.SHA256) {
		return nil
	}
	return c.bytes(http.StatusOK, "application/schema+json", found.Text)
}

// maxChecks bounds how often a config is checked again because somebody else changed it
// in the meantime.
const maxChecks = 5

// checkedSettings says what a schema does not allow in one revision of a config.
type checkedSettings struct {
	revision string // "": none was checked
	findings []wire.FieldError
}

// uncheckedError ends a write whose config must be checked first. A check takes too long
// for a transaction.
type uncheckedError struct{ config flat.Config }

func (*uncheckedError) Error() string { return "the settings are not checked yet" }

// needCheck returns an *uncheckedError if the project's settings have to pass the stack's
// schema, and config was not checked.
func (c *call) needCheck(current *store.Config, config flat.Config, checked *checkedSettings) error {
	if !current.Enforced || checked.revision == config.Revision() {
		return nil
	}
	return &uncheckedError{config}
}

// checkSettings checks a config against the schema of its project's stack version, if
// there is one, unless it is the one that was checked.
func (c *call) checkSettings(config flat.Config, checked *checkedSettings) error {
	revision := config.Revision()
	if checked.revision == revision {
		return nil
	}
	*checked = checkedSettings{revision: revision}
	var found *store.Schema
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		project, err := v.Project(c.ctx(), c.ref())
		if err != nil {
			return err
		}
		version := project.StackVersion
		if version == wire.Latest {
			version = project.StackLatest
		}
		found, err = v.Schema(c.ctx(), refOf(project.StackAccount, project.StackSlug), version)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	findings, err := c.validate(found.Body, config.Unfold())
	for _, f := range findings {
		checked.findings = append(checked.findings, wire.FieldError{Pointer: f.Pointer, Detail: f.Detail})
	}
	slices.SortStableFunc(checked.findings, func(a, b wire.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return err
}

// checkCost is how much memory a byte of a schema, and of a config, takes during a check.
const checkCost = 16

// validate checks settings when it is its turn. What cannot be checked has a finding.
func (c *call) validate(text, settings []byte) ([]schema.Finding, error) {
	bytes := min(checkCost*int64(len(text)+len(settings)), c.s.memory.queues[checking].most)
	l, err := c.s.memory.acquire(c.ctx(), checking, c.client(), bytes)
	if err != nil {
		return nil, err
	}
	defer l.release()
	findings, err := schema.Validate(text, settings)
	if err != nil {
		return []schema.Finding{{Detail: err.Error()}}, nil
	}
	return findings, nil
}

// findings are what the schema does not allow in a config that was written. That a check
// fails does not undo the write.
func (c *call) findings(config flat.Config, checked *checkedSettings) []wire.FieldError {
	if err := c.checkSettings(config, checked); err != nil {
		c.s.Log.Warn("settings were not checked", "request", c.id, "project", c.ref().String(), "error", err)
		return []wire.FieldError{{Detail: "the settings were written, but could not be checked against the stack's schema"}}
	}
	return checked.findings
}

// settingsInvalid refuses settings that the schema does not allow.
func settingsInvalid(findings []wire.FieldError) *problem {
	first := findings[0].Detail
	if findings[0].Pointer != "" {
		first = findings[0].Pointer + ": " + first
	}
	if len(findings) > 1 {
		first += fmt.Sprintf(" (and %d more)", len(findings)-1)
	}
	p := problemf(http.StatusUnprocessableEntity, wire.CodeSettingsInvalid, "the stack's schema does not allow these settings: %s", first)
	p.Errors = findings
	return p
}
