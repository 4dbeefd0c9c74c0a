package workspace

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
)

// The members of client.json. The enrichments may also be one of the settings.
const (
	memberProject     = "project"
	memberAPI         = "api"
	memberSource      = "source"
	memberSettings    = "settings"
	memberEnrichments = "enrichments"
)

var clientMembers = []string{memberProject, memberAPI, memberSource, memberSettings, memberEnrichments}

// Client is a local project's client.json as it was read, changed by the file of the
// project's environment if it is in one. A ref is the text in the file: the caller parses it,
// and names its position if it is malformed.
type Client struct {
	Project  Field     // destination, @account/slug
	API      Field     // @account/slug
	Source   Field     // the API's description: a file of the workspace or a URL
	Warnings []*Blamed // probable mistakes

	local       *Project
	doc         document
	settings    *jsonedit.Value // nil: no such member
	enrichments *jsonedit.Value // at the top level
	env         *environment    // nil: none
}

// Client reads the project's client.json. The failure is invalid_file, with line
// and column where one is to blame, or outside_workspace.
func (p *Project) Client() (*Client, error) {
	doc, err := p.Workspace.readDocument(p.file(clientFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Of(err).WithHint(`an empty %s is {"settings": {}}`, clientFile)
	}
	if err != nil {
		return nil, err
	}
	c, err := p.clientOf(doc)
	if err != nil || p.Env == "" {
		return c, err
	}
	e, err := p.environment()
	if err != nil {
		return nil, err
	}
	return c, c.apply(e)
}

func (p *Project) clientOf(doc document) (_ *Client, err error) {
	c := &Client{local: p, doc: doc, Warnings: doc.warnings(clientMembers, nil)}
	if c.Project, err = doc.ref(memberProject); err != nil {
		return nil, err
	}
	if c.API, err = doc.ref(memberAPI); err != nil {
		return nil, err
	}
	if c.Source, err = doc.field(memberSource); err != nil {
		return nil, err
	}
	if err := c.findConfig(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Client) findConfig() (err error) {
	if c.settings, err = c.doc.object(memberSettings); err != nil {
		return err
	}
	top, atTop := c.doc.Lookup(memberEnrichments)
	if c.settings != nil {
		if inner, ok := c.settings.Lookup(memberEnrichments); ok {
			if err := checkEnrichments(c.doc, "settings.enrichments", inner); err != nil {
				return err
			}
			if atTop {
				return c.doc.at(top.Offset).invalid("enrichments is set here and in settings.enrichments").
					WithHint("keep one of the two")
			}
		}
	}
	if !atTop {
		return nil
	}
	c.enrichments = &top
	return checkEnrichments(c.doc, memberEnrichments, top)
}

// checkEnrichments wants an array of records or an object of records, a record being an object.
func checkEnrichments(doc document, name string, v jsonedit.Value) error {
	switch v.Text.Kind() {
	case '[':
		i := 0
		for record := range v.Elements() {
			if record.Text.Kind() != '{' {
				return doc.at(record.Offset).invalid("%s[%d] is %s: a record is an object", name, i, record.Type())
			}
			i++
		}
	case '{':
		for _, m := range v.Members {
			if m.Value.Text.Kind() != '{' {
				return doc.at(m.Value.Offset).
					invalid("%s.%s is %s: a record is an object", name, m.Name, m.Value.Type())
			}
		}
	default:
		return doc.at(v.Offset).invalid("%s is %s: an array or object of records was expected", name, v.Type())
	}
	return nil
}

type layer struct {
	doc      document
	settings jsonedit.Value // with the top-level enrichments
}

// layers returns the settings of the environment, which win, and then those of client.json.
func (c *Client) layers() (layers []layer) {
	if c.env != nil && c.env.settings != nil {
		layers = append(layers, layer{c.env.doc, *c.env.settings})
	}
	if c.settings != nil {
		own := *c.settings
		own.Members = c.ownSettings()
		layers = append(layers, layer{c.doc, own})
	}
	return layers
}

// Settings returns what a push sends: the object settings, with the top-level
// enrichments in it. Without a member settings the failure is no_settings.
func (c *Client) Settings() (jsontext.Value, error) {
	switch {
	case c.env != nil && c.env.settings != nil:
		return jsonedit.Object(overlay(c.ownSettings(), c.env.settings.Members)).Text, nil
	case c.settings == nil:
		return nil, failure.New(failure.CodeNoSettings, "%s has no %q", c.doc.name, memberSettings).
			WithHint(`pull the hub's config, or write "settings": {} to mean an empty one`)
	case c.enrichments == nil:
		return c.settings.Text, nil
	}
	return jsonedit.Object(c.ownSettings()).Text, nil
}

// ownSettings returns the settings of client.json, with the top-level enrichments in them.
func (c *Client) ownSettings() []jsonedit.Member {
	members := membersOf(c.settings)
	if c.enrichments == nil {
		return members
	}
	return with(members, memberEnrichments, *c.enrichments)
}

// ConfigLimits bound the configs that are read and pulled. A long name above many leaves can
// make a small file a huge config, and many levels a small config a huge file.
var ConfigLimits = flat.Limits{Bytes: maxFile, Keys: 250_000, Depth: 100}

// Config returns the settings as the flat config that a push makes of them.
func (c *Client) Config() (flat.Config, error) {
	settings, err := c.Settings()
	if err != nil {
		return flat.Config{}, err
	}
	config, err := flat.Fold(settings)
	if err == nil {
		err = config.Check(ConfigLimits)
	}
	if err != nil {
		return flat.Config{}, c.SettingAt("").invalid("settings: %w", err)
	}
	return config, nil
}

// SettingAt returns the position of the value that a JSON pointer names, relative to the settings. If there is
// none, it is the position of the innermost value on the way to it in client.json.
func (c *Client) SettingAt(pointer string) Position {
	nearest := Position{File: c.doc.name}
	for _, l := range c.layers() {
		v, found := follow(l.settings, pointer)
		nearest = l.doc.at(v.Offset)
		if found {
			break
		}
	}
	return nearest
}

// follow returns the value that a JSON pointer names, or the innermost one on the way to it.
func follow(v jsonedit.Value, pointer string) (innermost jsonedit.Value, found bool) {
	for name := range jsontext.Pointer(pointer).Tokens() {
		next, ok := v.Lookup(name)
		if !ok {
			return v, false
		}
		v = next
	}
	return v, pointer != ""
}

// CheckSecrets refuses settings that hold an access token: what is in them goes to the hub. config is what they
// fold to: there, a token is found that the file writes with escapes. The failure is token_in_file.
func (c *Client) CheckSecrets(config flat.Config) error {
	docs := []document{c.doc}
	if c.env != nil {
		docs = append(docs, c.env.doc)
	}
	for _, doc := range docs {
		if i := pat.Index(doc.Source); i >= 0 {
			return tokenIn(doc.at(i).String(), doc.Source[i:])
		}
	}
	text := config.Canonical()
	if i := pat.Index(text); i >= 0 {
		return tokenIn(docs[len(docs)-1].name, text[i:])
	}
	return nil
}

// tokenIn is the failure of a place where a text starts with a token.
func tokenIn(place string, text []byte) error {
	return failure.New(failure.CodeTokenInFile, "%s: an access token is written here (%s…)", place,
		pat.Shown(string(text[:pat.Length]))).
		WithHint("remove it from the file, and revoke it: everyone who can read the file can use it")
}

// with returns members with the one called name set to v, in its place or last.
func with(members []jsonedit.Member, name string, v jsonedit.Value) []jsonedit.Member {
	result := slices.Clone(members)
	for i, m := range result {
		if m.Name == name {
			result[i].Value = v
			return result
		}
	}
	return append(result, jsonedit.Member{Name: name, Value: v})
}

func without(members []jsonedit.Member, name string) []jsonedit.Member {
	return slices.DeleteFunc(slices.Clone(members), func(m jsonedit.Member) bool { return m.Name == name })
}
