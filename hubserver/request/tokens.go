package request

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// One rule for tokens, of users and of bots, in the API and on pages: a token has no more scopes than what creates
// it, and lives no longer; a caller with all scopes of a token or session, or admin:resource, may revoke it.

// Bearer returns the owner of a token that is sent elsewhere than in the Authorization header, a 401 if it is invalid.
func (c *Call) Bearer(token string) (*store.Access, error) {
	return lookUp(c.View(), store.Ask{Token: pat.Hash(token)})
}

// NeedTokens refuses callers who cannot create tokens: bots, and those whose token is restricted or can only read.
func (c *Call) NeedTokens() error {
	if err := c.NeedUser("create tokens"); err != nil {
		return err
	}
	session, restricted := c.Access.Session != 0, c.Access.Only.AccountID != 0
	switch {
	case session && restricted:
		return Problemf(http.StatusForbidden, wire.CodeNotPermitted,
			"this session is restricted to %s: it creates no tokens", c.Access.Only)
	case session && len(c.Scopes()) == 0:
		return Problemf(http.StatusForbidden, wire.CodeMissingScope, "this session can only read: it creates no tokens")
	case len(c.Scopes()) == 0 && !restricted:
		return Problemf(http.StatusForbidden, wire.CodeMissingScope, "the token has no scope, so that it can only read")
	}
	return c.NeedUnrestricted("creates no tokens")
}

// NewToken returns a token, and the row of it, whose scopes the caller has.
func (c *Call) NewToken(name string, scopes []wire.Scope) (secret string, t store.Token, err error) {
	if err := CheckName(name); err != nil {
		return "", t, err
	}
	if t.Scopes, err = c.OwnScopes(scopes); err != nil {
		return "", t, err
	}
	secret = pat.New()
	t.Hash, t.Shown, t.Name = pat.Hash(secret), pat.Shown(secret), name
	return secret, t, nil
}

// OwnScopes returns scopes as a row has them. The caller must have them.
func (c *Call) OwnScopes(scopes []wire.Scope) (string, error) {
	var names []string
	for _, scope := range scopes {
		if !slices.Contains(wire.Scopes, scope) {
			return "", InvalidBody("/scopes", "there is no scope %q", scope)
		}
		if err := c.NeedScope(scope); err != nil {
			return "", err
		}
		names = append(names, string(scope))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), nil
}

// maxName bounds the name of a token, in characters.
const maxName = 128

// CheckName refuses a name of a token that lists could not show as it is.
func CheckName(name string) error {
	printable := !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName || !printable {
		return InvalidBody("/name", "a name has 1 to %d printable characters", maxName)
	}
	return nil
}

const defaultLifetime = "90d"

// TokenEnd returns when a token expires that lives for a lifetime from now on, "" for the default; 0: never. It may
// not outlive the caller's own.
func (c *Call) TokenEnd(lifetime string, now store.Time) (ends store.Time, err error) {
	life, err := pat.ParseLifetime(cmp.Or(lifetime, defaultLifetime))
	if err != nil {
		return 0, InvalidBody("/lifetime", "%v", err)
	}
	if life > 0 {
		ends = now.Add(life)
	}
	own := c.Access.TokenEnds
	if own == 0 || ends != 0 && ends <= own {
		return ends, nil
	}
	if lifetime == "" {
		return own, nil
	}
	return 0, Problemf(http.StatusForbidden, wire.CodeNotPermitted,
		"the token would outlive the one of this request, which expires on %s", FormatTime(own.Time())).
		WithHint("give a shorter lifetime, or leave it out: the token then expires no later")
}

// Mint stores a token that the caller creates, of the user or bot that people know as owner.
func (c *Call) Mint(tx *store.Tx, t *store.Token, owner string) error {
	err := tx.MintToken(t)
	switch {
	case errors.Is(err, store.ErrTooMany):
		return InvalidBody("", "%s has too many tokens: revoke some", owner)
	case errors.Is(err, store.ErrRevoked):
		return Unauthorized(wire.CodeTokenRevoked, "the token was revoked")
	case errors.Is(err, store.ErrNotFound):
		return InvalidBody("/project", "there is no project %s", t.Only)
	}
	return err
}

// MayRevoke refuses to end a token or a session with a scope that the caller lacks, unless the caller has
// admin:resource: a token that can only read could revoke all others.
func (c *Call) MayRevoke(scopes []string) error {
	for _, scope := range scopes {
		if !wire.HasScope(c.Scopes(), wire.Scope(scope)) {
			return c.NeedScope(wire.ScopeAdminResource)
		}
	}
	return nil
}

// Revocation returns the rows of the audit log about a token of an account that was revoked, and those that ended with
// it. Without an actor it was the caller.
func Revocation(account, actor string, t *store.RevokedToken) Done {
	done := Done{Account: account, Actor: actor, Action: "token.revoke", Object: t.ShortID()}
	for _, with := range t.With {
		done.Also = append(done.Also, Done{
			Account: account, Actor: actor, Action: "token.revoke", Object: with.ShortID(),
			Detail: "revoked with " + t.ShortID(),
		})
	}
	return done
}
