package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
	"example.com/projecthub/tui/escape"
)

type token struct {
	ID          string     `json:"id"`
	Token       string     `json:"token,omitzero"` // only when it was just created
	Shown       string     `json:"shown"`          // its first characters
	User        string     `json:"user"`
	Name        string     `json:"name"`
	Scopes      []string   `json:"scopes"`
	Only        string     `json:"only,omitzero"` // the account or project to which it is restricted
	CreatedAt   time.Time  `json:"createdAt,omitzero"`
	ExpiresAt   *time.Time `json:"expiresAt"` // null: never
	RevokedAt   time.Time  `json:"revokedAt,omitzero"`
	LastUsedAt  time.Time  `json:"lastUsedAt,omitzero"`
	AlsoRevoked []token    `json:"alsoRevoked,omitzero"` // that were created with it
}

func toToken(r store.Token) token {
	t := token{
		ID: r.ShortID(), Shown: r.Shown, User: cmp.Or(r.BotRefID, r.Owner), Name: r.Name, Scopes: strings.Fields(r.Scopes),
		Only:      r.Only.String(),
		CreatedAt: r.CreatedAt.Time(), RevokedAt: r.RevokedAt.Time(), LastUsedAt: r.UsedAt.Time(),
	}
	if r.ExpiresAt != 0 {
		t.ExpiresAt = new(r.ExpiresAt.Time())
	}
	return t
}

func toTokens(rows []store.Token) (tokens []token) {
	for _, r := range rows {
		tokens = append(tokens, toToken(r))
	}
	return tokens
}

func (a *app) tokenCreate() *cobra.Command {
	var user, name, expires string
	var scopes []string
	c := a.command("create --user NAME --name N [--scope S]… [--expires 90d]", "Create a token and print it once",
		func(ctx context.Context, _ []string) (r result, err error) {
			if user == "" || name == "" {
				e := cmdline.Usagef("a token needs --user and --name")
				if user != "" {
					create := cmdline.Hub("token", "create").Flag("--user", user).Flag("--name", "laptop")
					e = e.Try(a.withDB(create.Flag("--scope", "write:catalog")))
				}
				return r, e
			}
			if request.CheckName(name) != nil {
				return r, cmdline.Usagef("--name must have 1 to 128 printable characters")
			}
			for _, s := range scopes {
				if all := request.JoinScopes(wire.Scopes); !slices.Contains(wire.Scopes, wire.Scope(s)) {
					return r, cmdline.Usagef("unknown scope %q: scopes are %s", s, strings.ReplaceAll(all, " ", ", "))
				}
			}
			lifetime, err := pat.ParseLifetime(expires)
			if err != nil {
				return r, cmdline.Usagef("--expires: %v", err)
			}
			secret := pat.New()
			slices.Sort(scopes)
			row := store.Token{
				Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: name, Owner: user,
				Scopes: strings.Join(slices.Compact(scopes), " "),
			}
			audit := store.AuditRow{Account: user, Action: "token.create", Object: row.ShortID(), Detail: row.Scopes}
			err = a.write(ctx, audit, func(tx *store.Tx) (bool, error) {
				if err := a.needEnabled(tx, user); err != nil {
					return false, err
				}
				if lifetime > 0 {
					row.ExpiresAt = tx.Now().Add(lifetime)
				}
				return true, tx.CreateToken(&row)
			})
			if err != nil {
				return r, err
			}
			made := toToken(row)
			made.Token = secret
			if !a.json {
				fmt.Fprintln(a.err, "This token is shown once; the hub keeps only its hash.")
			}
			if err := a.print(result{"token", made, secret}); err != nil {
				revoke := a.line(cmdline.Hub("token", "revoke").With(row.ShortID()))
				return r, fmt.Errorf("%w: the token is lost; revoke it: %s", err, revoke)
			}
			return r, nil
		})
	c.Long = "Create a personal access token and print it on stdout. The hub keeps only its\nhash.\n\n" +
		"A token without a scope can only read. Scopes: write:config (push to a project),\n" +
		"write:catalog (create, publish, register; includes write:config), admin:resource\n" +
		"(delete, set rate limits), use:limit (count a bot's requests)."
	c.Example = "  hub token create --user alice --name laptop --scope write:catalog"
	c.Flags().StringVar(&user, "user", "", "create the token for this user")
	c.Flags().StringVar(&name, "name", "", "name the token, such as laptop")
	c.Flags().StringArrayVar(&scopes, "scope", nil, "allow a scope; repeatable")
	c.Flags().StringVar(&expires, "expires", "90d", "set the lifetime, such as 12h, 90d or 52w, or never")
	return c
}

func (a *app) tokenList() *cobra.Command {
	var user string
	c := a.command("list [--user ACCOUNT]", "List tokens without their secrets",
		func(ctx context.Context, _ []string) (result, error) {
			rows, err := read(ctx, a, func(v store.View) ([]store.Token, error) { return v.Tokens(user) })
			list := toTokens(rows)
			var lines [][]string
			for _, t := range list {
				scopes, used := cmp.Or(strings.Join(t.Scopes, ","), "read"), "never"
				if t.Only != "" {
					scopes += " on " + t.Only
				}
				if !t.LastUsedAt.IsZero() {
					used = t.LastUsedAt.Format("2006-01-02 15:04")
				}
				lines = append(lines, []string{t.ID, t.User, t.Name, t.Shown + "…", scopes, t.state(), used})
			}
			text := table("ID\tUSER\tNAME\tSTARTS\tSCOPES\tSTATE\tLAST USED", lines)
			return result{"tokens", map[string]any{"tokens": list}, text}, err
		})
	c.Flags().StringVar(&user, "user", "", "list only the tokens of this user or org, and of its bots")
	return c
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

func (a *app) tokenRevoke() *cobra.Command {
	var user string
	var all, withToken bool
	c := a.command("revoke ID… | --user NAME --all | --with-token", "Revoke tokens immediately",
		func(ctx context.Context, ids []string) (r result, err error) {
			byID, byAccount := len(ids) > 0, all || user != ""
			switch {
			case byAccount && withToken, byID == (byAccount || withToken): // not exactly one of the three
				return r, cmdline.Usagef("hub token revoke takes IDs, or --user NAME --all, or --with-token")
			case byAccount && (user == "" || !all):
				return r, cmdline.Usagef("--user and --all go together")
			case byAccount:
				return a.revokeAll(ctx, user)
			case withToken:
				if ids, err = a.readHashes(); err != nil {
					return r, err
				}
			}
			return a.revoke(ctx, ids)
		})
	c.Args = cobra.ArbitraryArgs
	c.Long = "Revoke tokens immediately, and what was created with them: tokens and sessions.\n" +
		"An ID is what hub token list shows, or enough of its first characters. With\n" +
		"--with-token the tokens are read from stdin, one per line."
	c.Example = "  hub token revoke 1f0c2d9b8a77\n  hub token revoke --user alice --all"
	c.Flags().StringVar(&user, "user", "", "revoke the tokens of this user or org, and of its bots, with --all")
	c.Flags().BoolVar(&all, "all", false, "revoke every token of --user")
	c.Flags().BoolVar(&withToken, "with-token", false, "read the tokens from stdin")
	return c
}

// readHashes reads tokens from stdin and returns their hashes, which the hub stores.
func (a *app) readHashes() (hashes []string, err error) {
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
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("stdin: %w", err)
	}
	if len(hashes) == 0 {
		return nil, errors.New("stdin contains no token")
	}
	return hashes, nil
}

// minID is the shortest start of an ID that names a token.
const minID = 6

// maxAlsoRevoked bounds how many tokens text mode names that ended with another one.
const maxAlsoRevoked = 10

func (a *app) revoke(ctx context.Context, ids []string) (result, error) {
	var revoked []token
	err := a.write(ctx, store.AuditRow{}, func(tx *store.Tx) (bool, error) {
		revoked = nil
		for _, id := range ids {
			t, err := a.revokeOne(tx, id)
			if err != nil {
				return false, err
			}
			revoked = append(revoked, t)
		}
		return false, nil // each has its own row of the audit log
	})
	var lines []string
	for _, t := range revoked {
		lines = append(lines, fmt.Sprintf("Revoked %s (%s of %s)", t.ID, escape.Line(t.Name), t.User))
		var also []string
		for _, with := range t.AlsoRevoked {
			also = append(also, fmt.Sprintf("%s (%s)", with.ID, escape.Line(with.Name)))
		}
		if also != nil {
			lines = append(lines, "Revoked with it: "+cmdline.Shortlist(also, maxAlsoRevoked, len(also)))
		}
	}
	return result{"revoked", map[string]any{"tokens": revoked}, strings.Join(lines, "\n")}, err
}

// revokeOne revokes the token whose ID starts with id, and those that were created with it.
func (a *app) revokeOne(tx *store.Tx, id string) (t token, err error) {
	if len(id) < minID {
		return t, a.whichToken("%q is too short for a token's ID", id)
	}
	row, err := tx.RevokeToken(id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return t, a.whichToken("token %.12s does not exist", id)
	case errors.Is(err, store.ErrAmbiguous):
		return t, a.whichToken("more than one token starts with %s: give more of its ID", id)
	case err != nil:
		return t, err
	}
	t = toToken(row.Token)
	t.AlsoRevoked = toTokens(row.With)
	for _, audit := range request.Revocation(row.Owner, "hub", row).Rows() {
		if err := tx.Audit(audit); err != nil {
			return t, err
		}
	}
	return t, nil
}

// whichToken is the failure of a command whose argument names no token, or several.
func (a *app) whichToken(format, id string) error {
	return hint(fmt.Errorf(format, id), "list all tokens", a.line(cmdline.Hub("token", "list")))
}

// revokeAll revokes all tokens of an account and its bots, and ends the user's sessions.
func (a *app) revokeAll(ctx context.Context, user string) (result, error) {
	var done store.Revoked
	audit := store.AuditRow{Account: user, Action: "token.revoke", Object: "all"}
	err := a.write(ctx, audit, func(tx *store.Tx) (_ bool, err error) {
		done, err = tx.RevokeTokensOf(user)
		return done != store.Revoked{}, err
	})
	tokens := "tokens"
	if done.Tokens == 1 {
		tokens = "token"
	}
	text := fmt.Sprintf("Revoked %d %s of %s", done.Tokens, tokens, user)
	if done.Sessions > 0 {
		text += fmt.Sprintf("\nEnded sessions: %d", done.Sessions)
	}
	members := map[string]any{"user": user, "count": done.Tokens, "sessions": done.Sessions}
	return result{"revoked", members, text}, err
}
