// Package stackmanifest reads the stack.json of a stack version: its name, and which files of the
// bundle the preview and the settings need. It opens no file; whether the bundle has these files,
// its callers find out.
package stackmanifest

import (
	"errors"
	"fmt"
	"path"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// contract is the version of the contract between a module and the preview.
const contract = 1

// Manifest is what a stack.json says.
type Manifest struct {
	Name, Version string
	Module        string // path of the preview's module, "" for none
	Schema        string // path of the JSON Schema of settings, "" for none
}

// Parse reads a stack.json. Members that it does not know are the stack's own business.
func Parse(text []byte) (m Manifest, err error) {
	var found struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Preview *struct {
			Module   string `json:"module"`
			Contract int    `json:"contract"`
		} `json:"preview"`
		Settings jsontext.Value `json:"settings"`
	}
	if err := wire.Decode(text, &found, json.RejectUnknownMembers(false)); err != nil {
		return m, fmt.Errorf("malformed: %w", err)
	}
	m.Name, m.Version = found.Name, found.Version
	if p := found.Preview; p != nil {
		switch {
		case p.Contract != contract:
			return m, fmt.Errorf("preview.contract must be %d, not %d", contract, p.Contract)
		case tree.CheckPath(p.Module) != nil || path.Ext(p.Module) != ".ts" && path.Ext(p.Module) != ".js":
			return m, fmt.Errorf("preview.module must be the path of a .ts or .js file in the bundle, not %q", p.Module)
		}
		m.Module = p.Module
	}
	if found.Settings.Kind() != '{' {
		return m, nil
	}
	var settings struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(found.Settings, &settings); err != nil {
		return m, errors.New("settings.schema must be the path of a file in the bundle")
	}
	if settings.Schema != nil {
		m.Schema = *settings.Schema
		if err := tree.CheckPath(m.Schema); err != nil {
			return m, fmt.Errorf("settings.schema: %w", err)
		}
	}
	return m, nil
}
