package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

type token struct {
	Type        string     `json:"type,omitzero"`
	Schema      int        `json:"schema,omitzero"`
	ID          string     `json:"id"`
	Token       string     `json:"token,omitzero"` // only when it was just made
	Shown       string     `json:"shown"`          // the first characters
	User        string     `json:"user"`
	Name        string     `json:"name"`
	Scopes      []string   `json:"scopes"`
	Only        string     `json:"only,omitzero"` // the account or project to which it is restricted
	CreatedAt   time.Time  `json:"createdAt,omitzero"`
	ExpiresAt   *time.Time `json:"expiresAt"` // null: never
	RevokedAt   time.Time  `json:"revokedAt,omitzero"`
	LastUsedAt  time.Time  `json:"lastUsedAt,omitzero"`
	AlsoRevoked []token    `json:"alsoRevoked,omitzero"` // with it, as they were created with it
}

func toToken(r store.Token) token {
	user := cmp.Or(r.BotRefID, r.Owner)
	if r.Bot != "" && r.BotRefID == "" {
		user = "a deleted bot of " + r.Owner
	}
	t := token{
		ID: r.ID(), Shown: r.Shown, User: user, Name: r.Name, Scopes: r.ScopeList(), Only: r.Restriction.String(),
		CreatedAt: r.CreatedAt.Time(), RevokedAt: r.RevokedAt.Time(), LastUsedAt: r.LastUsedAt.Time(),
	}
	if r.ExpiresAt != 0 {
		expires := r.ExpiresAt.Time()
		t.ExpiresAt = &expires
	}
	return t
}

// rights are the token's scopes, and where it has them.
func (t token) rights() string {
	scopes := cmp.Or(strings.Join(t.Scopes, ","), "read")
	if t.Only != "" {
		return scopes + " on " + t.Only
	}
	return scopes
}

func (a *app) tokenCommand() *cobra.Command {
	return cmdline.Group("token", "Manage tokens", a.tokenCreate(), a.tokenList(), a.tokenRevoke())
}

// tokenOptions are the flags of a token that is created.
type tokenOptions struct {
	name, expires string
	scopes        []string
}

func (o *tokenOptions) addFlags(c *cobra.Command, scopes []string) {
	c.Flags().StringVar(&o.name, "name", "", "name the token, such as laptop")
	c.Flags().StringArrayVar(&o.scopes, "scope", scopes, "allow a scope; repeatable")
	c.Flags().StringVar(&o.expires, "expires", "90d", "set the lifetime, such as 12h, 90d or 52w, or never")
}

func (a *app) tokenCreate() *cobra.Command {
	var user string
	var o tokenOptions
	c := &cobra.Command{
		Use:   "create --user NAME --name N [--scope S]… [--expires 90d]",
		Short: "Create a token and print it once",
		Long: "Create a personal access token and print it on stdout. The hub keeps only its\nhash.\n\n" +
			"A token without a scope can only read. Scopes: write:config (push to a project),\n" +
			"write:catalog (create, publish, register; includes write:config), admin:resource\n(delete, set rate limits), " +
			"use:limit (count a bot's requests).",
		Example: "  hub token create --user alice --name laptop --scope write:catalog",
		Args:    cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if user == "" || o.name == "" {
				return a.needsUserAndName(user)
			}
			return a.createToken(c, o, user, ref.Ref{})
		},
	}
	c.Flags().StringVar(&user, "user", "", "create the token for this user")
	o.addFlags(c, nil)
	return c
}

const maxTokenName = 128

// isTokenName reports whether lists can show a name as it is.
func isTokenName(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxTokenName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// createToken creates a token of a user, or of bot, unless that is zero, in an account.
func (a *app) createToken(c *cobra.Command, o tokenOptions, account string, bot ref.Ref) error {
	if !isTokenName(o.name) {
		return cmdline.Usagef("--name must have 1 to %d printable characters", maxTokenName)
	}
	for _, s := range o.scopes {
		if !slices.Contains(wire.Scopes, wire.Scope(s)) {
			return cmdline.Usagef("unknown scope %q: scopes are write:config, write:catalog, admin:resource, use:limit", s)
		}
	}
	lifetime, err := pat.ParseLifetime(o.expires)
	if err != nil {
		return cmdline.Usagef("--expires: %v", err)
	}
	secret := pat.New()
	slices.Sort(o.scopes)
	row := store.Token{
		Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: o.name, Owner: account,
		Scopes: strings.Join(slices.Compact(o.scopes), " "),
	}
	audit := store.AuditRow{Account: account, Action: "token.create", Object: row.ID(), Detail: row.Scopes}
	err = a.write(c.Context(), audit, func(tx *store.Tx) error {
		if err := a.needEnabled(c.Context(), tx, account); err != nil {
			return err
		}
		if !bot.IsZero() {
			found, err := tx.RateLimit(c.Context(), account, "", bot.String())
			if errors.Is(err, store.ErrNotFound) {
				return a.hinted(fmt.Errorf("bot %s does not exist", bot), "create it", cmdline.Hub("bot", "create").With(bot.String()))
			}
			if err != nil {
				return err
			}
			row.Bot, row.BotRefID = found.ID, bot.String()
		}
		if lifetime > 0 {
			now, err := tx.Now(c.Context())
			if err != nil {
				return err
			}
			row.ExpiresAt = store.At(now.Time().Add(lifetime))
		}
		return tx.CreateToken(c.Context(), &row)
	})
	if err != nil {
		return err
	}
	made := toToken(row)
	made.Type, made.Schema, made.Token = "token", 1, secret
	err = a.print(made, func(w io.Writer) {
		fmt.Fprintln(a.err, "This token is shown once; the hub keeps only its hash.")
		fmt.Fprintln(w, secret)
	})
	if err != nil {
		return fmt.Errorf("%w: the token is lost; revoke it: %s", err, a.line(cmdline.Hub("token", "revoke").With(row.ID())))
	}
	return nil
}

func (a *app) tokenList() *cobra.Command {
	var user string
	c := &cobra.Command{
		Use:   "list [--user ACCOUNT]",
		Short: "List tokens without their secrets",
		Args:  cmdline.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			list := []token{}
			err := a.read(c.Context(), func(v *store.View) error {
				rows, err := v.Tokens(c.Context(), user)
				for _, r := range rows {
					list = append(list, toToken(r))
				}
				return err
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"type": "tokens", "schema": 1, "tokens": list}, func(w io.Writer) {
				table(w, "ID\tUSER\tNAME\tSTARTS\tSCOPES\tSTATE\tLAST USED", func(row func(...any)) {
					for _, t := range list {
						row(t.ID, t.User, t.Name, t.Shown+"…", t.rights(), t.state(), t.lastUsed())
					}
				})
			})
		},
	}
	c.Flags().StringVar(&user, "user", "", "list only the tokens of this user or org, and of its bots")
	return c
}

// needsUserAndName is the failure of a command line that lacks one of the two. It names
// a line to type where the user is known.
func (a *app) needsUserAndName(user string) error {
	e := cmdline.Usagef("a token needs --user and --name")
	if user != "" {
		e = e.Try(a.line(cmdline.Hub("token", "create").Flag("--user", user).Flag("--name", "laptop").Flag("--scope", "write:catalog")))
	}
	return e
}

func (t token) state() string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked " + day(t.RevokedAt)
	case t.ExpiresAt == nil:
		return "active, never expires"
	case t.ExpiresAt.Before(time.Now()):
		return "expired " + day(*t.ExpiresAt)
	}
	return "active until " + day(*t.ExpiresAt)
}

func (t token) lastUsed() string {
	if t.LastUsedAt.IsZero() {
		return "never"
	}
	return t.LastUsedAt.Format("2006-01-02 15:04")
}

func (a *app) tokenRevoke() *cobra.Command {
	var user string
	var all, withToken bool
	c := &cobra.Command{
		Use:     "revoke ID… | --user NAME --all | --with-token",
		Short:   "Revoke tokens immediately",
		Long:    "Revoke tokens immediately, and what was created with them: tokens and sessions.\nAn ID is what hub token list shows, or enough of its first characters. With\n--with-token the tokens are read from stdin, one per line.",
		Example: "  hub token revoke 1f0c2d9b8a77\n  hub token revoke --user alice --all",
		RunE: func(c *cobra.Command, ids []string) error {
			ways := 0
			for _, given := range []bool{len(ids) > 0, all || user != "", withToken} {
				if given {
					ways++
				}
			}
			switch {
			case ways != 1:
				return cmdline.Usagef("hub token revoke takes IDs, or --user NAME --all, or --with-token")
			case all != (user != ""):
				return cmdline.Usagef("--user and --all go together")
			case all:
				return a.revokeAll(c, user)
			case withToken:
				hashes, err := a.readHashes()
				if err != nil {
					return err
				}
				ids = hashes
			}
			return a.revoke(c, ids)
		},
	}
	c.Flags().StringVar(&user, "user", "", "revoke the tokens of this user or org, and of its bots, with --all")
	c.Flags().BoolVar(&all, "all", false, "revoke every token of --user")
	c.Flags().BoolVar(&withToken, "with-token", false, "read the tokens from stdin")
	return c
}

// readHashes reads tokens from stdin and returns their hashes, which the hub stores.
func (a *app) readHashes() ([]string, error) {
	var hashes []string
	lines := bufio.NewScanner(a.in)
	for n := 1; lines.Scan(); n++ {
		secret := strings.TrimSpace(lines.Text())
		if secret == "" {
			continue
		}
		if !pat.Valid(secret) {
			return nil, fmt.Errorf("line %d of stdin is not a token", n)
		}
		hashes = append(hashes, pat.Hash(secret))
	}
	if len(hashes) == 0 {
		return nil, errors.New("stdin contains no token")
	}
	return hashes, lines.Err()
}

// minID is the shortest start of an ID that names a token.
const minID = 6

// whichToken is the failure of a command whose argument names no token, or several.
func (a *app) whichToken(format, id string) error {
	return a.hinted(fmt.Errorf(format, id), "list all tokens", cmdline.Hub("token", "list"))
}

// maxAlsoRevoked bounds how many tokens text mode names that ended with another one.
const maxAlsoRevoked = 10

func (a *app) revoke(c *cobra.Command, ids []string) error {
	revoked := []token{}
	err := a.withStore(c.Context(), func(s *store.Store) error {
		return s.Write(c.Context(), func(tx *store.Tx) error {
			revoked = revoked[:0]
			for _, id := range ids {
				if len(id) < minID {
					return a.whichToken("%q is too short for a token's ID", id)
				}
				row, err := tx.RevokeToken(c.Context(), id)
				switch {
				case errors.Is(err, store.ErrNotFound):
					return a.whichToken("token %.12s does not exist", id)
				case errors.Is(err, store.ErrAmbiguous):
					return a.whichToken("more than one token starts with %s: give more of its ID", id)
				case err != nil:
					return err
				}
				if err := tx.AuditRevocation(c.Context(), store.AuditRow{Account: row.Owner, Actor: "hub"}, row); err != nil {
					return err
				}
				t := toToken(row.Token)
				for _, with := range row.With {
					t.AlsoRevoked = append(t.AlsoRevoked, toToken(with))
				}
				revoked = append(revoked, t)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return a.print(map[string]any{"type": "revoked", "schema": 1, "tokens": revoked}, func(w io.Writer) {
		for _, t := range revoked {
			fmt.Fprintf(w, "Revoked %s (%s of %s)\n", t.ID, escape.Line(t.Name), t.User)
			var also []string
			for _, with := range t.AlsoRevoked {
				also = append(also, fmt.Sprintf("%s (%s)", with.ID, escape.Line(with.Name)))
			}
			if also != nil {
				fmt.Fprintln(w, "Revoked with it:", cmdline.Shortlist(also, maxAlsoRevoked))
			}
		}
	})
}

func (a *app) revokeAll(c *cobra.Command, user string) error {
	var done store.Revoked
	err := a.change(c.Context(), store.AuditRow{Account: user, Action: "token.revoke", Object: "all"}, func(tx *store.Tx) (_ bool, err error) {
		done, err = tx.RevokeTokensOf(c.Context(), user)
		return done != store.Revoked{}, err
	})
	if err != nil {
		return err
	}
	return a.print(map[string]any{"type": "revoked", "schema": 1, "user": user, "count": done.Tokens, "sessions": done.Sessions}, func(w io.Writer) {
		tokens := "tokens"
		if done.Tokens == 1 {
			tokens = "token"
		}
		fmt.Fprintf(w, "Revoked %d %s of %s\n", done.Tokens, tokens, user)
		if done.Sessions > 0 {
			fmt.Fprintf(w, "Ended sessions: %d\n", done.Sessions)
		}
	})
}
