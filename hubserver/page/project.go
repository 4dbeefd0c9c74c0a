package page

import (
	"net/http"
	"time"
)

// Project is what every tab of a project's page shows.
type Project struct {
	Layout
	Tab string // the name of the one that is shown

	Ref                      string
	Stack, Version, Resolved string
	UseVersion               string // instead of Version, which was withdrawn; "": it was not
	API, Visibility          string
	CreatedBy                string
	CreatedAt                time.Time
	Revision                 string
	UpdatedBy, UpdatedVia    string
	UpdatedAt                time.Time // zero: the config was never written
	CanWrite                 bool      // the viewer may change the project
	Tree                     string    // "": there are no base files
	FileCount                int
	FileBytes                int64
}

// Tabs lists the tabs in the order in which they are shown.
func (p Project) Tabs() []Tab {
	base := "/" + p.Ref
	return []Tab{
		{"Config", base}, {"Preview", base + "/preview"}, {"Files", base + "/files"},
		{"History", base + "/history"}, {"Settings", base + "/settings"},
	}
}

// Tab is one tab of a project's page.
type Tab struct{ Name, URL string }

// Config is the tab with a project's config.
type Config struct {
	Project
	Query     string // what was searched for
	Found     int    // keys, of which Settings may be a part
	Settings  []Setting
	Next      string // the address of the next part; "" for the last one
	Frame     Frame
	ReadsAPI  bool // the viewer may read the API
	HasSchema bool // the stack version has a schema of settings that the viewer may read
}

// Setting is one key of the flat config with its value's text, and the address of the
// page that edits it.
type Setting struct{ Key, Value, Edit string }

// Render returns the page.
func (c Config) Render() ([]byte, error) { return render("config", c) }

// Preview is the tab with a project's preview.
type Preview struct {
	Project
	Frame    Frame
	IsPublic bool // what it is made from is published
	CanOpen  bool // the viewer may change that
}

// Frame is what a page needs to show a preview.
type Frame struct {
	Address  string // of the frame; "": the hub has no host for it
	Packages string // the address of the packages that an app may import
	Missing  []Missing
}

// Missing is what the preview needs and the viewer may not read.
type Missing struct{ What, Name, Account string }

// Render returns the page.
func (p Preview) Render() ([]byte, error) { return render("preview", p) }

// Settings is the tab with what a project is bound to, and who may read it.
type Settings struct {
	Project
	Versions []string // of the stack, newest first; none if the viewer may not read the stack
	Saved    bool
	Refused  string // why the form was refused
	Field    string // the field that was refused
	IsAdmin  bool   // the viewer may have the schema enforced
	Form     SettingsForm
}

// SettingsForm is what the form of the tab holds.
type SettingsForm struct {
	Visibility, StackVersion, API string
	EnforceSchema                 bool
}

// Render returns the page.
func (s Settings) Render() ([]byte, error) { return render("settings", s) }

// Absent is the page for what is private or does not exist; the two look the same.
type Absent struct {
	Layout
	Name    string // "": the address is no page's, and is not repeated, since it may be made to be pasted
	Command string // looks at it from a terminal
}

// Render returns the page.
func (a Absent) Render() ([]byte, error) { return render("absent", a) }

// Failure is the page for a request that failed.
type Failure struct {
	Layout
	Status       int
	Detail, Hint string
	RequestID    string
}

// Name says in a few words what happened.
func (f Failure) Name() string {
	switch f.Status {
	case http.StatusUnauthorized:
		return "Sign in to continue"
	case http.StatusForbidden:
		return "You cannot do this"
	case http.StatusTooManyRequests:
		return "Too many requests"
	case http.StatusServiceUnavailable:
		return "The hub is busy"
	case http.StatusInsufficientStorage:
		return "The hub's disk is full"
	}
	if f.Status >= http.StatusInternalServerError {
		return "The hub failed"
	}
	return "The request is not valid"
}

// Render returns the page.
func (f Failure) Render() ([]byte, error) { return render("failure", f) }
