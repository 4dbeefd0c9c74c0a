package page

import "time"

// Home is the page with the projects that the viewer may see.
type Home struct {
	Layout
	Accounts []Membership // those on which the viewer has a role
	Projects
}

// Account is the page of an account.
type Account struct {
	Layout
	Role string // the viewer's; "" for none
	Projects
	APIs     []API
	MoreAPIs bool
}

// Membership is an account with the viewer's role on it.
type Membership struct{ Account, Role string }

// Projects is a page of a list of projects.
type Projects struct {
	Rows  []Row
	First string // the address of the first page; "" on that page
	Next  string // the address of the next page; "" on the last one
}

// None reports whether the whole list is empty.
func (p Projects) None() bool { return len(p.Rows) == 0 && p.First == "" }

// Row is a project in a list.
type Row struct {
	Account, Slug       string
	Visibility          string
	Stack, StackVersion string
	UpdatedBy           string
	UpdatedAt           time.Time // zero: its config was never written
}

// API is a registered API description.
type API struct {
	Ref, Title, Version, Format string
}

// CanCreate reports whether the viewer may create projects in the account.
func (a Account) CanCreate() bool { return a.Role == "writer" || a.Role == "admin" }

// Render returns the page.
func (h Home) Render() ([]byte, error) { return render("home", h) }

// Render returns the page.
func (a Account) Render() ([]byte, error) { return render("account", a) }
