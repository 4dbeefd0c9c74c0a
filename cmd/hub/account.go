package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

type account struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind,omitzero"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	DisabledAt time.Time `json:"disabledAt,omitzero"`
}

func (a *app) accountCreate() *cobra.Command {
	var org bool
	c := a.command("create NAME", "Create an account: a user, or an org with members",
		func(ctx context.Context, args []string) (r result, err error) {
			name, kind := args[0], store.KindUser
			if org {
				kind = store.KindOrg
			}
			if !ref.ValidName(name) {
				return r, cmdline.Usagef("%q is not an account: an account is %s", name, ref.Rule)
			}
			row := store.AuditRow{Account: name, Action: "account.create", Object: name, Detail: kind}
			err = a.write(ctx, row, func(tx *store.Tx) (bool, error) { return true, tx.CreateAccount(name, kind) })
			if errors.Is(err, store.ErrExists) {
				err = fmt.Errorf("account %s already exists", name)
				err = hint(err, "list all accounts", a.line(cmdline.Hub("account", "list")))
			}
			return result{"account", account{Name: name, Kind: kind}, fmt.Sprintf("Created the %s %s", kind, name)}, err
		})
	c.Example = "  hub account create alice\n  hub account create acme --org"
	c.Flags().BoolVar(&org, "org", false, "create an org, which has members instead of tokens")
	return c
}

func (a *app) accountList() *cobra.Command {
	return a.command("list", "List accounts", func(ctx context.Context, _ []string) (result, error) {
		rows, err := read(ctx, a, store.View.Accounts)
		var list []account
		var lines [][]string
		for _, r := range rows {
			list = append(list, account{r.Name, r.Kind, r.CreatedAt.Time(), r.DisabledAt.Time()})
			state := "active"
			if r.DisabledAt != 0 {
				state = "disabled " + day(r.DisabledAt.Time())
			}
			lines = append(lines, []string{r.Name, r.Kind, day(r.CreatedAt.Time()), state})
		}
		text := table("NAME\tKIND\tCREATED\tSTATE", lines)
		return result{"accounts", map[string]any{"accounts": list}, text}, err
	})
}

func (a *app) accountDisable() *cobra.Command {
	c := a.accountSwitch("disable", "Disable an account (its data stays)", true,
		"Disabled %s: its tokens and roles have no effect, and its public projects are hidden")
	c.Long = "Disable an account: its tokens and its members' roles have no effect, and its\n" +
		"public projects are hidden. Its data stays. hub account enable undoes it."
	return c
}

func (a *app) accountEnable() *cobra.Command {
	return a.accountSwitch("enable", "Enable a disabled account", false,
		"Enabled %s: its tokens, roles and public projects are available again")
}

func (a *app) accountSwitch(verb, short string, disable bool, text string) *cobra.Command {
	return a.command(verb+" NAME", short, func(ctx context.Context, args []string) (result, error) {
		name := args[0]
		row := store.AuditRow{Account: name, Action: "account." + verb, Object: name}
		err := a.write(ctx, row, func(tx *store.Tx) (bool, error) { return tx.SetDisabled(name, disable) })
		return result{verb + "d", account{Name: name}, fmt.Sprintf(text, name)}, err
	})
}

// needEnabled fails unless an account exists and is enabled.
func (a *app) needEnabled(tx *store.Tx, name string) error {
	found, err := tx.Account(name)
	if err != nil || found.DisabledAt == 0 {
		return err
	}
	enable := cmdline.Hub("account", "enable").With(name)
	return hint(fmt.Errorf("account %s is disabled", name), "enable it", a.line(enable))
}

// defaultURL is the address of a hub that was started without flags.
const defaultURL = "http://127.0.0.1:4680"

// accountLink signs a user in who has no token, such as the first one.
func (a *app) accountLink() *cobra.Command {
	publicURL := defaultURL
	c := a.command("link NAME", "Create a link that signs a user in, once",
		func(ctx context.Context, args []string) (r result, err error) {
			origin, err := hubclient.ParseOrigin(publicURL)
			if err != nil {
				return r, cmdline.Usagef("--public-url: %v", err)
			}
			user := args[0]
			address, hash := api.NewLink(origin)
			link := &store.Link{
				Account: user, Hash: hash, Kind: store.LinkSignIn, Scopes: request.JoinScopes(wire.Scopes), Page: "/",
			}
			row := store.AuditRow{Account: user, Action: "link.create", Object: user}
			err = a.write(ctx, row, func(tx *store.Tx) (bool, error) {
				if err := a.needEnabled(tx, user); err != nil {
					return false, err
				}
				return true, tx.CreateLink(link, store.AccountLinkLife)
			})
			if errors.Is(err, store.ErrTooMany) {
				err = fmt.Errorf("%s has too many links that were not used: they expire within a day", user)
			}
			if err != nil {
				return r, err
			}
			if !a.json {
				fmt.Fprintf(a.err, "This link signs in as %s, once, within 24 hours; it is shown once.\n", user)
			}
			if publicURL == defaultURL {
				fmt.Fprintf(a.err, "note: the link is for a hub at %s; for one at another address, give --public-url\n", origin)
			}
			members := map[string]any{"user": user, "url": address, "expiresAt": link.ExpiresAt.Time()}
			return result{"link", members, address}, nil
		})
	c.Long = "Create a link that signs a user in to the hub's pages, and print it on stdout.\n" +
		"It works once, within 24 hours. The session has all rights of the user, who can\n" +
		"create tokens on the page of tokens."
	c.Example = "  hub account link alice --public-url https://hub.example.com"
	c.Flags().StringVar(&publicURL, "public-url", publicURL, "set the `ORIGIN` that people use (HUB_PUBLIC_URL)")
	return c
}

func (a *app) memberSet() *cobra.Command {
	var role string
	c := a.command("set ORG USER --role ROLE", "Set a user's role in an org: reader, writer or admin",
		func(ctx context.Context, args []string) (r result, err error) {
			org, user := args[0], args[1]
			if store.Rank(role) <= 0 {
				return r, cmdline.Usagef("--role is reader, writer or admin, not %q", role)
			}
			row := store.AuditRow{Account: org, Action: "member.set", Object: user, Detail: role}
			err = a.write(ctx, row, func(tx *store.Tx) (bool, error) { return true, tx.SetMember(org, user, role) })
			members := map[string]any{"org": org, "user": user, "role": role}
			return result{"member", members, fmt.Sprintf("%s is %s of %s", user, role, org)}, err
		})
	c.Example = "  hub member set acme alice --role writer"
	c.Flags().StringVar(&role, "role", "", "set the role to reader, writer or admin")
	return c
}

func (a *app) memberList() *cobra.Command {
	return a.command("list ORG", "List the members of an org", func(ctx context.Context, args []string) (result, error) {
		rows, err := read(ctx, a, func(v store.View) ([]store.Member, error) {
			return v.Members(args[0], "", math.MaxInt32)
		})
		var list []wire.Member
		var lines [][]string
		for _, r := range rows {
			list = append(list, wire.Member{User: r.User, Role: wire.Role(r.Role)})
			lines = append(lines, []string{r.User, r.Role})
		}
		return result{"members", map[string]any{"org": args[0], "members": list}, table("USER\tROLE", lines)}, err
	})
}

func (a *app) memberRemove() *cobra.Command {
	return a.command("remove ORG USER", "Remove a user from an org",
		func(ctx context.Context, args []string) (result, error) {
			org, user := args[0], args[1]
			existed := false
			row := store.AuditRow{Account: org, Action: "member.remove", Object: user}
			err := a.write(ctx, row, func(tx *store.Tx) (_ bool, err error) {
				existed, err = tx.RemoveMember(org, user)
				return existed, err
			})
			text := "%s was not a member of %s"
			if existed {
				text = "Removed %s from %s"
			}
			members := map[string]any{"org": org, "user": user, "existed": existed}
			return result{"removed", members, fmt.Sprintf(text, user, org)}, err
		})
}
