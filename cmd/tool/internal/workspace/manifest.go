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
	names, err := doc.files()
	if err != nil {
		return nil, err
	}
	paths := make(map[string]bool, len(names))
	for _, name := range names {
		clean, err := localPath(name.text)
		if err != nil {
			return nil, doc.at(name.offset).blame("generated file", err)
		}
		if clean == "." {
			return nil, doc.at(name.offset).invalid("generated file: %q names no file", name.text)
		}
		paths[clean] = true
	}
	return slices.Sorted(maps.Keys(paths)), nil
}

// fileName is a name in the manifest. Its position is computed for a message alone:
// a position takes time by its distance from the start.
type fileName struct {
	text   string
	offset int
}

// files lists the names in the member files: an array of them, or an object.
func (d document) files() ([]fileName, error) {
	v, ok := d.Lookup("files")
	if !ok {
		return nil, invalid(d.name, errors.New(`no "files"`))
	}
	var names []fileName
	switch v.Text.Kind() {
	case '{':
		for _, m := range v.Members {
			names = append(names, fileName{m.Name, m.Offset})
		}
	case '[':
		for element := range v.Elements() {
			text, ok := element.Unquote()
			if !ok {
				return nil, d.at(element.Offset).invalid("a file's path is %s: a string was expected", element.Type())
			}
			names = append(names, fileName{text, element.Offset})
		}
	default:
		return nil, d.at(v.Offset).invalid("files is %s: an object or array of paths was expected", v.Type())
	}
	return names, nil
}
