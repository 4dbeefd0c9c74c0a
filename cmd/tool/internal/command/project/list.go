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
	l := &app.List{Name: "project", Heading: "projects", Short: "List your hub projects, or those of an account"}
	l.Find = func(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
		if deleted {
			return findDeleted(ctx, hub, l)
		}
		return findAll(ctx, hub, l)
	}
	c := a.ListCommand(l)
	c.PreRun = func(*cobra.Command, []string) {
		if deleted {
			l.Heading = "deleted projects"
		}
	}
	c.Flags().BoolVar(&deleted, "deleted", false, "list deleted projects that can be restored instead")
	return c
}

// listDeleted is a list of projects that can be restored.
type listDeleted struct {
	app.Listing `json:",inline"`
	Deleted     bool                  `json:"deleted"` // always true
	Projects    []wire.DeletedProject `json:"projects"`
	app.Noted   `json:",inline"`
}

func (*listDeleted) Kind() string { return "projects" }

func findDeleted(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.DeletedProjects(ctx, l.Account)
	for _, d := range all {
		l.Row(d.Project.String(), "deleted by "+d.DeletedBy+", "+app.Ago(d.DeletedAt), "can be restored until "+app.Time(d.RestorableUntil))
	}
	return &listDeleted{Listing: l, Deleted: true, Projects: all}, err
}

// list is a list of projects.
type list struct {
	app.Listing `json:",inline"`
	Projects    []wire.Project `json:"projects"`
	app.Noted   `json:",inline"`
}

func (*list) Kind() string { return "projects" }

func findAll(ctx context.Context, hub *identity.Hub, l app.Listing) (app.Result, error) {
	all, err := hub.Projects(ctx, l.Account)
	for _, v := range all {
		state := "no config"
		if v.Config.HasConfig {
			state = "config by " + v.Config.UpdatedBy + ", " + app.Ago(v.Config.UpdatedAt)
		}
		if !v.ExpiresAt.IsZero() {
			state += ", expires " + app.Time(v.ExpiresAt)
		}
		l.Row(v.Project.String(), string(v.Visibility), "@"+v.Stack+" "+v.StackVersion, state)
	}
	return &list{Listing: l, Projects: all}, err
}
