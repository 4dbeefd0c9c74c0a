package app

import (
	"fmt"
	"io"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/previewmodule"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

const manifestFile = "stack.json"

// CheckManifest checks that the bundle of a local project contains what stack.json names:
// the module of the preview, with all that it imports, and the JSON Schema of settings.
// Whether that is a valid schema, the hub finds out, so that this program needs no library
// for it.
func CheckManifest(local *workspace.Project, bundle *basefiles.Selection, files tree.Tree) error {
	blobs := bundle.Blobs()
	defer blobs.Close()
	entries := make(map[string]tree.Entry, len(files))
	for _, e := range files {
		entries[e.Path] = e
	}
	has := func(path string) bool { _, ok := entries[path]; return ok }
	read := func(path string) ([]byte, error) {
		if entries[path].Size > previewmodule.MaxBytes {
			return nil, fmt.Errorf("%s is larger than %d MiB", path, previewmodule.MaxBytes>>20)
		}
		content, err := blobs.Open(entries[path])
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(content)
	}
	manifest, err := read(manifestFile)
	if err != nil {
		return err
	}
	declared, err := previewmodule.Parse(manifest)
	if err == nil && declared != nil {
		err = declared.Check(has, read)
	}
	if err != nil {
		return blamed(local, err).
			WithHint("the module of the preview and what it imports must be in .tool/%s, as .ts, .js or .json files", local.Name)
	}
	schema, err := wire.SettingsSchema(manifest)
	if err == nil && schema != "" {
		if !has(schema) {
			err = fmt.Errorf("settings.schema names %s, which is not in the bundle", schema)
		} else if text, readErr := read(schema); readErr != nil {
			err = readErr
		} else if syntax := wire.CheckSyntax(text); syntax != nil {
			err = fmt.Errorf("settings.schema names %s, which is not JSON: %w", schema, syntax)
		}
	}
	if err != nil {
		return blamed(local, err).
			WithHint("the settings schema must be a JSON file in .tool/%s", local.Name)
	}
	return nil
}

func blamed(local *workspace.Project, err error) failure.Failure {
	at := workspace.Position{File: ".tool/" + local.Name + "/" + manifestFile}
	return failure.New(failure.CodeInvalidFile, "%w", &workspace.Blamed{At: at, Err: err})
}

// SettingsSchema returns the JSON Schema of settings in a bundle, nil for none.
func SettingsSchema(bundle *basefiles.Selection, files tree.Tree) ([]byte, error) {
	blobs := bundle.Blobs()
	defer blobs.Close()
	read := func(path string) ([]byte, error) {
		for _, e := range files {
			if e.Path == path {
				content, err := blobs.Open(e)
				if err != nil {
					return nil, err
				}
				defer content.Close()
				return io.ReadAll(content)
			}
		}
		return nil, nil
	}
	manifest, err := read(manifestFile)
	if err != nil {
		return nil, err
	}
	path, err := wire.SettingsSchema(manifest)
	if err != nil || path == "" {
		return nil, err
	}
	return read(path)
}
