package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

type account struct {
	Type       string    `json:"type,omitzero"`
	Schema     int       `json:"schema,omitzero"`
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	DisabledAt time.Time `json:"disabledAt,omitzero"`
}

func (a *app) accountCommand() *cobra.Command {
	return cmdline.Group("account", "Manage accounts", a.accountCreate(), a.accountList(), a.accountLink(), a.accountDisable(), a.accountEnable())
}

func (a *app) accountCreate() *cobra.Command {
	var org bool
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create an account: a user, or an org with members",
		Example: "  hub account create alice\n  hub account create acme --org",
		Args:    cmdline.Exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			name, kind := args[0], store.KindUser
			if org {
				kind = store.KindOrg
			}
			if !ref.ValidName(name) {
				return cmdline.Usagef("%q is not an account: an account is %s", name, ref.Rule)
			}
			err := a.write(c.Context(), store.AuditRow{Account: name, Action: "account.create", Object: name, Detail: kind}, func(tx *store.Tx) error {
				return tx.CreateAccount(c.Context(), name, kind)
			})
			if errors.Is(err, store.ErrExists) {
				return a.hinted(fmt.Errorf("account %s already exists", name), "list all accounts", cmdline.Hub("account", "list"))
			}
			if err != nil {
				return err
			}
			return a.print(account{Type: "account", Schema: 1, Name: name, Kind: kind}, func(w io.Writer) {
				fmt.Fprintf(w, "Created the %s %s\n", kind, name)
			})
		},
	}
	c.Flags().BoolVar(&org, "org", false, "create an org, which has members instead of tokens")
	return c
}

func (a *app) accountList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List accounts",
		Args:  cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			list := []account{}
			err := a.read(c.Context(), func(v *store.View) error {
				rows, err := v.Accounts(c.Context())
				for _, r := range rows {
					list = append(list, account{Name: r.Name, Kind: r.Kind, CreatedAt: r.CreatedAt.Time(), DisabledAt: r.DisabledAt.Time()})
				}
				return err
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "accounts", "schema": 1, "accounts": list}, func(w io.Writer) {
				table(w, "NAME\tKIND\tCREATED\tSTATE", func(row func(...any)) {
					for _, r := range list {
						state := "active"
						if !r.DisabledAt.IsZero() {
							state = "disabled " + day(r.DisabledAt)
						}
						row(r.Name, r.Kind, day(r.CreatedAt), state)
					}
				})
			})
		},
	}
}

// defaultURL is the address of a hub that was started without flags.
const defaultURL = "http://127.0.0.1:4680"

// accountLink signs a user in who has no token, such as the first one.
func (a *app) accountLink() *cobra.Command {
	publicURL := defaultURL
	c := &cobra.Command{
		Use:   "link NAME",
		Short: "Create a link that signs a user in, once",
		Long: "Create a link that signs a user in to the hub's pages, and print it on stdout.\nIt works once, within 24 hours. " +
			"The session has all rights of the user, who can\ncreate tokens on the page of tokens.",
		Example: "  hub account link alice --public-url https://hub.example.com",
		Args:    cmdline.Exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			origin, err := hubclient.ParseOrigin(publicURL)
			if err != nil {
				return cmdline.Usagef("--public-url: %v", err)
			}
			if err := a.createLink(c, origin, args[0]); err != nil || c.Flags().Changed("public-url") {
				return err
			}
			fmt.Fprintf(a.err, "note: the link is for a hub at %s; for one at another address, give --public-url\n", defaultURL)
			return nil
		},
	}
	c.Flags().StringVar(&publicURL, "public-url", publicURL, "set the `ORIGIN` that people use (HUB_PUBLIC_URL)")
	return c
}

func (a *app) createLink(c *cobra.Command, origin, user string) error {
	var scopes []string
	for _, s := range wire.Scopes {
		scopes = append(scopes, string(s))
	}
	address, hash := hubserver.NewLink(origin, user)
	link := &store.Link{Account: user, Hash: hash, Kind: store.LinkSignIn, Scopes: strings.Join(scopes, " "), Page: "/"}
	err := a.write(c.Context(), store.AuditRow{Account: user, Action: "link.create", Object: user}, func(tx *store.Tx) error {
		if err := a.needEnabled(c.Context(), tx, user); err != nil {
			return err
		}
		return tx.CreateLink(c.Context(), link, store.AccountLinkLife)
	})
	if errors.Is(err, store.ErrTooMany) {
		return fmt.Errorf("%s has too many links that were not used: they expire within a day", user)
	}
	if err != nil {
		return err
	}
	made := map[string]any{"type": "link", "schema": 1, "user": user, "url": address, "expiresAt": link.ExpiresAt.Time()}
	return a.print(made, func(w io.Writer) {
		fmt.Fprintf(a.err, "This link signs in as %s, once, within 24 hours; it is shown once.\n", user)
		fmt.Fprintln(w, address)
	})
}

func (a *app) accountDisable() *cobra.Command {
	c := a.accountSwitch("disable", "disabled", "Disabled %s: its tokens and roles have no effect, and its public projects are hidden\n", (*store.Tx).DisableAccount)
	c.Short = "Disable an account (its data stays)"
	c.Long = "Disable an account: its tokens and its members' roles have no effect, and its\n" +
		"public projects are hidden. Its data stays. hub account enable undoes it."
	return c
}

func (a *app) accountEnable() *cobra.Command {
	c := a.accountSwitch("enable", "enabled", "Enabled %s: its tokens, roles and public projects are available again\n", (*store.Tx).EnableAccount)
	c.Short = "Enable a disabled account"
	return c
}

func (a *app) accountSwitch(verb, done, text string, apply func(*store.Tx, context.Context, string) (bool, error)) *cobra.Command {
	return &cobra.Command{
		Use:  verb + " NAME",
		Args: cmdline.Exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			name := args[0]
			err := a.change(c.Context(), store.AuditRow{Account: name, Action: "account." + verb, Object: name}, func(tx *store.Tx) (bool, error) {
				return apply(tx, c.Context(), name)
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": done, "schema": 1, "name": name}, func(w io.Writer) { fmt.Fprintf(w, text, name) })
		},
	}
}

type member struct {
	User string `json:"user"`
	Role string `json:"role"`
}

func (a *app) memberCommand() *cobra.Command {
	return cmdline.Group("member", "Manage org members", a.memberSet(), a.memberList(), a.memberRemove())
}

func (a *app) memberSet() *cobra.Command {
	var role string
	c := &cobra.Command{
		Use:     "set ORG USER --role ROLE",
		Short:   "Set a user's role in an org: reader, writer or admin",
		Example: "  hub member set acme alice --role writer",
		Args:    cmdline.Exactly("ORG", "USER"),
		RunE: func(c *cobra.Command, args []string) error {
			org, user := args[0], args[1]
			switch wire.Role(role) {
			case wire.Reader, wire.Writer, wire.Admin:
			default:
				return cmdline.Usagef("--role is reader, writer or admin, not %q", role)
			}
			err := a.write(c.Context(), store.AuditRow{Account: org, Action: "member.set", Object: user, Detail: role}, func(tx *store.Tx) error {
				return tx.SetMember(c.Context(), org, user, role)
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "member", "schema": 1, "org": org, "user": user, "role": role}, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s of %s\n", user, role, org)
			})
		},
	}
	c.Flags().StringVar(&role, "role", "", "set the role to reader, writer or admin")
	return c
}

func (a *app) memberList() *cobra.Command {
	return &cobra.Command{
		Use:   "list ORG",
		Short: "List the members of an org",
		Args:  cmdline.Exactly("ORG"),
		RunE: func(c *cobra.Command, args []string) error {
			list := []member{}
			err := a.read(c.Context(), func(v *store.View) error {
				rows, err := v.MembersOf(c.Context(), args[0])
				for _, r := range rows {
					list = append(list, member{r.User, r.Role})
				}
				return err
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "members", "schema": 1, "org": args[0], "members": list}, func(w io.Writer) {
				table(w, "USER\tROLE", func(row func(...any)) {
					for _, m := range list {
						row(m.User, m.Role)
					}
				})
			})
		},
	}
}

func (a *app) memberRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove ORG USER",
		Short: "Remove a user from an org",
		Args:  cmdline.Exactly("ORG", "USER"),
		RunE: func(c *cobra.Command, args []string) error {
			org, user := args[0], args[1]
			existed := false
			err := a.change(c.Context(), store.AuditRow{Account: org, Action: "member.remove", Object: user}, func(tx *store.Tx) (_ bool, err error) {
				existed, err = tx.RemoveMember(c.Context(), org, user)
				return existed, err
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "removed", "schema": 1, "org": org, "user": user, "existed": existed}, func(w io.Writer) {
				if existed {
					fmt.Fprintf(w, "Removed %s from %s\n", user, org)
				} else {
					fmt.Fprintf(w, "%s was not a member of %s\n", user, org)
				}
			})
		},
	}
}

// table writes aligned columns, escaped.
func table(w io.Writer, head string, rows func(row func(...any))) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	empty := true
	rows(func(cells ...any) {
		if empty {
			fmt.Fprintln(t, head)
			empty = false
		}
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, escape.Line(fmt.Sprint(cell)))
		}
		fmt.Fprintln(t)
	})
	if empty {
		fmt.Fprintln(t, "Nothing found")
	}
	_ = t.Flush() // w remembers it
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }
