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
	schema, err = readNamed(text, entries, read)
	if err != nil {
		at := workspace.Position{File: ".tool/" + local.Name + "/stack.json"}
		return nil, failure.New(failure.CodeInvalidFile, "%w", &workspace.Blamed{At: at, Err: err}).
			WithHint("preview.module must be a .ts or .js file in .tool/%s, and settings.schema a JSON file there", local.Name)
	}
	return schema, nil
}

// readNamed checks what stack.json, whose content is text, names among the files of a bundle, and
// returns the schema, nil for none.
func readNamed(
	text []byte, entries map[string]tree.Entry, read func(path string) ([]byte, error),
) (schema []byte, err error) {
	named, err := stackmanifest.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, ok := entries[named.Module]; named.Module != "" && !ok {
		return nil, fmt.Errorf("preview.module names %s, which is not in the bundle", named.Module)
	}
	if named.Schema == "" {
		return nil, nil
	}
	if _, ok := entries[named.Schema]; !ok {
		return nil, fmt.Errorf("settings.schema names %s, which is not in the bundle", named.Schema)
	}
	if schema, err = read(named.Schema); err != nil {
		return nil, err
	}
	if err := wire.CheckSyntax(schema); err != nil {
		return nil, fmt.Errorf("settings.schema names %s, which is not JSON: %w", named.Schema, err)
	}
	return schema, nil
}
