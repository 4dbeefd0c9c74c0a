package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/tree"
)

// Stack is a stack with its published versions, newest first.
type Stack struct {
	Stack     string         `json:"stack"`  // account/slug
	Latest    string         `json:"latest"` // the highest release that is not withdrawn; a pre-release only if there is no release
	Versions  []StackVersion `json:"versions"`
	Followers *int           `json:"followers,omitzero"` // projects on latest, at most MostFollowers; for the account's writers
}

// StackVersion is one published, immutable version of a stack.
type StackVersion struct {
	Stack       string    `json:"stack"`
	Version     string    `json:"version"`
	Digest      string    `json:"digest"` // of the bundle's tree
	SizeBytes   int64     `json:"sizeBytes"`
	FileCount   int       `json:"fileCount"`
	PublishedAt time.Time `json:"publishedAt"`
	PublishedBy string    `json:"publishedBy"`
	WithdrawnAt time.Time `json:"withdrawnAt,omitzero"` // zero: it was not withdrawn
}

// Published is the response to the publishing of a version.
type Published struct {
	StackVersion
	FirstVersion bool `json:"firstVersion"` // it created the stack
}

// MostFollowers is how many followers of a stack the hub counts.
const MostFollowers = 1000

// SettingsSchema returns the path in a bundle of the JSON Schema of settings that its
// stack.json names, "" for none: {"settings": {"schema": "settings.schema.json"}}. Other
// members of settings are a stack's own business.
func SettingsSchema(manifest []byte) (path string, err error) {
	var found struct {
		Settings jsontext.Value `json:"settings"`
	}
	if err := json.Unmarshal(manifest, &found); err != nil || found.Settings.Kind() != '{' {
		return "", err
	}
	var settings struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(found.Settings, &settings); err != nil {
		return "", errors.New("settings.schema must be the path of a file in the bundle")
	}
	if settings.Schema == nil {
		return "", nil
	}
	if err := tree.CheckPath(*settings.Schema); err != nil {
		return "", fmt.Errorf("settings.schema: %w", err)
	}
	return *settings.Schema, nil
}
