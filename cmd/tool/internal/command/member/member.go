// Package member manages the members of an org of the hub.
package member

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
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

// invitation is a link that gives one person a role.
type invitation struct {
	Account    string    `json:"account"`
	Role       wire.Role `json:"role"`
	app.OnHub  `json:",inline"`
	*wire.Link `json:",inline"`
	app.Noted  `json:",inline"`
}

func (*invitation) Kind() string   { return "invitation" }
func (*invitation) Effect() string { return "the invitation was created" }

func (r *invitation) Text(w *app.Printer) {
	w.Line("%s", r.URL)
	w.Field("gives", "%s on @%s, once, until %s", r.Role, r.Account, app.Time(r.ExpiresAt))
}

func inviteCommand(a *app.App) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use:   "invite <org> --role ROLE",
		Short: "Create a link that invites one person to an org",
		Long: `Create a link that gives one person a role in an org: reader, writer or admin.
The link works once, within 24 hours, as long as you are admin of the org and
your token is valid. The person who opens it joins as the user that is signed in
there, or creates an account.`,
		Example: "  tool member invite acme --role writer",
		Args:    cmdline.Exactly("<org>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			org := args[0]
			if err := checkRole(role); err != nil {
				return err
			}
			if !ref.ValidName(org) {
				return cmdline.Usagef("%q is not an org: an account is %s", org, ref.Rule)
			}
			act := app.Action{Doing: "invite to " + org, Writes: true}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				link, err := hub.CreateInvitation(ctx, org, wire.Role(role))
				r := &invitation{Account: org, Role: wire.Role(role), Link: link}
				r.Note("the link is a secret: send it to one person")
				return r, err
			})
		}),
	}
	c.Flags().StringVar(&role, "role", "", "give the role reader, writer or admin")
	return a.HubFlags(c)
}

// list are the members of an org.
type list struct {
	app.OnHub `json:",inline"`
	Account   string        `json:"account"`
	Members   []wire.Member `json:"members"`
}

func (*list) Kind() string { return "members" }

func (r *list) Text(w *app.Printer) {
	var rows [][]string
	for _, m := range r.Members {
		rows = append(rows, []string{m.User, string(m.Role)})
	}
	w.Columns(rows)
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
			act := app.Action{Doing: "list the members of " + names[0]}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				all, err := hub.Members(ctx, names[0])
				return &list{Account: names[0], Members: all}, err
			})
		}),
	})
}

// set is a member with the role that was set.
type set struct {
	app.OnHub    `json:",inline"`
	Account      string `json:"account"`
	*wire.Member `json:",inline"`
}

func (*set) Kind() string          { return "member" }
func (*set) Effect() string        { return "the role was set" }
func (r *set) Text(w *app.Printer) { w.Head("%s is %s of %s", r.User, r.Role, r.Account) }

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
			org, user := names[0], names[1]
			act := app.Action{
				Doing: fmt.Sprintf("set the role of %s in %s", user, org), Stage: app.StageEdit,
				Writes: true, Next: cmdline.Tool("member", "list").With(org),
			}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				m, err := hub.SetMember(ctx, org, user, wire.Role(role))
				return &set{Account: org, Member: m}, err
			})
		}),
	}
	c.Flags().StringVar(&role, "role", "", "set the role to reader, writer or admin")
	return a.HubFlags(c)
}

// removed is a user who is no member.
type removed struct {
	app.OnHub `json:",inline"`
	Account   string `json:"account"`
	User      string `json:"user"`
	Existed   bool   `json:"existed"`
}

func (*removed) Kind() string   { return "memberRemoved" }
func (*removed) Effect() string { return "the user is no member" }

func (r *removed) Text(w *app.Printer) {
	if r.Existed {
		w.Head("Removed %s from %s", r.User, r.Account)
	} else {
		w.Head("%s was not a member of %s", r.User, r.Account)
	}
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
			org, user := names[0], names[1]
			act := app.Action{
				Doing: fmt.Sprintf("remove %s from %s", user, org), Stage: app.StageRemove,
				Writes: true, Next: cmdline.Tool("member", "list").With(org),
			}
			return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
				if !force {
					if err := confirm(ctx, a, hub, org, user); err != nil {
						return nil, err
					}
				}
				m, err := hub.RemoveMember(ctx, org, user)
				if err != nil {
					return nil, err
				}
				return &removed{Account: org, User: user, Existed: m.Existed}, nil
			})
		}),
	}
	c.Flags().BoolVar(&force, "force", false, "remove without asking")
	return a.HubFlags(c)
}

// confirm asks whether to remove a user. Where nothing can be asked, only the caller must
// be removed with --force.
func confirm(ctx context.Context, a *app.App, hub *identity.Hub, org, user string) error {
	me, err := hub.Whoami(ctx)
	if err != nil {
		return err
	}
	fact := fmt.Sprintf("%s loses the role on %s and its projects immediately.", user, org)
	if me.User == user {
		if a.Strict() {
			return cmdline.Usagef("%s is you: removing yourself needs --force", user)
		}
		fact = "This is you: another admin has to invite you again."
	}
	if a.Strict() {
		return nil
	}
	return app.Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Remove %s from %s?", user, org), Facts: []string{fact}, Yes: "Remove", No: "Change nothing",
	}))
}
