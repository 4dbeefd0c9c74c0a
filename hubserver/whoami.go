package hubserver

import (
	"net/http"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) whoami(c *call) error {
	accounts, err := c.accounts()
	if err != nil {
		return err
	}
	me := wire.Whoami{TokenName: c.who.tokenName(), Scopes: c.who.scopes, Accounts: accounts, Restriction: toRestriction(c.who.only)}
	if c.who.only.OnlySlug != "" {
		role, err := c.roleIn(c.who.only)
		if err != nil {
			return err
		}
		me.Projects = []wire.ProjectRole{{Project: refOf(c.who.only.OnlyAccount, c.who.only.OnlySlug), Role: role}}
	}
	if c.who.isBot() {
		me.Bot = c.who.user
	} else {
		me.User = c.who.user
	}
	if end := c.who.expiresAt(); end != 0 {
		t := end.Time()
		me.ExpiresAt = &t
	}
	return c.json(http.StatusOK, me)
}

// accounts lists the caller's roles, in the order of the accounts' names.
func (c *call) accounts() ([]wire.AccountRole, error) {
	if c.who.isBot() {
		return []wire.AccountRole{{Account: c.who.account, Role: wire.Writer}}, nil
	}
	all := []wire.AccountRole{{Account: c.who.user, Role: wire.Admin}}
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		members, err := v.MembershipsOf(c.ctx(), c.who.user)
		for _, m := range members {
			all = append(all, wire.AccountRole{Account: m.Account, Role: wire.Role(m.Role)})
		}
		return err
	})
	all = slices.DeleteFunc(all, func(a wire.AccountRole) bool { return !c.who.only.Allows(store.Restriction{OnlyAccount: a.Account}) })
	slices.SortFunc(all, func(a, b wire.AccountRole) int { return strings.Compare(a.Account, b.Account) })
	return all, err
}
