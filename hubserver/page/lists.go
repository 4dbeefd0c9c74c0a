package page

import (
	"errors"
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
	maxListed  = 100       // APIs, members or bots of an account that its page lists
)

// Projects is a page of a list of projects.
type Projects struct {
	Rows  []store.Project
	First string // the address of the first page; "" on that page
	Next  string // the address of the next page; "" on the last one
}

// None reports whether the whole list is empty.
func (p Projects) None() bool { return len(p.Rows) == 0 && p.First == "" }

// homePage shows the projects that the viewer may see: those of the accounts on which they have a
// role, and all public ones.
func homePage(c *request.Call) error {
	if err := c.Look(); err != nil {
		return err
	}
	shown := struct {
		Layout
		Accounts []wire.AccountRole // those on which the viewer has a role
		Projects
	}{Layout: layout(c, "Projects")}
	shown.Search = c.R.URL.Query().Get("q")
	if len(shown.Search) > api.MaxSearch {
		return request.InvalidBody("", "q has more than %d characters", api.MaxSearch)
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

// Account is the page of an account. Those with a role see who else has one, and the account's bots.
type Account struct {
	Layout
	Role wire.Role // the viewer's; "" for none
	Projects
	APIs    []store.API
	IsOrg   bool
	Members []store.Member
	Bots    []Bot
	More    bool // of the APIs, the members or the bots, only the first are shown
}

// Bot is a bot with its valid tokens, which only admins see.
type Bot struct {
	store.Bot
	Tokens []store.Token
}

// CanCreate reports whether the viewer may create projects in the account.
func (a *Account) CanCreate() bool { return a.Role == wire.Writer || a.Role == wire.Admin }

// IsAdmin reports whether the viewer may manage the account.
func (a *Account) IsAdmin() bool { return a.Role == wire.Admin }

// accountPage shows the projects of an account that the viewer may see, and to those with a role what else is in it.
// Without a role an account that has no public project looks absent.
func accountPage(c *request.Call) error {
	if err := c.Look(); err != nil {
		return err
	}
	account := c.Param("account")
	if !ref.ValidName(account) {
		return absentPage(c, "", "")
	}
	access, err := accessTo(c, account)
	if err != nil {
		return err
	}
	shown := &Account{Layout: layout(c, "@"+account), Role: wire.Role(access.Role)}
	shown.Layout.Account = account
	filter := store.ProjectFilter{Within: account, Public: true}
	if shown.Role != "" {
		filter.Accounts = []string{account}
	} else if c.Access != nil && c.Access.Only.Account == account {
		filter.Project = c.Access.Only.ResourceID
	}
	if shown.Projects, err = listProjects(c, "/@"+account, filter); err != nil {
		return err
	}
	if shown.Role == "" && shown.None() {
		return absentPage(c, "@"+account, "tool project list "+account)
	}
	if shown.Role != "" {
		if err := fillAccount(c.View(), shown, access.AccountID); err != nil {
			return err
		}
	}
	return show(c, http.StatusOK, "account", shown)
}

// fillAccount reads what those with a role see of an account.
func fillAccount(v store.View, shown *Account, id int64) (err error) {
	name := shown.Layout.Account
	if shown.APIs, err = v.APIs([]string{name}, store.Name{}, maxListed+1); err != nil {
		return err
	}
	shown.Members, err = v.Members(name, "", maxListed+1)
	_, ofUser := errors.AsType[*store.KindError](err) // a user's own account has no members
	if err != nil && !ofUser {
		return err
	}
	shown.IsOrg = !ofUser
	bots, err := v.Bots(id, "", maxListed+1)
	if err != nil {
		return err
	}
	tokens := map[int64][]store.Token{} // by bot
	if shown.IsAdmin() {
		all, err := v.ValidTokens(id)
		if err != nil {
			return err
		}
		for _, t := range all {
			tokens[t.BotID] = append(tokens[t.BotID], t)
		}
	}
	for _, bot := range bots {
		shown.Bots = append(shown.Bots, Bot{bot, tokens[bot.ID]})
	}
	shown.More = max(len(shown.APIs), len(shown.Members), len(shown.Bots)) > maxListed
	shown.APIs = shown.APIs[:min(maxListed, len(shown.APIs))]
	shown.Members = shown.Members[:min(maxListed, len(shown.Members))]
	shown.Bots = shown.Bots[:min(maxListed, len(shown.Bots))]
	return nil
}

// listProjects returns the page of the list at path that the query asks for.
func listProjects(c *request.Call, path string, f store.ProjectFilter) (list Projects, err error) {
	q := c.R.URL.Query()
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
