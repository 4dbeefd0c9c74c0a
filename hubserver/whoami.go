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
	me := wire.Whoami{User: c.who.user, TokenName: c.who.token.Name, Scopes: c.who.scopes, Accounts: accounts}
	if c.who.token.ExpiresAt != 0 {
		t := c.who.token.ExpiresAt.Time()
		me.ExpiresAt = &t
	}
	return c.json(http.StatusOK, me)
}

// accounts lists the caller's roles, in the order of the accounts' names.
func (c *call) accounts() ([]wire.AccountRole, error) {
	all := []wire.AccountRole{{Account: c.who.user, Role: wire.Admin}}
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		members, err := v.MembershipsOf(c.ctx(), c.who.user)
		for _, m := range members {
			all = append(all, wire.AccountRole{Account: m.Account, Role: wire.Role(m.Role)})
		}
		return err
	})
	slices.SortFunc(all, func(a, b wire.AccountRole) int { return strings.Compare(a.Account, b.Account) })
	return all, err
}
