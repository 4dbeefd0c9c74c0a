package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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

// Client is a local project's client.json as it was read, changed by the file of the
// project's environment if it is in one. Its refs are as written: the caller parses it,
// and names its position when it is malformed.
type Client struct {
	Project  Field     // destination, @account/slug
	API      Field     // @account/slug
	Source   Field     // the API's description: a file of the workspace or a URL
	Warnings []*Blamed // what is probably a slip

	local       *Project
	doc         document
	settings    *jsonedit.Value // nil: no such member
	enrichments *jsonedit.Value // at the top level
	env         *environment    // nil: none
}

// Client reads the project's client.json. The failure is invalid_file, with line
// and column where one is to blame, or outside_workspace.
func (p *Project) Client() (*Client, error) {
	text, err := p.Workspace.read(p.file(clientFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Of(err).WithHint(`the least that a %s holds is {"settings": {}}`, clientFile)
	}
	if err != nil {
		return nil, err
	}
	c, err := p.parseClient(text)
	if err != nil || p.Env == "" {
		return c, err
	}
	e, err := p.environment()
	if err != nil {
		return nil, err
	}
	return c, c.apply(e)
}

func (p *Project) parseClient(text []byte) (*Client, error) {
	doc, err := parse(p.file(clientFile), text)
	if err != nil {
		return nil, err
	}
	c := &Client{local: p, doc: doc}
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
			if err := checkEnrichments(c.doc, "settings.enrichments", inner); err != nil {
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
			return c.doc.at(v.Offset).invalid("enrichments is set here and in settings.enrichments").
				WithHint("keep one of the two")
		}
	}
	c.enrichments = &v
	return checkEnrichments(c.doc, memberEnrichments, v)
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
				return doc.at(m.Value.Offset).invalid("%s.%s is %s: a record is an object", name, m.Name, m.Value.Type())
			}
		}
	default:
		return doc.at(v.Offset).invalid("%s is %s: an array or object of records was expected", name, v.Type())
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
			c.Warnings = append(c.Warnings, &Blamed{c.doc.at(m.Offset), fmt.Errorf("%q is not used: did you mean %q?", m.Name, near)})
		}
	}
}

// Settings returns what a push sends: the object settings, with the top-level
// enrichments in it. Without a member settings the failure is no_settings.
func (c *Client) Settings() (jsontext.Value, error) {
	if c.env != nil && c.env.settings != nil {
		return jsonedit.Object(overlay(c.ownSettings(), c.env.settings.Members)).Text, nil
	}
	if c.settings == nil {
		return nil, failure.New(failure.CodeNoSettings, "%s has no %q", c.doc.name, memberSettings).
			WithHint(`write "settings": {} to mean an empty config`)
	}
	if c.enrichments == nil {
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
		return flat.Config{}, c.settingsAt().invalid("settings: %w", err)
	}
	return config, nil
}

// SettingAt returns the position of the value that a JSON pointer names, relative to
// settings; of the innermost one that exists on the way.
func (c *Client) SettingAt(pointer string) Position {
	if c.settings == nil {
		return Position{File: c.doc.name}
	}
	at := *c.settings
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		next, ok := at.Lookup(name)
		if !ok && len(pointer) > 0 && c.enrichments != nil && name == memberEnrichments && at.Offset == c.settings.Offset {
			next, ok = *c.enrichments, true
		}
		if !ok {
			break
		}
		at = next
	}
	return c.doc.at(at.Offset)
}

// settingsAt returns the position of the settings, which one of the files has.
func (c *Client) settingsAt() Position {
	if c.settings == nil {
		return c.env.doc.at(c.env.settings.Offset)
	}
	return c.doc.at(c.settings.Offset)
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
