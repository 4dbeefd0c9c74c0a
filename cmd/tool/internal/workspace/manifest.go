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
	written, err := doc.files()
	if err != nil {
		return nil, err
	}
	paths := make(map[string]bool, len(written))
	for _, f := range written {
		clean, err := localPath(f.Text)
		if err != nil {
			return nil, f.At.blame("generated file", err)
		}
		if clean == "." {
			return nil, f.At.invalid("generated file: %q names no file", f.Text)
		}
		paths[clean] = true
	}
	return slices.Sorted(maps.Keys(paths)), nil
}

// files lists the names in the member files: an array of them, or an object.
func (d document) files() ([]Field, error) {
	v, ok := d.Lookup("files")
	if !ok {
		return nil, invalid(d.name, errors.New(`no "files"`))
	}
	var names []Field
	switch v.Text.Kind() {
	case '{':
		for _, m := range v.Members {
			names = append(names, Field{m.Name, d.at(m.Offset)})
		}
	case '[':
		for element := range v.Elements() {
			name, err := d.text("a file's path", element)
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
	default:
		return nil, d.at(v.Offset).invalid("files is %s: an object or array of paths was expected", v.Type())
	}
	return names, nil
}
