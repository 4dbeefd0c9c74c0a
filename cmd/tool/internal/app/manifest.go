package app

import (
	"fmt"
	"io"

	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/stackmanifest"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// maxNamed bounds stack.json and the schema that it names, in bytes.
const maxNamed = 2 << 20

// CheckManifest checks that the bundle of a local project contains what stack.json names, the
// module of the preview and the JSON Schema of settings, and returns that schema, nil for none.
// Whether it is a valid schema, the hub finds out, so that this program needs no library for it.
// What the module imports, the preview looks for.
func CheckManifest(local *workspace.Project, bundle *basefiles.Selection, files tree.Tree) (schema []byte, err error) {
	blobs := bundle.Blobs()
	defer blobs.Close()
	entries := make(map[string]tree.Entry, len(files))
	for _, e := range files {
		entries[e.Path] = e
	}
	read := func(path string) ([]byte, error) {
		if entries[path].Size > maxNamed {
			return nil, fmt.Errorf("%s is larger than %d MiB", path, maxNamed>>20)
		}
		content, err := blobs.Open(entries[path])
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(content)
	}
	text, err := read("stack.json")
	if err != nil {
		return nil, err
	}
	named, err := stackmanifest.Parse(text)
	_, hasModule := entries[named.Module]
	_, hasSchema := entries[named.Schema]
	switch {
	case err != nil:
	case named.Module != "" && !hasModule:
		err = fmt.Errorf("preview.module names %s, which is not in the bundle", named.Module)
	case named.Schema != "" && !hasSchema:
		err = fmt.Errorf("settings.schema names %s, which is not in the bundle", named.Schema)
	case named.Schema != "":
		if schema, err = read(named.Schema); err != nil {
			break
		}
		if syntax := wire.CheckSyntax(schema); syntax != nil {
			err = fmt.Errorf("settings.schema names %s, which is not JSON: %w", named.Schema, syntax)
		}
	}
	if err != nil {
		at := workspace.Position{File: ".tool/" + local.Name + "/stack.json"}
		return nil, failure.New(failure.CodeInvalidFile, "%w", &workspace.Blamed{At: at, Err: err}).
			WithHint("preview.module must be a .ts or .js file in .tool/%s, and settings.schema a JSON file there", local.Name)
	}
	return schema, nil
}
