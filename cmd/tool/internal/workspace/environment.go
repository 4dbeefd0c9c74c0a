package workspace

import (
	"io/fs"
	"path"
	"slices"
	"strings"

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
	doc, err := p.Workspace.readDocument(p.ClientPath())
	if err != nil {
		return nil, err
	}
	return environmentOf(doc)
}

func environmentOf(doc document) (_ *environment, err error) {
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
	e.settings, err = doc.object(memberSettings)
	return e, err
}

// insteadOf says what to do about members of client.json that an environment does not have.
var insteadOf = map[string]string{
	memberEnrichments: "write it into settings",
	memberSource:      "client.json names the source",
}

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
	c.Warnings = append(c.Warnings, e.doc.warnings(environmentMembers, insteadOf)...)
	if e.settings == nil {
		return nil
	}
	own, ok := e.settings.Lookup(memberEnrichments)
	if v := overlaid(nil, &own); ok && v != nil {
		return checkEnrichments(e.doc, "settings.enrichments", *v)
	}
	return nil
}
