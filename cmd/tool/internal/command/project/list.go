package project

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
)

func listCommand(a *app.App) *cobra.Command {
	return a.ListCommand(app.List{
		Name: "project", Kind: "projects", Heading: "projects", Short: "List your hub projects, or those of an account", Find: findAll,
	})
}

// Listed is a list of projects.
type Listed struct {
	Origin   string         `json:"origin"`
	Account  string         `json:"account,omitzero"`
	Projects []wire.Project `json:"projects"`
	Notes    []string       `json:"notes"`
}

func findAll(ctx context.Context, hub *identity.Hub, account string) (any, [][]string, error) {
	all, err := hub.Projects(ctx, account)
	var rows [][]string
	for _, v := range all {
		state := "no config"
		if v.Config.HasConfig {
			state = "config by " + v.Config.UpdatedBy + ", " + app.Ago(v.Config.UpdatedAt)
		}
		if !v.ExpiresAt.IsZero() {
			state += ", expires " + app.Time(v.ExpiresAt)
		}
		rows = append(rows, []string{v.Project.String(), string(v.Visibility), "@" + v.Stack + " " + v.StackVersion, state})
	}
	return Listed{Origin: hub.Origin(), Account: account, Projects: all, Notes: []string{}}, rows, err
}
