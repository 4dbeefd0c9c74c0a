// Package admin manages who may do what on a hub: members of orgs, bots, their rate limits,
// and tokens.
package admin

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/prompts"
)

// Member returns the command member.
func Member(a *app.App) *cobra.Command {
	return cmdline.Group("member", "Manage org members", invite(a), listMembers(a), setMember(a), removeMember(a))
}

// aboutOrg completes a command about an org, its first argument, and perhaps a user, its
// second. It checks the role of --role; nil: the command has no such flag.
func aboutOrg(
	a *app.App, c *cobra.Command, role *string, do func(ctx context.Context, org, user string) error,
) *cobra.Command {
	c.RegisterFlagCompletionFunc("role", app.OneOf(wire.Reader, wire.Writer, wire.Admin))
	c.RunE = a.Run(func(ctx context.Context, args []string) error {
		if role != nil {
			if err := checkRole(*role); err != nil {
				return err
			}
		}
		org, err := app.ParseAccount(args[0], "an org")
		if err != nil {
			return err
		}
		user := ""
		if len(args) > 1 {
			if user, err = app.ParseAccount(args[1], "a user"); err != nil {
				return err
			}
		}
		return do(ctx, org, user)
	})
	return a.HubFlags(c)
}

func checkRole(typed string) error {
	if typed == "" {
		return cmdline.Usagef("give a role: --role reader, writer or admin")
	}
	if !slices.Contains([]wire.Role{wire.Reader, wire.Writer, wire.Admin}, wire.Role(typed)) {
		return cmdline.Usagef("--role is reader, writer or admin, not %q", typed)
	}
	return nil
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

func invite(a *app.App) *cobra.Command {
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
	}
	c.Flags().StringVar(&role, "role", "", "give the role reader, writer or admin")
	return aboutOrg(a, c, &role, func(ctx context.Context, org, _ string) error {
		return a.Call(ctx, app.Action{Doing: "invite to " + org, Writes: true}, func(hub *identity.Hub) (app.Result, error) {
			link, err := hub.CreateInvitation(ctx, org, wire.Role(role))
			r := &invitation{Account: org, Role: wire.Role(role), Link: link}
			r.Note("the link is a secret: send it to one person")
			return r, err
		})
	})
}

type members struct {
	app.OnHub `json:",inline"`
	Account   string        `json:"account"`
	Members   []wire.Member `json:"members"`
}

func (*members) Kind() string { return "members" }

func (r *members) Text(w *app.Printer) {
	var rows [][]string
	for _, m := range r.Members {
		rows = append(rows, []string{m.User, string(m.Role)})
	}
	w.Columns(rows, nil)
}

func listMembers(a *app.App) *cobra.Command {
	return aboutOrg(a, &cobra.Command{
		Use:     "list <org>",
		Short:   "List the members of an org",
		Example: "  tool member list acme",
		Args:    cmdline.Exactly("<org>"),
	}, nil, func(ctx context.Context, org, _ string) error {
		return a.Call(ctx, app.Action{Doing: "list the members of " + org}, func(hub *identity.Hub) (app.Result, error) {
			all, err := hub.Members(ctx, org)
			return &members{Account: org, Members: all}, err
		})
	})
}

// member is a member whose role was set.
type member struct {
	app.OnHub    `json:",inline"`
	Account      string `json:"account"`
	*wire.Member `json:",inline"`
}

func (*member) Kind() string          { return "member" }
func (*member) Effect() string        { return "the role was set" }
func (r *member) Text(w *app.Printer) { w.Head("%s is %s of %s", r.User, r.Role, r.Account) }

func setMember(a *app.App) *cobra.Command {
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
	}
	c.Flags().StringVar(&role, "role", "", "set the role to reader, writer or admin")
	return aboutOrg(a, c, &role, func(ctx context.Context, org, user string) error {
		act := app.Action{
			Doing:  fmt.Sprintf("set the role of %s in %s", user, org),
			Stage:  app.StageEdit,
			Writes: true,
			Next:   cmdline.Tool("member", "list").With(org),
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			m, err := hub.SetMember(ctx, org, user, wire.Role(role))
			return &member{Account: org, Member: m}, err
		})
	})
}

// removedMember is a user who is not a member, or not any more.
type removedMember struct {
	app.OnHub           `json:",inline"`
	*wire.RemovedMember `json:",inline"`
}

func (*removedMember) Kind() string   { return "memberRemoved" }
func (*removedMember) Effect() string { return "the user is no member" }

func (r *removedMember) Text(w *app.Printer) {
	if r.Existed {
		w.Head("Removed %s from %s", r.User, r.Account)
	} else {
		w.Head("%s was not a member of %s", r.User, r.Account)
	}
}

func removeMember(a *app.App) *cobra.Command {
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
	}
	c.Flags().BoolVar(&force, "force", false, "remove without asking")
	return aboutOrg(a, c, nil, func(ctx context.Context, org, user string) error {
		act := app.Action{
			Doing:  fmt.Sprintf("remove %s from %s", user, org),
			Stage:  app.StageRemove,
			Writes: true,
			Next:   cmdline.Tool("member", "list").With(org),
		}
		return a.Call(ctx, act, func(hub *identity.Hub) (app.Result, error) {
			if !force {
				if err := confirmRemoval(ctx, a, hub, org, user); err != nil {
					return nil, err
				}
			}
			removed, err := hub.RemoveMember(ctx, org, user)
			return &removedMember{RemovedMember: removed}, err
		})
	})
}

// confirmRemoval asks whether to remove a user. Where nothing can be asked, it allows to remove
// anybody but the caller.
func confirmRemoval(ctx context.Context, a *app.App, hub *identity.Hub, org, user string) error {
	me, err := hub.Whoami(ctx)
	if err != nil {
		return err
	}
	isCaller := me.User == user
	if a.Strict() {
		if isCaller {
			return cmdline.Usagef("%s is you: removing yourself needs --force", user)
		}
		return nil
	}
	fact := fmt.Sprintf("%s loses the role on %s and its projects immediately.", user, org)
	if isCaller {
		fact = "This is you: another admin has to invite you again."
	}
	return app.Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: fmt.Sprintf("Remove %s from %s?", user, org),
		Facts: []string{fact},
		Yes:   "Remove",
	}))
}
