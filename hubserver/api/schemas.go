package api

import (
	"fmt"
	"net/http"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/fileschema"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/hubserver/schema"
	"example.com/projecthub/store"
)

// getSettingsSchema responds with the JSON Schema of the settings that a stack version names.
func getSettingsSchema(c *request.Call, v store.StackVersion) error {
	if v.Schema == "" {
		return request.NotFound("settings schema in version " + v.Version + " of the stack " + c.Ref().String())
	}
	return sendContent(c, c.Resource.ID, v.Schema, v.Schema)
}

// getFileSchema responds with the JSON Schema of a file in .tool, for editors.
func getFileSchema(c *request.Call) error {
	name := c.Param("name")
	found, ok := fileschema.Get(name)
	if !ok {
		return request.NotFound("schema " + name)
	}
	c.W.Header().Set("Cache-Control", "public, max-age=3600")
	if c.Unmodified(found.SHA256) {
		return nil
	}
	return c.Bytes(http.StatusOK, "application/schema+json", found.Text)
}

// checkCost is how much memory each byte of a schema and of a config takes during a check, in bytes.
const checkCost = 16

// checkSettings returns what the schema of a project's stack version does not allow in a config; nothing
// without a schema.
func checkSettings(c *request.Call, rule store.SettingsSchema, config flat.Config) ([]wire.FieldError, error) {
	if rule.Digest == "" {
		return nil, nil
	}
	text, err := Content(c, rule.StackID, rule.Digest)
	if err != nil {
		return nil, err
	}
	return validate(c, text, config.Unfold())
}

// checkOtherSettings checks settings that are not stored against a schema that is not either, such as those of
// a stack that is not published yet.
func checkOtherSettings(c *request.Call) error {
	var req wire.CheckSettings
	limit := c.Hub.Limits.ConfigBytes + schema.MaxBytes + request.MaxJSON
	if _, err := c.ReadJSON("the body", limit, &req); err != nil {
		return err
	}
	if req.Settings.Kind() != '{' {
		return request.InvalidBody("/settings", "must be a JSON object")
	}
	if err := schema.Check(req.Schema); err != nil {
		return request.InvalidBody("/schema", "not a JSON Schema that the hub can use: %v", err)
	}
	findings, err := validate(c, req.Schema, req.Settings)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.CheckedSettings{Findings: findings})
}

// validate returns what a schema does not allow in settings. A schema that cannot be applied to them is one
// finding, which says so.
func validate(c *request.Call, text, settings []byte) ([]wire.FieldError, error) {
	memory := checkCost * int64(len(text)+len(settings))
	if err := c.Need(memory); err != nil {
		return nil, err
	}
	defer c.Free(memory)
	findings, err := schema.Validate(text, settings)
	if err != nil {
		return []wire.FieldError{{Detail: err.Error()}}, nil
	}
	return findings, nil
}

// settingsInvalid is the 422 about settings that an enforced schema does not allow.
func settingsInvalid(findings []wire.FieldError) *request.Problem {
	first := findings[0].Detail
	if findings[0].Pointer != "" {
		first = findings[0].Pointer + ": " + first
	}
	if len(findings) > 1 {
		first += fmt.Sprintf(" (and %d more)", len(findings)-1)
	}
	p := request.Problemf(http.StatusUnprocessableEntity, wire.CodeSettingsInvalid,
		"the stack's schema does not allow these settings: %s", first)
	p.Errors = findings
	return p
}
