package member

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

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
			return failure.Doing(Invite(ctx, a, args[0], role), "", "invite to %s", args[0])
		}),
	}
	c.Flags().StringVar(&role, "role", "", "give the role reader, writer or admin")
	return a.HubFlags(c)
}

// Invitation is a link that gives one person a role.
type Invitation struct {
	Account   string    `json:"account"`
	Role      wire.Role `json:"role"`
	Origin    string    `json:"origin"`
	wire.Link `json:",inline"`
	Notes     []string `json:"notes"`
}

// Invite creates an invitation to org.
func Invite(ctx context.Context, a *app.App, org, role string) error {
	if err := checkRole(role); err != nil {
		return err
	}
	if !ref.ValidName(org) {
		return cmdline.Usagef("%q is not an org: an account is %s", org, ref.Rule)
	}
	hub, err := a.ConnectToWrite(ctx)
	if err != nil {
		return failure.At("invite", err)
	}
	link, err := hub.CreateInvitation(ctx, org, wire.Role(role))
	if err != nil {
		return app.Explain(hub, err).At("invite")
	}
	r := &Invitation{
		Account: org, Role: wire.Role(role), Origin: hub.Origin(), Link: *link,
		Notes: []string{"the link is a secret: send it to one person"},
	}
	return a.Print("invitation", r, func(w *app.Printer) {
		w.Line("%s", r.URL)
		w.Field("gives", "%s on @%s, once, until %s", r.Role, r.Account, app.Time(r.ExpiresAt))
		w.Notes(r.Notes)
	})
}
