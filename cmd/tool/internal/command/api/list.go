// Package api lists the APIs that are registered at the hub.
package api

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command api.
func Command(a *app.App) *cobra.Command {
	return cmdline.Group("api", "List registered APIs", listCommand(a))
}

func listCommand(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:     "list [<account>]",
		Short:   "List registered APIs: yours, or those of an account",
		Example: "  tool api list\n  tool api list acme",
		Args:    cmdline.AtMost("<account>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			account := strings.TrimPrefix(strings.Join(args, ""), "@")
			if account != "" && !ref.ValidName(account) {
				return cmdline.Usagef("%q is not an account: an account is %s", account, ref.Rule)
			}
			r, err := List(ctx, a, account)
			if err != nil {
				return failure.Doing(err, "", "list APIs")
			}
			return a.Print("apis", r, func(w *app.Printer) { listText(w, r) })
		}),
	}
	return a.HubFlags(c)
}

func listText(w *app.Printer, r *Listed) {
	if len(r.APIs) == 0 {
		of := ""
		if r.Account != "" {
			of = " of " + r.Account
		}
		w.Line("No APIs%s that you can see on %s", of, r.Origin)
	}
	rows := [][]string{}
	for _, v := range r.APIs {
		rows = append(rows, []string{v.API.String(), v.Title + " " + v.Version, v.Format, "by " + v.CreatedBy + ", " + app.Time(v.CreatedAt)})
	}
	w.Columns(rows)
}

// Listed is a list of APIs.
type Listed struct {
	Origin  string     `json:"origin"`
	Account string     `json:"account,omitzero"`
	APIs    []wire.API `json:"apis"`
}

// List returns the APIs of account, or of all accounts on which the caller has a role.
func List(ctx context.Context, a *app.App, account string) (*Listed, error) {
	hub, err := a.Connect()
	if err != nil {
		return nil, failure.At("list", err)
	}
	all, err := hub.APIs(ctx, account)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return nil, app.Explain(hub, err).At("list")
	}
	return &Listed{Origin: hub.Origin(), Account: account, APIs: all}, nil
}
