// Package api lists, shows, updates and deletes the APIs that are registered at the hub.
package api

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command api.
func Command(a *app.App) *cobra.Command {
	return cmdline.Group("api", "List, view, update and delete registered APIs", a.ListCommand(&app.List{
		Name: "api", Heading: "APIs", Short: "List registered APIs: yours, or those of an account", Find: find,
	}), viewCommand(a), updateCommand(a), removeCommand(a))
}

// list is a list of APIs.
type list struct {
	app.Listing `json:",inline"`
	APIs        []wire.API `json:"apis"`
}

func (*list) Kind() string { return "apis" }

func find(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.APIs(ctx, l.Account)
	for _, v := range all {
		l.Row(v.API.String(), v.Title+" "+v.Version, v.Format, "by "+v.CreatedBy+", "+app.Ago(v.CreatedAt))
	}
	return &list{l, all}, err
}
