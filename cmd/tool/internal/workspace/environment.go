package workspace

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/ref"
)

// clientPrefix and clientSuffix are around the name of an environment in its file's name.
const (
	clientPrefix = "client."
	clientSuffix = ".json"
)

var environmentMembers = []string{memberOrigin, memberProject, memberAPI, memberSettings}

// environment is client.<env>.json: the destination of one environment of a project, and
// what its settings have different from those of client.json.
type environment struct {
	origin   string // of its hub; "": the workspace's
	project  Field
	api      Field
	settings *jsonedit.Value // nil: no such member

	doc document
}

// Environments lists the names of the project's environments, sorted.
func (p *Project) Environments() ([]string, error) {
	dir, err := p.Workspace.resolve(path.Join(toolDir, p.Name))
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(p.Workspace.root.FS(), dir)
	if err != nil {
		return nil, invalid(path.Join(toolDir, p.Name), err)
	}
	names := []string{}
	for _, entry := range entries {
		name, isClient := strings.CutPrefix(entry.Name(), clientPrefix)
		name, isJSON := strings.CutSuffix(name, clientSuffix)
		if isClient && isJSON && ValidEnvironment(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// ValidEnvironment reports whether name can be an environment's.
func ValidEnvironment(name string) bool { return ref.ValidName(name) }

// In returns the project in its environment env, "" for none.
func (p *Project) In(env string) *Project {
	return &Project{Name: p.Name, Workspace: p.Workspace, Env: env}
}

// NewSlug suggests the slug of a hub project to create. On the workspace's own hub, the
// project of client.json takes the plain one.
func (p *Project) NewSlug() string {
	if p.Env == "" {
		return SlugOf(p.Name)
	}
	if origin, err := p.Origin(); err == nil && origin != "" {
		return SlugOf(p.Name)
	}
	return SlugOf(p.Name + "-" + p.Env)
}

// Origin returns the origin of the hub of the project's environment, "" if it is the
// workspace's. The failure is invalid_file, with line and column.
func (p *Project) Origin() (string, error) {
	if p.Env == "" {
		return "", nil
	}
	e, err := p.environment()
	if err != nil {
		return "", err
	}
	return e.origin, nil
}

func (p *Project) environment() (*environment, error) {
	text, err := p.Workspace.read(p.ClientPath())
	if err != nil {
		return nil, err
	}
	return parseEnvironment(p.ClientPath(), text)
}

func parseEnvironment(name string, text []byte) (*environment, error) {
	doc, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	e := &environment{doc: doc}
	if e.origin, err = doc.origin(); err != nil {
		return nil, err
	}
	if e.project, err = doc.ref(memberProject); err != nil {
		return nil, err
	}
	if e.api, err = doc.ref(memberAPI); err != nil {
		return nil, err
	}
	v, ok := doc.Lookup(memberSettings)
	if !ok {
		return e, nil
	}
	if v.Text.Kind() != '{' {
		return nil, doc.at(v.Offset).invalid("%s is %s: an object was expected", memberSettings, v.Type())
	}
	e.settings = &v
	return e, nil
}

// warnings are about members that are not used.
func (e *environment) warnings() []*Blamed {
	var all []*Blamed
	for _, m := range e.doc.Members() {
		switch {
		case len(all) == maxWarnings:
			return all
		case slices.Contains(environmentMembers, m.Name):
		case m.Name == memberEnrichments || m.Name == memberSource:
			all = append(all, &Blamed{e.doc.at(m.Offset), fmt.Errorf("%q is not used in an environment: %s", m.Name, insteadOf[m.Name])})
		default:
			if near := cmdline.Nearest(m.Name, environmentMembers); near != "" {
				all = append(all, &Blamed{e.doc.at(m.Offset), fmt.Errorf("%q is not used: did you mean %q?", m.Name, near)})
			}
		}
	}
	return all
}

// insteadOf says what to do about members of client.json that an environment does not have.
var insteadOf = map[string]string{memberEnrichments: "write it into settings", memberSource: "client.json names the source"}

// apply makes c the client of the environment e. The project is e's alone, because a push
// must not reach another environment's. An API of client.json is on the workspace's hub.
func (c *Client) apply(e *environment) error {
	hub, err := c.local.Workspace.Hub()
	if err != nil {
		return err
	}
	c.env, c.Project = e, e.project
	if e.api.Present() || e.origin != "" && e.origin != hub {
		c.API = e.api
	}
	c.Warnings = append(c.Warnings, e.warnings()...)
	if e.settings == nil {
		return nil
	}
	own, ok := e.settings.Lookup(memberEnrichments)
	if v := overlaid(nil, &own); ok && v != nil {
		return checkEnrichments(e.doc, "settings.enrichments", *v)
	}
	return nil
}
