package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

type bot struct {
	Type     string `json:"type,omitzero"`
	Schema   int    `json:"schema,omitzero"`
	Account  string `json:"account"`
	BotID    string `json:"botId,omitzero"`
	BotRefID string `json:"botRefId,omitzero"`
}

func (a *app) botCommand() *cobra.Command {
	return cmdline.Group("bot", "Manage bots", a.botCreate(), a.botList(), a.botToken(), a.botRemove())
}

func parseBot(text string) (ref.Ref, error) {
	r, err := ref.Parse(text)
	if err != nil {
		return r, cmdline.Usagef("%q is not a bot: a bot is @account/slug", text)
	}
	return r, nil
}

func (a *app) botCreate() *cobra.Command {
	return &cobra.Command{
		Use:     "create @ACCOUNT/SLUG",
		Short:   "Create a bot, which can have tokens and rate limits",
		Example: "  hub bot create @acme/ci",
		Args:    cmdline.Exactly("@ACCOUNT/SLUG"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseBot(args[0])
			if err != nil {
				return err
			}
			audit := store.AuditRow{Account: r.Account(), Action: "bot.create", Object: r.String()}
			err = a.write(c.Context(), audit, func(tx *store.Tx) error {
				_, err := tx.CreateBot(c.Context(), r, rand.Text(), "hub")
				return err
			})
			if errors.Is(err, store.ErrExists) {
				return a.whichBot("bot %s already exists", r)
			}
			if err != nil {
				return err
			}
			return a.print(bot{Type: "bot", Schema: 1, Account: r.Account(), BotRefID: r.String()}, func(w io.Writer) {
				fmt.Fprintf(w, "Created the bot %s\n", r)
			})
		},
	}
}

// botsPage is how many bots are read at once.
const botsPage = 500

func (a *app) botList() *cobra.Command {
	return &cobra.Command{
		Use:     "list [ACCOUNT]",
		Short:   "List bots: all, or those of an account",
		Example: "  hub bot list\n  hub bot list acme",
		Args:    cmdline.AtMost("ACCOUNT"),
		RunE: func(c *cobra.Command, args []string) error {
			list := []bot{}
			err := a.read(c.Context(), func(v *store.View) error {
				accounts := args
				if len(args) == 0 {
					rows, err := v.Accounts(c.Context())
					if err != nil {
						return err
					}
					for _, row := range rows {
						accounts = append(accounts, row.Name)
					}
				} else if _, err := v.Account(c.Context(), args[0]); errors.Is(err, store.ErrNotFound) {
					return &store.NoAccountError{Name: args[0]}
				}
				for _, account := range accounts {
					after := ""
					for {
						rows, err := v.Bots(c.Context(), account, after, botsPage)
						if err != nil {
							return err
						}
						for i := range rows {
							list = append(list, bot{Account: account, BotID: rows[i].BotID, BotRefID: rows[i].BotRefID})
							after = rows[i].Name()
						}
						if len(rows) < botsPage {
							break
						}
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "bots", "schema": 1, "bots": list}, func(w io.Writer) {
				table(w, "ACCOUNT\tREF\tID", func(row func(...any)) {
					for _, b := range list {
						row(b.Account, cmp.Or(escape.Line(b.BotRefID), "-"), cmp.Or(escape.Line(b.BotID), "-"))
					}
				})
			})
		},
	}
}

func (a *app) botToken() *cobra.Command {
	var o tokenOptions
	c := &cobra.Command{
		Use:   "token @ACCOUNT/SLUG --name N [--scope S]… [--expires 90d]",
		Short: "Create a token of a bot and print it once",
		Long: "Create a token of a bot and print it on stdout. The hub keeps only its hash.\n\n" +
			"A bot acts as writer in its own account, within its rate limits.",
		Example: "  hub bot token @acme/ci --name pipeline",
		Args:    cmdline.Exactly("@ACCOUNT/SLUG"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseBot(args[0])
			if err != nil {
				return err
			}
			if o.name == "" {
				return cmdline.Usagef("a token needs --name").
					Try(a.line(cmdline.Hub("bot", "token").With(r.String()).Flag("--name", "pipeline")))
			}
			return a.createToken(c, o, r.Account(), r)
		},
	}
	o.addFlags(c, []string{string(wire.ScopeWriteConfig)})
	return c
}

func (a *app) botRemove() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "rm @ACCOUNT/SLUG",
		Short: "Delete a bot and revoke its tokens",
		Long: "Delete a bot with its rate limits, and revoke its tokens immediately. The\n" +
			"history of configs keeps its name. A bot that has valid tokens is deleted only\nwith --force.",
		Example: "  hub bot rm @acme/ci --force",
		Args:    cmdline.Exactly("@ACCOUNT/SLUG"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseBot(args[0])
			if err != nil {
				return err
			}
			revoked := 0
			audit := store.AuditRow{Account: r.Account(), Action: "bot.delete", Object: r.String()}
			err = a.write(c.Context(), audit, func(tx *store.Tx) error {
				if revoked, err = tx.DeleteBot(c.Context(), r); errors.Is(err, store.ErrNotFound) {
					return a.whichBot("bot %s does not exist", r)
				}
				if err == nil && revoked > 0 && !force {
					return a.needsForce(r, revoked)
				}
				return err
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "botRemoved", "schema": 1, "bot": r.String(), "revoked": revoked}, func(w io.Writer) {
				fmt.Fprintf(w, "Deleted the bot %s; revoked tokens: %d\n", r, revoked)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "delete the bot even if it has valid tokens")
	return c
}

func (a *app) needsForce(bot ref.Ref, tokens int) error {
	return a.hinted(fmt.Errorf("bot %s has valid tokens: %d", bot, tokens), "programs that use them would be refused at once",
		cmdline.Hub("bot", "rm").With(bot.String()).Flag("--force"))
}

// whichBot is the failure of a command whose argument names no bot, or one that exists.
func (a *app) whichBot(format string, bot ref.Ref) error {
	return a.hinted(fmt.Errorf(format, bot), "list all bots", cmdline.Hub("bot", "list"))
}
