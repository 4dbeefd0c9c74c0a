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
		Name: "api", Kind: "apis", Heading: "APIs", Short: "List registered APIs: yours, or those of an account", Find: find,
	}), viewCommand(a), updateCommand(a), removeCommand(a))
}

// Listed is a list of APIs.
type Listed struct {
	Origin  string     `json:"origin"`
	Account string     `json:"account,omitzero"`
	APIs    []wire.API `json:"apis"`
}

func find(ctx context.Context, hub *identity.Hub, account string) (any, [][]string, error) {
	all, err := hub.APIs(ctx, account)
	var rows [][]string
	for _, v := range all {
		rows = append(rows, []string{v.API.String(), v.Title + " " + v.Version, v.Format, "by " + v.CreatedBy + ", " + app.Ago(v.CreatedAt)})
	}
	return Listed{Origin: hub.Origin(), Account: account, APIs: all}, rows, err
}
