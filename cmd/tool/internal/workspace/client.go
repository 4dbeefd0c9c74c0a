package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
)

// The members of client.json, and one of its settings, which may be either.
const (
	memberProject     = "project"
	memberAPI         = "api"
	memberSource      = "source"
	memberSettings    = "settings"
	memberEnrichments = "enrichments"
)

var clientMembers = []string{memberProject, memberAPI, memberSource, memberSettings, memberEnrichments}

// Client is a local project's client.json as it was read. Its refs are as written:
// whoever uses one parses it, and names its place when it is malformed.
type Client struct {
	Project  Field    // destination, @account/slug
	API      Field    // @account/slug
	Source   Field    // the API's description: a file of the workspace or a URL
	Warnings []string // sentences about what is probably a slip

	local       *Project
	doc         document
	settings    *jsonedit.Value // nil: no such member
	enrichments *jsonedit.Value // at the top level
}

// Client reads the project's client.json. The failure is invalid_file, with line
// and column where one is to blame, or outside_workspace.
func (p *Project) Client() (*Client, error) {
	text, err := p.Workspace.read(p.ClientPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Of(err).WithHint(`the least that a %s holds is {"settings": {}}`, clientFile)
	}
	if err != nil {
		return nil, err
	}
	return p.parseClient(text)
}

func (p *Project) parseClient(text []byte) (*Client, error) {
	doc, err := parse(p.ClientPath(), text)
	if err != nil {
		return nil, err
	}
	c := &Client{local: p, doc: doc}
	if c.Project, err = doc.field(memberProject); err != nil {
		return nil, err
	}
	if c.API, err = doc.field(memberAPI); err != nil {
		return nil, err
	}
	if c.Source, err = doc.field(memberSource); err != nil {
		return nil, err
	}
	if err := c.findConfig(); err != nil {
		return nil, err
	}
	c.warn()
	return c, nil
}

// findConfig finds what goes into the config and checks its shape.
func (c *Client) findConfig() error {
	if v, ok := c.doc.Lookup(memberSettings); ok {
		if v.Text.Kind() != '{' {
			return c.doc.at(v.Offset).invalid("%s is %s: an object was expected", memberSettings, v.Type())
		}
		c.settings = &v
		if inner, ok := v.Lookup(memberEnrichments); ok {
			if err := c.checkEnrichments("settings.enrichments", inner); err != nil {
				return err
			}
		}
	}
	v, ok := c.doc.Lookup(memberEnrichments)
	if !ok {
		return nil
	}
	if c.settings != nil {
		if _, twice := c.settings.Lookup(memberEnrichments); twice {
			return c.doc.at(v.Offset).invalid("enrichments stand here and in settings.enrichments").
				WithHint("keep one of the two")
		}
	}
	c.enrichments = &v
	return c.checkEnrichments(memberEnrichments, v)
}

// checkEnrichments wants an array of records or an object of records, a record being an object.
func (c *Client) checkEnrichments(name string, v jsonedit.Value) error {
	switch v.Text.Kind() {
	case '[':
		i := 0
		for record := range v.Elements() {
			if record.Text.Kind() != '{' {
				return c.doc.at(record.Offset).invalid("%s[%d] is %s: a record is an object", name, i, record.Type())
			}
			i++
		}
	case '{':
		for _, m := range v.Members {
			if m.Value.Text.Kind() != '{' {
				return c.doc.at(m.Value.Offset).invalid("%s.%s is %s: a record is an object", name, m.Name, m.Value.Type())
			}
		}
	default:
		return c.doc.at(v.Offset).invalid("%s is %s: an array or object of records was expected", name, v.Type())
	}
	return nil
}

// maxWarnings bounds the warnings about one file.
const maxWarnings = 10

// warn notes members whose name is probably a misspelling of a known one.
func (c *Client) warn() {
	for _, m := range c.doc.Members() {
		if len(c.Warnings) == maxWarnings {
			return
		}
		if slices.Contains(clientMembers, m.Name) {
			continue
		}
		if near := cmdline.Nearest(m.Name, clientMembers); near != "" {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %q is not used: did you mean %q?", c.doc.at(m.Offset), m.Name, near))
		}
	}
}

// Settings returns what a push sends: the object settings, with the top-level
// enrichments in it. Without a member settings the failure is no_settings.
func (c *Client) Settings() (jsontext.Value, error) {
	if c.settings == nil {
		return nil, failure.New(failure.CodeNoSettings, "%s has no %q", c.doc.name, memberSettings).
			WithHint(`write "settings": {} to mean an empty config`)
	}
	if c.enrichments == nil {
		return c.settings.Text, nil
	}
	return jsonedit.Object(with(c.settings.Members, memberEnrichments, *c.enrichments)).Text, nil
}

// Config returns the settings as the flat config that a push makes of them.
func (c *Client) Config() (flat.Config, error) {
	settings, err := c.Settings()
	if err != nil {
		return flat.Config{}, err
	}
	config, err := flat.Fold(settings)
	if err == nil {
		// A long name above many leaves could make a small file a huge config.
		err = config.Check(flat.Limits{Bytes: maxFile})
	}
	if err != nil {
		return flat.Config{}, c.doc.at(c.settings.Offset).invalid("settings: %w", err)
	}
	return config, nil
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

// without returns members without the one called name.
func without(members []jsonedit.Member, name string) []jsonedit.Member {
	return slices.DeleteFunc(slices.Clone(members), func(m jsonedit.Member) bool { return m.Name == name })
}
