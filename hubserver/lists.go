package hubserver

import (
	"context"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// listMemory bounds the memory that a page with a list takes, in bytes.
const listMemory = 512 << 10

// maxSearch bounds what is searched for: nothing longer is a part of account/slug.
const maxSearch = 2*64 + 1

// homePage shows the projects that the viewer may see: those of the accounts on which
// they have a role, and all public ones.
func (s *Server) homePage(c *call) error {
	if err := c.view(); err != nil {
		return err
	}
	_, after, wanted, err := c.listParameters()
	if err != nil {
		return err
	}
	shown := page.Home{Layout: c.layout("Projects")}
	shown.Search = c.r.URL.Query().Get("q")
	if len(shown.Search) > maxSearch {
		return invalidBody("", "q has more than %d characters", maxSearch)
	}
	kind := viewing
	if shown.Search != "" {
		kind = searching
	}
	if err := c.takeAtMost(kind, listMemory); err != nil {
		return err
	}
	filter := store.ProjectFilter{Search: shown.Search, After: after, Limit: wanted + 1}
	if c.who != nil {
		roles, err := c.accounts()
		if err != nil {
			return err
		}
		for _, r := range roles {
			filter.Accounts = append(filter.Accounts, r.Account)
			shown.Accounts = append(shown.Accounts, page.Membership{Account: r.Account, Role: string(r.Role)})
		}
	}
	if err := c.addOnly(&filter, ""); err != nil {
		return err
	}
	if shown.Projects, err = c.projects("/", filter, (*store.View).VisibleProjects); err != nil {
		return err
	}
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

// accountPage shows the projects of an account that the viewer may see, and to readers
// its APIs. Without a role an account that has no public project looks absent.
func (s *Server) accountPage(c *call) error {
	if err := c.view(); err != nil {
		return err
	}
	account := c.params.ByName("account")
	if !ref.ValidName(account) {
		return c.absentPage("", "")
	}
	if err := c.takeAtMost(viewing, listMemory); err != nil {
		return err
	}
	_, after, wanted, err := c.listParameters()
	if err != nil {
		return err
	}
	role, err := c.roleOn(account)
	if err != nil {
		return err
	}
	shown := page.Account{Layout: c.layout("@" + account), Role: string(role)}
	shown.Layout.Account = account
	filter := store.ProjectFilter{Accounts: []string{account}, PublicOnly: role == "", After: after, Limit: wanted + 1}
	if err := c.addOnly(&filter, account); err != nil {
		return err
	}
	if shown.Projects, err = c.projects("/@"+account, filter, (*store.View).Projects); err != nil {
		return err
	}
	if role == "" && shown.None() {
		return c.absentPage("@"+account, "tool project list "+account)
	}
	if role != "" {
		if shown.APIs, shown.MoreAPIs, err = c.apisOf(account); err != nil {
			return err
		}
	}
	body, err := shown.Render()
	return c.html(http.StatusOK, body, err)
}

// projects returns a page of the list at path.
func (c *call) projects(path string, f store.ProjectFilter, read func(*store.View, context.Context, store.ProjectFilter) ([]store.ProjectView, error)) (list page.Projects, err error) {
	var found []store.ProjectView
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		found, err = read(v, c.ctx(), f)
		return err
	})
	if err != nil {
		return list, err
	}
	query := url.Values{}
	if limit := c.r.URL.Query().Get("limit"); limit != "" {
		query.Set("limit", limit)
	}
	if f.Search != "" {
		query.Set("q", f.Search)
	}
	if !f.After.IsZero() {
		list.First = withQuery(path, query)
	}
	if len(found) == f.Limit {
		found = found[:f.Limit-1]
		last := found[len(found)-1]
		query.Set("cursor", refOf(last.Account, last.Slug).String())
		list.Next = withQuery(path, query)
	}
	for i := range found {
		p := &found[i]
		list.Rows = append(list.Rows, page.Row{
			Account: p.Account, Slug: p.Slug, Visibility: p.Visibility,
			Stack: refOf(p.StackAccount, p.StackSlug).String(), StackVersion: p.StackVersion,
			UpdatedBy: p.Config.UpdatedBy, UpdatedAt: p.Config.UpdatedAt.Time(),
		})
	}
	return list, nil
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// apisOf returns the first APIs of an account, and whether there are more.
func (c *call) apisOf(account string) (shown []page.API, more bool, err error) {
	var found []store.API
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		found, err = v.APIs(c.ctx(), []string{account}, ref.Ref{}, defaultPage+1)
		return err
	})
	if more = len(found) > defaultPage; more {
		found = found[:defaultPage]
	}
	for _, a := range found {
		shown = append(shown, page.API{Ref: refOf(a.Account, a.Slug).String(), Title: a.Title, Version: a.Version, Format: a.Format})
	}
	return shown, more, err
}
