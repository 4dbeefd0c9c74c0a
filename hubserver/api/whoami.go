package api

import (
	"net/http"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

func whoami(c *request.Call) error {
	all, err := Accounts(c)
	if err != nil {
		return err
	}
	only := c.Access.Only
	me := wire.Whoami{
		TokenName: c.Access.TokenName, Scopes: c.Scopes(), Accounts: all,
		ExpiresAt: orNever(c.Access.ExpiresAt), Restriction: toRestriction(only),
	}
	if only.ResourceID != 0 {
		a, err := c.AccessTo(store.Ask{Account: only.Account, Kind: store.KindProject, Slug: only.Slug})
		if err != nil {
			return err
		}
		me.Projects = []wire.ProjectRole{{Project: refOf(only.Account, only.Slug), Role: wire.Role(a.Role)}}
	}
	if c.Access.IsBot() {
		me.Bot = c.Access.BotRefID
	} else {
		me.User = c.Access.Account
	}
	return c.JSON(http.StatusOK, me)
}
