package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
)

// Generated returns the paths of the generated files that manifest.json records,
// relative to the workspace, cleaned and sorted. Without the file there are none.
// The failure is invalid_file or outside_workspace.
func (p *Project) Generated() ([]string, error) {
	doc, err := p.Workspace.readDocument(p.file(manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, ok := doc.Lookup("files")
	if !ok {
		return nil, invalid(doc.name, errors.New(`no "files"`))
	}
	paths := map[string]bool{}
	add := func(name string, offset int) error {
		clean, err := localPath(name)
		if err != nil {
			return doc.at(offset).blame("generated file", err)
		}
		if clean == "." {
			return doc.at(offset).invalid("generated file: %q names no file", name)
		}
		paths[clean] = true
		return nil
	}
	switch v.Text.Kind() {
	case '{':
		for _, m := range v.Members {
			if err := add(m.Name, m.Offset); err != nil {
				return nil, err
			}
		}
	case '[':
		for element := range v.Elements() {
			name, ok := element.Unquote()
			if !ok {
				return nil, doc.at(element.Offset).
					invalid("a file's path is %s: a string was expected", element.Type())
			}
			if err := add(name, element.Offset); err != nil {
				return nil, err
			}
		}
	default:
		return nil, doc.at(v.Offset).invalid("files is %s: an object or array of paths was expected", v.Type())
	}
	return slices.Sorted(maps.Keys(paths)), nil
}
