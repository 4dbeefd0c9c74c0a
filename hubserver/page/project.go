package page

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page/preview"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// Project is what every tab of a project's page shows.
type Project struct {
	Layout
	*store.Project
	Ref      string
	Tab      string // the name of the tab that is shown
	IsMember bool   // the viewer has a role on the account
	CanWrite bool   // the viewer may change the project
}

// Link is a name with its address.
type Link struct{ Name, URL string }

// Tab is a tab of a project's page, with how much there is on it.
type Tab struct {
	Link
	Count int64 // 0: nothing is counted
}

// Tabs lists the tabs in the order in which they are shown.
func (p *Project) Tabs() []Tab {
	base := "/" + p.Ref
	writes := max(p.Config.N, p.Files.N) - 1 // the first revision is the empty config of a new project
	return []Tab{
		{Link{"Config", base}, 0},
		{Link{"Preview", base + "/preview"}, 0},
		{Link{"Files", base + "/files"}, p.Files.Files},
		{Link{"History", base + "/history"}, writes},
		{Link{"Settings", base + "/settings"}, 0},
	}
}

// Near names a stack or an API as people in the project's account call it.
func (p *Project) Near(r store.Resource) string {
	if r.Account == p.Project.Account {
		return r.Slug
	}
	return r.String()
}

// tab returns the handler of a tab: answer gets the project that the path names. One
// that the viewer may not read, or that is deleted meanwhile, looks the same as one that does not exist.
func tab(name string, answer func(c *request.Call, p *Project) error) request.Handler {
	return func(c *request.Call) error {
		p, err := findProject(c, name)
		if err == nil {
			err = answer(c, p)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		name := c.Ref().String()
		return absentPage(c, name, "tool project view "+name)
	}
}

// findProject returns the project that the path names, or ErrNotFound.
func findProject(c *request.Call, tab string) (*Project, error) {
	if err := c.Look(); err != nil {
		return nil, err
	}
	p, err := c.View().Project(c.Resource.ID)
	if err == nil && !c.Has(wire.Reader) && !p.IsPublic() { // it was made private meanwhile
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	shown := &Project{
		Layout: layout(c, p.String()), Project: &p, Ref: p.String(), Tab: tab,
		IsMember: c.Has(wire.Reader), CanWrite: c.Has(wire.Writer),
	}
	shown.Layout.Account, shown.Layout.Slug = p.Account, p.Slug
	return shown, nil
}

// Config is the tab with a project's config.
type Config struct {
	*Project
	Query     string // what was searched for
	Found     int64  // keys, of which Settings may be a part
	Settings  []Setting
	Next      string // the address of the next part; "" for the last one
	Frame     Frame
	ReadsAPI  bool // the viewer may read the API
	HasSchema bool // the stack version has a schema of settings that the viewer may read
}

// Setting is one key of the flat config with its value's text.
type Setting struct{ Key, Value string }

const (
	pageKeys     = 200 // that the Config tab lists without JavaScript
	configMemory = 4   // times the size of a config that its page takes, read and written
)

// configPage shows the Config tab. Its script turns it into an editor; without JavaScript it lists
// the keys from ?after= that contain ?q=, a part at a time.
func configPage(c *request.Call, p *Project) error {
	if err := c.Need(configMemory * c.Hub.Limits.ConfigBytes); err != nil {
		return err
	}
	config, err := c.View().Newest(p.ID, store.Config)
	if err != nil {
		return err
	}
	settings, err := flat.Parse(config.Content)
	if err != nil {
		return err
	}
	frame, err := frameOf(c, p)
	if err != nil {
		return err
	}
	q := c.R.URL.Query()
	shown := Config{Project: p, Query: q.Get("q"), Frame: frame, ReadsAPI: frame.onAPI != ""}
	words, after, last := strings.Fields(strings.ToLower(shown.Query)), q.Get("after"), ""
	for _, key := range settings.Keys() {
		value, _ := settings.Get(key)
		text := strings.ToLower(key + "\n" + value)
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			continue
		}
		shown.Found++
		switch {
		case after != "" && key <= after:
		case len(shown.Settings) == pageKeys:
			shown.Next = "?" + url.Values{"q": {shown.Query}, "after": {last}}.Encode()
		default:
			last = key
			shown.Settings = append(shown.Settings, Setting{Key: key, Value: value})
		}
	}
	if frame.onStack != "" {
		version, err := c.View().StackVersion(p.Stack.ID, p.ResolvedVersion())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		shown.HasSchema = version.Schema != ""
	}
	return show(c, http.StatusOK, "config", shown)
}

// Preview is the tab with a project's preview.
type Preview struct {
	*Project
	Frame   Frame
	CanOpen bool // the viewer may publish what the preview is made from, or end that
}

func previewPage(c *request.Call, p *Project) error {
	frame, err := frameOf(c, p)
	if err != nil {
		return err
	}
	ofAll := frame.onStack == wire.Admin && frame.onAPI == wire.Admin
	canOpen := c.Role() == wire.Admin && (ofAll || p.PublicPreview) && p.IsPublic()
	return show(c, http.StatusOK, "preview", Preview{p, frame, canOpen})
}

// Frame is what a page needs to show a preview.
type Frame struct {
	Address  string // of the frame; "": the hub has no host for it
	Packages string // the address of the packages that an app may import
	Missing  []Missing
	Stranger string // who wrote the app and has no role on the project's account; "" for nobody

	onStack, onAPI wire.Role // the viewer's role on the accounts of the stack and the API
}

// Missing is what the preview needs and the viewer may not read.
type Missing struct {
	What string
	store.Resource
}

func frameOf(c *request.Call, p *Project) (f Frame, err error) {
	f.Packages = "/static/" + preview.Packages.Name
	if c.Hub.PreviewURL != "" {
		f.Address = c.Hub.PreviewURL + "/preview/frame"
	}
	stack, err := accessTo(c, p.Stack.Account)
	if err != nil {
		return f, err
	}
	api, err := accessTo(c, p.API.Account)
	if err != nil {
		return f, err
	}
	f.onStack, f.onAPI = wire.Role(stack.Role), wire.Role(api.Role)
	if f.onStack == "" && !p.PublicPreview {
		f.Missing = append(f.Missing, Missing{"stack", p.Stack})
	}
	if f.onAPI == "" && !p.PublicPreview {
		f.Missing = append(f.Missing, Missing{"API", p.API})
	}
	f.Stranger, err = strangerOf(c, p, f.onStack)
	return f, err
}

// strangerOf returns who wrote what a preview runs, if they have no role on the project's account: they
// would see its config. It is the account of the stack, unless the viewer may write to that, or who pushed
// the base files.
func strangerOf(c *request.Call, p *Project, onStack wire.Role) (string, error) {
	mayWrite := onStack == wire.Writer || onStack == wire.Admin
	if p.Stack.Account != p.Account && !mayWrite {
		return "@" + p.Stack.Account, nil
	}
	by := p.Files.User
	isBot := strings.Contains(by, "/")
	if by == "" || by == p.Account || by == p.User || isBot {
		return "", nil
	}
	isMember, err := c.View().IsMember(p.Account, by)
	if err != nil || isMember {
		return "", err
	}
	return by, nil
}
