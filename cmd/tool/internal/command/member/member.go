// Package member manages the members of an org of the hub.
package member

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/ui"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Command returns the command member.
func Command(a *app.App) *cobra.Command {
	return cmdline.Group("member", "Manage org members", inviteCommand(a), listCommand(a), setCommand(a), removeCommand(a))
}

// parse returns the names of an org and of its members, with or without the @.
func parse(args []string) (names []string, err error) {
	for i, arg := range args {
		name := strings.TrimPrefix(arg, "@")
		if !ref.ValidName(name) {
			return nil, cmdline.Usagef("%q is not %s: an account is %s", arg, []string{"an org", "a user"}[min(i, 1)], ref.Rule)
		}
		names = append(names, name)
	}
	return names, nil
}

// checkRole refuses what is no role.
func checkRole(role string) error {
	switch wire.Role(role) {
	case wire.Reader, wire.Writer, wire.Admin:
		return nil
	}
	if role == "" {
		return cmdline.Usagef("give a role: --role reader, writer or admin")
	}
	return cmdline.Usagef("--role is reader, writer or admin, not %q", role)
}

// Listed are the members of an org.
type Listed struct {
	Origin  string        `json:"origin"`
	Account string        `json:"account"`
	Members []wire.Member `json:"members"`
}

func listCommand(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list <org>",
		Short:   "List the members of an org",
		Example: "  tool member list acme",
		Args:    cmdline.Exactly("<org>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			names, err := parse(args)
			if err != nil {
				return err
			}
			hub, err := a.Connect()
			if err != nil {
				return failure.Doing(failure.At("list", err), "", "list the members of %s", names[0])
			}
			all, err := hub.Members(ctx, names[0])
			if err != nil {
				return failure.Doing(app.Explain(hub, err).At("list"), "", "list the members of %s", names[0])
			}
			return a.Print("members", Listed{Origin: hub.Origin(), Account: names[0], Members: all}, func(w *app.Printer) {
				var rows [][]string
				for _, m := range all {
					rows = append(rows, []string{m.User, string(m.Role)})
				}
				w.Columns(rows)
			})
		}),
	})
}

// Set is a member with the role that was set.
type Set struct {
	Origin      string `json:"origin"`
	Account     string `json:"account"`
	wire.Member `json:",inline"`
}

func setCommand(a *app.App) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use:   "set <org> <user> --role ROLE",
		Short: "Give a member of an org another role",
		Long: `Give a member of an org another role, immediately: reader, writer or admin. You
have to be admin of the org, and your token needs the scope admin:resource. An
org keeps at least one admin.

tool member invite adds a member.`,
		Example: "  tool member set acme nora --role admin",
		Args:    cmdline.Exactly("<org>", "<user>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			if err := checkRole(role); err != nil {
				return err
			}
			names, err := parse(args)
			if err != nil {
				return err
			}
			return failure.Doing(set(ctx, a, names[0], names[1], wire.Role(role)), "", "set the role of %s in %s", names[1], names[0])
		}),
	}
	c.Flags().StringVar(&role, "role", "", "set the role to reader, writer or admin")
	return a.HubFlags(c)
}

func set(ctx context.Context, a *app.App, org, user string, role wire.Role) error {
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.At(app.StageEdit, err)
	}
	m, err := hub.SetMember(ctx, org, user, role)
	if err != nil {
		return explain(hub, err, org).At(app.StageEdit)
	}
	return a.Print("member", Set{Origin: hub.Origin(), Account: org, Member: *m}, func(w *app.Printer) {
		w.Line("%s is %s of %s", m.User, m.Role, org)
		w.Field("origin", "%s", hub.Origin())
	})
}

// explain adds the command that shows who the members are.
func explain(hub *identity.Hub, err error, org string) failure.Failure {
	f := app.Explain(hub, err)
	if f.Code == wire.CodeNotFound || f.Code == wire.CodeLastAdmin {
		f = f.WithRecipe(cmdline.Tool("member", "list").With(org))
	}
	return f
}

// Removed is a user who is no member.
type Removed struct {
	Origin  string `json:"origin"`
	Account string `json:"account"`
	User    string `json:"user"`
	Existed bool   `json:"existed"`

	// Ambiguous: whether the user was no member before, or an attempt without a response
	// has removed them, is not known. Existed is then false.
	Ambiguous bool `json:"ambiguous,omitzero"`
}

func removeCommand(a *app.App) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "remove <org> <user>",
		Short: "Remove a user from an org",
		Long: `Remove a user from an org, immediately. You have to be admin of the org, unless
you remove yourself; your token needs the scope admin:resource. An org keeps at
least one admin. What the user wrote keeps the name.

Removing a user who is no member succeeds. A terminal asks first, unless --force
is given; where nothing can be asked, removing yourself needs --force.`,
		Example: "  tool member remove acme nora",
		Args:    cmdline.Exactly("<org>", "<user>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			names, err := parse(args)
			if err != nil {
				return err
			}
			return failure.Doing(remove(ctx, a, names[0], names[1], force), "", "remove %s from %s", names[1], names[0])
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "remove without asking")
	return a.HubFlags(c)
}

func remove(ctx context.Context, a *app.App, org, user string, force bool) error {
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.At(app.StageRemove, err)
	}
	if !force {
		yes, err := confirm(ctx, a, hub, org, user)
		if err != nil {
			return failure.At(app.StageRemove, err)
		}
		if !yes {
			return a.Aborted(&app.Aborted{Origin: hub.Origin()})
		}
	}
	m, err := hub.RemoveMember(ctx, org, user)
	if err != nil {
		return explain(hub, err, org).At(app.StageRemove)
	}
	result := Removed{Origin: hub.Origin(), Account: org, User: user, Existed: m.Existed, Ambiguous: m.Ambiguous}
	return a.Print("memberRemoved", result, func(w *app.Printer) {
		switch {
		case m.Existed:
			w.Line("Removed %s from %s", user, org)
		case m.Ambiguous:
			w.Line("%s is not a member of %s now", user, org)
		default:
			w.Line("%s was not a member of %s", user, org)
		}
		w.Field("origin", "%s", hub.Origin())
	})
}

// confirm asks whether to remove a user. Where nothing can be asked, only the caller must
// be removed with --force.
func confirm(ctx context.Context, a *app.App, hub *identity.Hub, org, user string) (bool, error) {
	me, err := hub.Whoami(ctx)
	if err != nil {
		return false, app.Explain(hub, err)
	}
	fact := fmt.Sprintf("%s loses the role on %s and its projects immediately.", user, org)
	if me.User == user {
		if a.Strict() {
			return false, cmdline.Usagef("%s is you: removing yourself needs --force", user)
		}
		fact = "This is you: another admin has to invite you again."
	}
	if a.Strict() {
		return true, nil
	}
	return a.UI.Confirm(ctx, ui.YesNo{Title: fmt.Sprintf("Remove %s from %s?", user, org), Facts: []string{fact}, Yes: "Remove", No: "Change nothing"})
}
