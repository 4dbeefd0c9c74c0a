package hubserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// listBotTokens lists the valid tokens of a bot.
func (s *Server) listBotTokens(c *call) error {
	name := c.ref()
	tokens, err := lookUp(c, func(v *store.View) ([]store.Token, error) {
		bot, err := v.Bot(c.ctx(), name)
		if err != nil {
			return nil, err
		}
		return v.BotTokens(c.ctx(), bot)
	})
	if err != nil {
		return absent(err, "bot "+name.String())
	}
	answer := wire.BotTokens{Bot: name.String(), Tokens: []wire.TokenInfo{}}
	for i := range tokens {
		answer.Tokens = append(answer.Tokens, toTokenInfo(&tokens[i]))
	}
	return c.json(http.StatusOK, answer)
}

// revokeBotToken revokes a token of a bot. It is not a failure if that is revoked already.
func (s *Server) revokeBotToken(c *call) error {
	name, id := c.ref(), c.params.ByName("id")
	c.changesRights = []string{name.Account()}
	var token *store.RevokedToken
	err := c.transact(c.ctx(), func(tx *store.Tx) error {
		bot, err := tx.Bot(c.ctx(), name)
		if err != nil {
			return absent(err, "bot "+name.String())
		}
		if token, err = tx.RevokeBotToken(c.ctx(), bot, id); err != nil {
			return absent(err, fmt.Sprintf("token %.12s of %s", id, name))
		}
		return c.audit(c.ctx(), tx, name.Account(), "token.revoke", token.ID(), name.String())
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, wire.RevokedBotToken{Bot: name.String(), ID: token.ID(), Name: token.Name})
}

// createBotToken creates a token of a bot, which has no more scopes than the caller's own
// and lives no longer.
func (s *Server) createBotToken(c *call) error {
	var req wire.CreateBotToken
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if err := checkTokenName(req.Name); err != nil {
		return err
	}
	if err := c.needUnrestricted("creates no tokens"); err != nil {
		return err
	}
	scopes, err := c.ownScopes(req.Scopes)
	if err != nil {
		return err
	}
	name, secret := c.ref(), pat.New()
	token := &store.Token{Hash: pat.Hash(secret), Shown: pat.Shown(secret), Name: req.Name, Owner: name.Account(), Scopes: strings.Join(scopes, " ")}
	err = c.transact(c.ctx(), func(tx *store.Tx) error { return c.mintForBot(c.ctx(), tx, name, token, req.Lifetime) })
	if errors.Is(err, store.ErrTooMany) {
		return tooManyTokens(name.String())
	}
	if err != nil {
		return absent(err, "bot "+name.String())
	}
	answer := wire.BotToken{Bot: name.String(), ID: token.ID(), Name: token.Name, Token: secret, Scopes: toScopes(token)}
	answer.ExpiresAt = orNever(token.ExpiresAt)
	return c.json(http.StatusCreated, answer)
}

func (c *call) mintForBot(ctx context.Context, tx *store.Tx, name ref.Ref, token *store.Token, lifetime string) error {
	bot, err := tx.RateLimit(ctx, name.Account(), "", name.String())
	if err != nil {
		return err
	}
	token.Bot = bot.ID
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if token.ExpiresAt, err = c.ownLifetime(lifetime, now); err != nil {
		return err
	}
	if err := tx.MintToken(ctx, token, ""); err != nil {
		return err
	}
	return c.audit(ctx, tx, name.Account(), "token.create", token.ID(), name.String()+" "+token.Scopes)
}

// ownScopes returns scopes without repetitions. The caller must have them.
func (c *call) ownScopes(scopes []wire.Scope) (names []string, err error) {
	for _, scope := range scopes {
		if !slices.Contains(wire.Scopes, scope) {
			return nil, invalidBody("/scopes", "there is no scope %q", scope)
		}
		if err := c.needScope(scope); err != nil {
			return nil, err
		}
		names = append(names, string(scope))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

const defaultLifetime = "90d"

// ownLifetime returns when a token expires that lives for a lifetime, "" for the default,
// 0 for never. It may not outlive the caller's own.
func (c *call) ownLifetime(lifetime string, now store.Time) (store.Time, error) {
	life, err := pat.ParseLifetime(cmp.Or(lifetime, defaultLifetime))
	if err != nil {
		return 0, invalidBody("/lifetime", "%v", err)
	}
	end := c.who.tokenEnds()
	var ends store.Time
	if life > 0 {
		ends = now + store.Time(life/time.Microsecond)
	}
	switch {
	case end == 0 || ends != 0 && ends <= end:
		return ends, nil
	case lifetime == "":
		return end, nil
	}
	return 0, problemf(http.StatusForbidden, wire.CodeNotPermitted, "the token would outlive the one of this request, which expires on %s", formatTime(end.Time())).
		hint("give a shorter lifetime, or leave it out: the token then expires no later")
}

// tokenEnds is when the token of the request, or the one behind the session, expires; 0:
// never.
func (w *caller) tokenEnds() store.Time {
	if w.session != nil {
		return w.session.TokenEnds
	}
	return w.token.ExpiresAt
}
