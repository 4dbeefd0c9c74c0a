package page

import (
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

const (
	listMemory = 512 << 10 // that a page with a list takes, in bytes
	maxSearch  = 2*64 + 1  // characters: nothing longer is a part of account/slug
	maxAPIs    = 50        // of an account that its page lists
)

// Projects is a page of a list of projects.
type Projects struct {
	Rows  []store.Project
	First string // the address of the first page; "" on that page
	Next  string // the address of the next page; "" on the last one
}

// None reports whether the whole list is empty.
func (p Projects) None() bool { return len(p.Rows) == 0 && p.First == "" }

// Home is the page with the projects that the viewer may see.
type Home struct {
	Layout
	Accounts []wire.AccountRole // those on which the viewer has a role
	Projects
}

// homePage shows the projects that the viewer may see: those of the accounts on which they have a
// role, and all public ones.
func homePage(c *request.Call) error {
	if err := c.Look(); err != nil {
		return err
	}
	shown := Home{Layout: layout(c, "Projects")}
	shown.Search = c.R.URL.Query().Get("q")
	if len(shown.Search) > maxSearch {
		return request.InvalidBody("", "q has more than %d characters", maxSearch)
	}
	filter := store.ProjectFilter{Search: shown.Search, Public: true}
	var err error
	if c.Access != nil {
		if shown.Accounts, err = api.Accounts(c); err != nil {
			return err
		}
		for _, a := range shown.Accounts {
			filter.Accounts = append(filter.Accounts, a.Account)
		}
		filter.Project = c.Access.Only.ResourceID
	}
	if shown.Projects, err = listProjects(c, "/", filter); err != nil {
		return err
	}
	return show(c, http.StatusOK, "home", shown)
}

// Account is the page of an account.
type Account struct {
	Layout
	Role wire.Role // the viewer's; "" for none
	Projects
	APIs     []store.API
	MoreAPIs bool
}

// CanCreate reports whether the viewer may create projects in the account.
func (a Account) CanCreate() bool { return a.Role == wire.Writer || a.Role == wire.Admin }

// accountPage shows the projects of an account that the viewer may see, and to readers its APIs.
// Without a role an account that has no public project looks absent.
func accountPage(c *request.Call) error {
	if err := c.Look(); err != nil {
		return err
	}
	account := c.Param("account")
	if !ref.ValidName(account) {
		return absentPage(c, "", "")
	}
	role, err := roleOn(c, account)
	if err != nil {
		return err
	}
	shown := Account{Layout: layout(c, "@"+account), Role: role}
	shown.Layout.Account = account
	filter := store.ProjectFilter{Within: account, Public: true}
	if role != "" {
		filter.Accounts = []string{account}
	} else if c.Access != nil && c.Access.Only.Account == account {
		filter.Project = c.Access.Only.ResourceID
	}
	if shown.Projects, err = listProjects(c, "/@"+account, filter); err != nil {
		return err
	}
	if role == "" && shown.None() {
		return absentPage(c, "@"+account, "tool project list "+account)
	}
	if role != "" {
		shown.APIs, err = c.View().APIs([]string{account}, store.Name{}, maxAPIs+1)
		if err != nil {
			return err
		}
		shown.MoreAPIs = len(shown.APIs) > maxAPIs
		shown.APIs = shown.APIs[:min(maxAPIs, len(shown.APIs))]
	}
	return show(c, http.StatusOK, "account", shown)
}

// listProjects returns the page of the list at path that the query asks for.
func listProjects(c *request.Call, path string, f store.ProjectFilter) (list Projects, err error) {
	q, err := c.Query()
	if err != nil {
		return list, err
	}
	after, limit, err := api.Page(q)
	if err != nil {
		return list, err
	}
	if err := c.Need(listMemory); err != nil {
		return list, err
	}
	f.After, f.Limit = after, limit+1 // one more, to find out whether there is another page
	if list.Rows, err = c.View().ListProjects(f); err != nil {
		return list, err
	}
	address := url.Values{}
	if text := q.Get("limit"); text != "" {
		address.Set("limit", text)
	}
	if f.Search != "" {
		address.Set("q", f.Search)
	}
	if after != (store.Name{}) {
		list.First = withQuery(path, address)
	}
	if len(list.Rows) > limit {
		list.Rows = list.Rows[:limit]
		address.Set("cursor", list.Rows[limit-1].String())
		list.Next = withQuery(path, address)
	}
	return list, nil
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
