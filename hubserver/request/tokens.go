package request

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// One rule for tokens, of users and of bots, in the API and on pages: a token has no more scopes, and no later
// expiry, than the token or session that creates it; a caller with all scopes of a token or session, or
// admin:resource, may revoke it.

// Bearer returns the owner of a token that was sent in another place than the Authorization header, such as a form. It
// fails with a 401 if the token is invalid.
func (c *Call) Bearer(token string) (*store.Access, error) {
	return lookUp(c.View().Access, store.AccessQuery{Token: pat.Hash(token)})
}

// NeedTokens returns a 403 for callers who cannot create tokens: bots, and those whose token is restricted or can only
// read.
func (c *Call) NeedTokens() error {
	if err := c.NeedUser("create tokens"); err != nil {
		return err
	}
	session, restricted := c.Access.Session != 0, c.Access.Only.AccountID != 0
	switch {
	case session && restricted:
		return Forbidden("this session is restricted to %s: it creates no tokens", c.Access.Only)
	case session && len(c.Scopes()) == 0:
		return Problemf(http.StatusForbidden, wire.CodeMissingScope, "this session can only read: it creates no tokens")
	case len(c.Scopes()) == 0 && !restricted:
		return Problemf(http.StatusForbidden, wire.CodeMissingScope, "the token has no scope, so that it can only read")
	}
	return c.NeedUnrestricted("creates no tokens")
}

// ScopesIn returns the scopes in a row of the store, where spaces separate them.
func ScopesIn(row string) []wire.Scope {
	scopes := []wire.Scope{}
	for scope := range strings.FieldsSeq(row) {
		scopes = append(scopes, wire.Scope(scope))
	}
	return scopes
}

// JoinScopes is the reverse of ScopesIn.
func JoinScopes(scopes []wire.Scope) string {
	var row strings.Builder
	for _, scope := range scopes {
		row.WriteString(" " + string(scope))
	}
	return strings.TrimPrefix(row.String(), " ")
}

// OwnScopes returns scopes in the form of a row, sorted: 403 if the caller lacks one.
func (c *Call) OwnScopes(scopes []wire.Scope) (string, error) {
	for _, scope := range scopes {
		if !slices.Contains(wire.Scopes, scope) {
			return "", InvalidBody("/scopes", "unknown scope %q", scope)
		}
		if err := c.NeedScope(scope); err != nil {
			return "", err
		}
	}
	return JoinScopes(slices.Compact(slices.Sorted(slices.Values(scopes)))), nil
}

// maxName bounds the name of a token, in characters.
const maxName = 128

// CheckName returns a 422 unless a token's name has 1 to 128 characters, printable ones and those that join them.
func CheckName(name string) error {
	printable := !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) && !joins(r) })
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName || !printable {
		return InvalidBody("/name", "a name has 1 to %d printable characters", maxName)
	}
	return nil
}

// joins reports whether r joins or separates the letters next to it, as in many emoji and in several scripts.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// defaultLifetime is how long a token lives if the request does not say.
const defaultLifetime = "90d"

// TokenEnd returns when a new token expires, 0 for never. A lifetime is text such as 90d; "" is the default, or what is
// left of the caller's own token, if that is shorter. A lifetime beyond the caller's own is a 403.
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
	return 0, Forbidden("the token would outlive this request's token, which expires on %s", FormatTime(own.Time())).
		WithHint("give a shorter lifetime, or leave it out: the token then expires no later")
}

// MayRevoke returns a 403 if the token or session to revoke has a scope that the caller lacks, unless the caller has
// admin:resource. Otherwise a token that can only read could revoke all others.
func (c *Call) MayRevoke(scopes string) error {
	for _, scope := range ScopesIn(scopes) {
		if !wire.HasScope(c.Scopes(), scope) {
			return c.NeedScope(wire.ScopeAdminResource)
		}
	}
	return nil
}

// Revocation returns the rows of the audit log about a revoked token of an account, and the tokens that were revoked
// with it. The token itself has none if it was revoked before. The actor is the user who did it, "" for the caller.
func Revocation(account, actor string, t *store.RevokedToken) (done Done) {
	if !t.WasRevoked {
		done = Done{Account: account, Actor: actor, Action: "token.revoke", Object: t.ShortID()}
	}
	for _, with := range t.With {
		done.Also = append(done.Also, Done{
			Account: account, Actor: actor, Action: "token.revoke", Object: with.ShortID(),
			Detail: "revoked with " + t.ShortID(),
		})
	}
	return done
}
