package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace/jsonedit"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/tree"
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

// findConfig finds what goes into the config and checks its shape.
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
		return flat.Config{}, c.SettingAt("").invalid("settings: %w", err)
	}
	return config, nil
}

// SettingAt returns the position of the value that a JSON pointer names, relative to
// settings; of the innermost one that exists on the way.
func (c *Client) SettingAt(pointer string) Position {
	if c.env != nil && c.env.settings != nil {
		if at, whole := follow(*c.env.settings, pointer); whole || c.settings == nil {
			return c.env.doc.at(at.Offset)
		}
	}
	if c.settings == nil {
		return Position{File: c.doc.name}
	}
	at, _ := follow(jsonedit.Value{Offset: c.settings.Offset, Members: c.ownSettings()}, pointer)
	return c.doc.at(at.Offset)
}

// follow returns the value that a JSON pointer names, else the innermost one that exists on the way.
func follow(at jsonedit.Value, pointer string) (found jsonedit.Value, whole bool) {
	for name := range jsontext.Pointer(pointer).Tokens() {
		next, ok := at.Lookup(name)
		if !ok {
			return at, false
		}
		at = next
	}
	return at, pointer != ""
}

// CheckSecrets refuses a client.json that holds an access token, escaped or not:
// what is in it goes to the hub. config is what the file's settings fold to. The
// failure is token_in_file.
func (c *Client) CheckSecrets(config flat.Config) error {
	doc := c.doc
	if c.env != nil && pat.Index(doc.Text()) < 0 {
		doc = c.env.doc
	}
	text, place := doc.Text(), doc.name
	i := pat.Index(text)
	if i >= 0 {
		place = doc.at(i).String()
	} else {
		text = config.Canonical()
		i = pat.Index(text)
	}
	if i < 0 {
		return nil
	}
	shown := pat.Shown(string(text[i : i+pat.Length]))
	return failure.New(failure.CodeTokenInFile, "%s: an access token is written here (%s…)", place, shown).
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

// without returns members without the one called name.
func without(members []jsonedit.Member, name string) []jsonedit.Member {
	return slices.DeleteFunc(slices.Clone(members), func(m jsonedit.Member) bool { return m.Name == name })
}

// localPath checks a path that a file names: relative to the workspace, within it,
// and written alike on every system. It returns the path cleaned. The failure is
// invalid_file or outside_workspace.
func localPath(s string) (string, error) {
	slashed := strings.ReplaceAll(s, `\`, "/")
	clean := path.Clean(slashed)
	hasDrive := len(s) > 1 && s[1] == ':'
	switch {
	case path.IsAbs(slashed) || hasDrive:
		return "", failure.New(failure.CodeOutsideWorkspace, "%q is absolute", s).
			WithHint("a path is relative to the workspace, the directory that holds %s", toolDir)
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", failure.New(failure.CodeOutsideWorkspace, "%q leads out of the workspace", s)
	case slashed != s:
		return "", failure.New(failure.CodeInvalidFile, "%q holds a backslash", s).WithHint("write it as %s", clean)
	case strings.ContainsRune(s, 0):
		return "", failure.New(failure.CodeInvalidFile, "%q holds a null character", s)
	}
	return clean, nil
}

// BasePath returns settings.basePath as it is written. It may be absent.
func (c *Client) BasePath() (Field, error) {
	if c.env != nil && c.env.settings != nil {
		if v, ok := c.env.settings.Lookup("basePath"); ok && isNull(&v) {
			return Field{}, nil
		} else if ok {
			return c.env.doc.text("settings.basePath", v)
		}
	}
	if c.settings != nil {
		if v, ok := c.settings.Lookup("basePath"); ok {
			return c.doc.text("settings.basePath", v)
		}
	}
	return Field{}, nil
}

// AppRoot returns the directory of basePath, which base files are collected from:
// relative to the workspace, with /, symlinks resolved. It need not exist. Without
// basePath, or with one directly in the workspace, it is ".", the workspace.
//
// The failure is invalid_file, or outside_workspace when basePath leads out of the
// workspace, by its text or by a symlink, or to where no app is.
func (c *Client) AppRoot() (string, error) {
	written, err := c.BasePath()
	if err != nil || !written.Present() {
		return ".", err
	}
	root, err := c.local.Workspace.AppRootOf(written.Text)
	if err != nil {
		return "", written.At.blame("settings.basePath", err)
	}
	return root, nil
}

// AppRootOf is [Client.AppRoot] of any basePath, such as that of a config.
func (w *Workspace) AppRootOf(basePath string) (string, error) {
	base, err := localPath(basePath)
	if err != nil {
		return "", err
	}
	// basePath may be a symlink itself, so that its directory alone says too little.
	if _, err := w.resolve(base); err != nil {
		return "", err
	}
	root, err := w.resolve(path.Dir(base))
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(root, "/") {
		if tree.Reserved(name) != "" {
			return "", failure.New(failure.CodeOutsideWorkspace, "%s is in %s, which no app is in", basePath, name)
		}
	}
	return root, nil
}

// Schema is where an API description is: at a URL, or in a file.
type Schema struct {
	URL  string // http or https; "" for a file
	File string // relative to the workspace, with /, cleaned; "" for a URL

	source    Field
	workspace *Workspace
}

// Schema returns what source names. The failure is invalid_file, or
// outside_workspace when it is a file outside of the workspace.
func (c *Client) Schema() (*Schema, error) {
	if !c.Source.Present() {
		return nil, invalid(c.doc.name, errors.New(`no "source"`)).WithHint(sourceHint)
	}
	s := &Schema{source: c.Source, workspace: c.local.Workspace}
	var err error
	if s.URL, s.File, err = parseSource(c.Source.Text); err == nil && s.URL == "" {
		_, err = s.workspace.resolve(s.File)
	}
	if err != nil {
		return nil, c.Source.At.blame("source", err)
	}
	return s, nil
}

// Read returns the content of the file, up to 16 MiB. A symlink that was put
// into its path meanwhile cannot lead out of the workspace.
func (s *Schema) Read() ([]byte, error) {
	data, err := s.workspace.read(s.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, s.source.At.blame("source", err).
			WithHint("write the API's description to it, or name an API of the hub: \"api\": \"@account/slug\"").
			Try(cmdline.Tool("api", "list"))
	case err != nil:
		return nil, s.source.At.blame("source", err)
	}
	return data, nil
}

// ReadFile returns the content of a file to which the description refers: see
// [Workspace.ReadFile].
func (s *Schema) ReadFile(name string) (data []byte, inside string, err error) {
	return s.workspace.ReadFile(name)
}

const sourceHint = "source is the API's description: a file of the workspace, or a URL with http or https"

// parseSource distinguishes a URL from a file's path, which it checks and cleans.
func parseSource(s string) (url, file string, err error) {
	scheme, _, found := strings.Cut(s, "://")
	switch scheme = strings.ToLower(scheme); {
	case found && (scheme == "http" || scheme == "https"):
		return s, "", nil
	case found && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "":
		return "", "", failure.New(failure.CodeInvalidFile, "%q has another scheme than http and https", s).
			WithHint(sourceHint)
	case s == "":
		return "", "", failure.New(failure.CodeInvalidFile, "it is empty").WithHint(sourceHint)
	}
	file, err = localPath(s)
	return "", file, err
}
