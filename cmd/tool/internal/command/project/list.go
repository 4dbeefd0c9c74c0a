package project

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
)

func listCommand(a *app.App) *cobra.Command {
	deleted := false
	l := &app.List{Name: "project", Kind: "projects", Heading: "projects", Short: "List your hub projects, or those of an account"}
	l.Find = func(ctx context.Context, hub *identity.Hub, account string) (any, [][]string, error) {
		if deleted {
			l.Heading = "deleted projects"
			return findDeleted(ctx, hub, account)
		}
		return findAll(ctx, hub, account)
	}
	c := a.ListCommand(l)
	c.Flags().BoolVar(&deleted, "deleted", false, "list deleted projects that can be restored instead")
	return c
}

// ListedDeleted is a list of projects that can be restored.
type ListedDeleted struct {
	Origin   string                `json:"origin"`
	Account  string                `json:"account,omitzero"`
	Deleted  bool                  `json:"deleted"` // always true
	Projects []wire.DeletedProject `json:"projects"`
	Notes    []string              `json:"notes"`
}

func findDeleted(ctx context.Context, hub *identity.Hub, account string) (any, [][]string, error) {
	all, err := hub.DeletedProjects(ctx, account)
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.Project.String(), "deleted by " + d.DeletedBy + ", " + app.Ago(d.DeletedAt), "can be restored until " + app.Time(d.RestorableUntil)})
	}
	return ListedDeleted{Origin: hub.Origin(), Account: account, Deleted: true, Projects: all, Notes: []string{}}, rows, err
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
