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

// overlay returns the members of base, changed by those of over: objects are merged, null
// removes a member, and any other value replaces one.
func overlay(base, over []jsonedit.Member) []jsonedit.Member {
	var merged []jsonedit.Member
	names, values := together(base, over)
	for _, name := range names {
		v := values[name]
		merged = add(merged, name, overlaid(v[0], v[1]))
	}
	return merged
}

// overlaid is overlay for one member. A nil value is an absent one.
func overlaid(base, over *jsonedit.Value) *jsonedit.Value {
	switch {
	case over == nil:
		return base
	case isNull(over):
		return nil
	case isObject(over):
		v := jsonedit.Object(overlay(membersOf(base), over.Members))
		return &v
	}
	return over
}

// split returns base and over, changed so that their overlay is want: what over has is
// changed there, anything else in base. What need not change stays as it is.
func split(base, over, want []jsonedit.Member) (newBase, newOver []jsonedit.Member) {
	names, values := together(base, over, want)
	for _, name := range names {
		v := values[name]
		b, o := splitMember(v[0], v[1], v[2])
		newBase, newOver = add(newBase, name, b), add(newOver, name, o)
	}
	return newBase, newOver
}

// splitMember is split for one member. A nil value is an absent one.
func splitMember(base, over, want *jsonedit.Value) (newBase, newOver *jsonedit.Value) {
	switch {
	case same(overlaid(base, over), want):
		return base, over
	case over == nil || base == nil && want == nil:
		return want, nil
	case want == nil:
		return base, &null
	case isObject(want) && (base == nil && isObject(over) || base != nil && isObject(base)):
		return splitObjects(base, over, want)
	case hasNull(want): // which would remove it
		return want, nil
	case same(base, want):
		return base, nil
	}
	return base, want
}

// splitObjects is splitMember for objects; base may be absent.
func splitObjects(base, over, want *jsonedit.Value) (newBase, newOver *jsonedit.Value) {
	overs := membersOf(over)
	if !isObject(over) { // it is in the place of every member
		names, _ := together(membersOf(base), want.Members)
		for _, name := range names {
			overs = add(overs, name, &null)
		}
	}
	b, o := split(membersOf(base), overs, want.Members)
	if len(b) > 0 || base != nil && len(base.Members) == 0 {
		v := jsonedit.Object(b)
		newBase = &v
	}
	if len(o) > 0 || newBase == nil {
		v := jsonedit.Object(o)
		newOver = &v
	}
	return newBase, newOver
}

// together returns the names in the lists, and the value of each name in each of them, nil for none.
func together(lists ...[]jsonedit.Member) (names []string, values map[string][]*jsonedit.Value) {
	values = map[string][]*jsonedit.Value{}
	for i, members := range lists {
		for _, m := range members {
			if values[m.Name] == nil {
				values[m.Name] = make([]*jsonedit.Value, len(lists))
				names = append(names, m.Name)
			}
			values[m.Name][i] = &m.Value
		}
	}
	return names, values
}

// add appends a member unless it is absent.
func add(members []jsonedit.Member, name string, v *jsonedit.Value) []jsonedit.Member {
	if v == nil {
		return members
	}
	return append(members, jsonedit.Member{Name: name, Value: *v})
}

var null = jsonedit.Value{Text: []byte("null")}

func isNull(v *jsonedit.Value) bool   { return v.Text.Kind() == 'n' }
func isObject(v *jsonedit.Value) bool { return v.Text.Kind() == '{' }

func membersOf(v *jsonedit.Value) []jsonedit.Member {
	if v == nil {
		return nil
	}
	return v.Members
}

func same(a, b *jsonedit.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return jsonedit.Equal(a.Text, b.Text)
}

// hasNull reports whether a value is null, or an object with a null at any depth.
func hasNull(v *jsonedit.Value) bool {
	if isNull(v) {
		return true
	}
	for _, m := range v.Members {
		if hasNull(&m.Value) {
			return true
		}
	}
	return false
}
