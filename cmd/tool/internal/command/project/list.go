package project

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func listCommand(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:     "list [<account>]",
		Short:   "List your hub projects, or those of an account",
		Example: "  tool project list\n  tool project list acme",
		Args:    cmdline.AtMost("<account>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			account := strings.TrimPrefix(strings.Join(args, ""), "@")
			if account != "" && !ref.ValidName(account) {
				return cmdline.Usagef("%q is not an account: an account is %s", account, ref.Rule)
			}
			r, err := List(ctx, a, account)
			if err != nil {
				return failure.Doing(err, "", "list projects")
			}
			return a.Print("projects", r, func(w *app.Printer) { listText(w, r) })
		}),
	}
	return a.HubFlags(c)
}

func listText(w *app.Printer, r *Listed) {
	if len(r.Projects) == 0 {
		of := ""
		if r.Account != "" {
			of = " of " + r.Account
		}
		w.Line("No projects%s that you can see on %s", of, r.Origin)
	}
	rows := [][]string{}
	for _, v := range r.Projects {
		state := "no config"
		if v.Config.HasConfig {
			state = "config by " + v.Config.UpdatedBy + ", " + app.Time(v.Config.UpdatedAt)
		}
		rows = append(rows, []string{v.Project.String(), string(v.Visibility), v.Stack + " " + v.StackVersion, state})
	}
	w.Columns(rows)
	w.Notes(r.Notes)
}

// Listed is a list of projects.
type Listed struct {
	Origin   string         `json:"origin"`
	Account  string         `json:"account,omitzero"`
	Projects []wire.Project `json:"projects"`
	Notes    []string       `json:"notes"`
}

// List returns the projects of account, or of all the caller's accounts.
func List(ctx context.Context, a *app.App, account string) (*Listed, error) {
	hub, err := a.Connect()
	if err != nil {
		return nil, failure.At("list", err)
	}
	all, err := hub.Projects(ctx, account)
	if err != nil {
		return nil, failed("list", hub, ref.Ref{}, err)
	}
	return &Listed{Origin: hub.Origin(), Account: account, Projects: all, Notes: []string{}}, nil
}

func failed(stage string, hub *identity.Hub, target ref.Ref, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := app.Explain(hub, err).At(stage).About(target, failure.Effects{})
	if e.Code == wire.CodeNotFound && !target.IsZero() {
		e.Recipe = []cmdline.Line{cmdline.Tool("project", "list").With(target.Account())}
	}
	return e
}
