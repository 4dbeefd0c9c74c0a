package workspace

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
)

const (
	clientFile   = "client.json"
	stackFile    = "stack.json"
	manifestFile = "manifest.json"
	pulledFile   = "pulled.json"
)

// Project is a local project: a directory directly under .tool that holds
// client.json or stack.json.
type Project struct {
	Name      string
	Workspace *Workspace
	Env       string // environment; "": none
}

// Projects lists the names of the local projects, sorted.
func (w *Workspace) Projects() ([]string, error) {
	entries, err := fs.ReadDir(w.root.FS(), toolDir)
	if err != nil {
		return nil, invalid(toolDir, failure.Cause(err))
	}
	names := []string{}
	for _, entry := range entries {
		if name := entry.Name(); isPlainName(name) && w.isProject(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (w *Workspace) isProject(name string) bool {
	dir, err := w.resolve(path.Join(toolDir, name))
	if err != nil {
		return false
	}
	for _, file := range []string{clientFile, stackFile} {
		if _, err := w.root.Lstat(path.Join(dir, file)); err == nil {
			return true
		}
	}
	return false
}

// Project returns the local project called name. The failure no_local_project says
// what there is instead.
func (w *Workspace) Project(name string) (*Project, error) {
	if !isPlainName(name) || !w.isProject(name) {
		return nil, w.noProject(name)
	}
	return &Project{Name: name, Workspace: w}, nil
}

func (w *Workspace) noProject(name string) error {
	e := failure.New(failure.CodeNoLocalProject,
		"no local project %q: it would be a directory under %s that holds %s or %s",
		name, toolDir, clientFile, stackFile)
	names, err := w.Projects()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return e.WithHint("there is none yet").Try(cmdline.Tool("init").With(SlugOf(name)))
	}
	hint := "local projects: " + strings.Join(names, ", ")
	if near := cmdline.Nearest(path.Base(name), names); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return e.WithHint("%s", hint)
}

// isPlainName reports whether name is one segment of a path and nothing more, on
// every system.
func isPlainName(name string) bool {
	return filepath.IsLocal(name) && name[0] != '.' && !strings.ContainsAny(name, "/\\:\x00")
}

// ClientPath returns where the file is that names the destination, relative to the
// workspace, with /: client.json, or client.<env>.json of an environment.
func (p *Project) ClientPath() string {
	if p.Env == "" {
		return p.file(clientFile)
	}
	return p.file(clientPrefix + p.Env + clientSuffix)
}

// file returns the name of one of the project's files.
func (p *Project) file(name string) string { return path.Join(toolDir, p.Name, name) }

// SlugOf returns a slug like name, web when nothing in it can be part of one.
func SlugOf(name string) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	slug = strings.Trim(slug, "-")
	if !ref.ValidName(slug) {
		return "web"
	}
	return slug
}
