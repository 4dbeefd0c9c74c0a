package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// createToken creates a token of the caller, which is revoked when the token of the request is.
func createToken(c *request.Call, req *wire.CreateToken) error {
	secret, token, err := newToken(c, req.Name, req.Scopes)
	if err != nil {
		return err
	}
	if token.Only, err = restriction(c, req.Restriction); err != nil {
		return err
	}
	token.AccountID, token.Owner, token.ParentID = c.Access.Caller.AccountID, c.Access.Account, c.Access.TokenID
	return c.Write(func(tx *store.Tx) (request.Done, error) {
		t := token // a copy, because this may run again
		err := mint(c, tx, &t, t.Owner, req.Lifetime)
		created := wire.CreatedToken{TokenInfo: toTokenInfo(&t), Token: secret}
		done := request.Done{Account: t.Owner, Action: "token.create", Object: t.ShortID(), Detail: t.Scopes}
		return done.With(http.StatusCreated, created), err
	})
}

// createBotToken creates a token of the bot that the path names.
func createBotToken(c *request.Call, req *wire.CreateBotToken) error {
	secret, token, err := newToken(c, req.Name, req.Scopes)
	if err != nil {
		return err
	}
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		bot, err := pathBot(c, tx.LockBot)
		if err != nil {
			return done, err
		}
		t := token // a copy, because this may run again
		t.AccountID, t.BotID = bot.AccountID, bot.ID
		if err := mint(c, tx, &t, bot.BotRefID, req.Lifetime); err != nil {
			return done, err
		}
		created := wire.BotToken{
			Bot: bot.BotRefID, ID: t.ShortID(), Name: t.Name, Token: secret, Scopes: request.ScopesIn(t.Scopes),
			ExpiresAt: orNever(t.ExpiresAt),
		}
		done = request.Done{
			Account: bot.Account, Action: "token.create", Object: t.ShortID(), Detail: bot.BotRefID + " " + t.Scopes,
		}
		return done.With(http.StatusCreated, created), tx.AdoptBot(bot.ID, c.Access.Name())
	})
}

// newToken returns the secret of a token that the caller creates, and its row, which is not stored yet. It fails with a
// 403 if the caller may create no tokens or lacks a scope, and with a 422 if the name is invalid or a scope unknown.
func newToken(c *request.Call, name string, scopes []wire.Scope) (secret string, t store.Token, err error) {
	if err := cmp.Or(c.NeedTokens(), request.CheckName(name)); err != nil {
		return "", t, err
	}
	if t.Scopes, err = c.OwnScopes(scopes); err != nil {
		return "", t, err
	}
	secret = pat.New()
	t.Hash, t.Shown, t.Name = pat.Hash(secret), pat.Shown(secret), name
	return secret, t, nil
}

// mint stores a token that the caller creates, with the end of a lifetime, see [request.Call.TokenEnd]. Messages call
// its user or bot owner.
func mint(c *request.Call, tx *store.Tx, t *store.Token, owner, lifetime string) (err error) {
	if t.ExpiresAt, err = c.TokenEnd(lifetime, tx.Now()); err != nil {
		return err
	}
	err = tx.MintToken(t)
	switch {
	case errors.Is(err, store.ErrTooMany):
		return request.InvalidBody("", "%s has too many tokens: revoke some", owner)
	case errors.Is(err, store.ErrRevoked):
		return request.Unauthorized(wire.CodeTokenRevoked, "the token was revoked")
	case errors.Is(err, store.ErrNotFound):
		return request.InvalidBody("/project", "there is no project %s", t.Only)
	}
	return err
}

// restriction returns what a new token is restricted to: 422 if that is invalid, 403 if the caller has no role there.
func restriction(c *request.Call, asked wire.Restriction) (only store.Restriction, err error) {
	account := cmp.Or(asked.Account, asked.Project.Account())
	switch {
	case account == "":
		return only, nil
	case asked.Account != "" && !asked.Project.IsZero():
		return only, request.InvalidBody("/project", "give an account or a project, not both")
	case !ref.ValidName(account):
		return only, request.InvalidBody("/account", "an account is %s", ref.Rule)
	}
	query := store.AccessQuery{Account: account}
	if !asked.Project.IsZero() {
		query.Kind, query.Slug = store.KindProject, asked.Project.Slug()
	}
	found, err := c.Permit(query, wire.Reader, "")
	if err != nil {
		return only, err
	}
	if query.Slug != "" && found.Resource.ID == 0 {
		return only, request.InvalidBody("/project", "there is no project %s", asked.Project)
	}
	return store.Restriction{
		AccountID: found.AccountID, ResourceID: found.Resource.ID, Account: account, Slug: found.Resource.Slug,
	}, nil
}

// listTokens responds with the valid tokens of the caller, and of the bots of the caller's account. A restricted token
// sees only those that are restricted at least as much.
func listTokens(c *request.Call) error {
	if err := c.NeedUser("list tokens"); err != nil {
		return err
	}
	tokens, err := c.View().ValidTokens(c.Access.Caller.AccountID)
	if err != nil {
		return err
	}
	answer := wire.Tokens{Tokens: []wire.TokenInfo{}}
	for i := range tokens {
		if !c.Access.Only.Allows(tokens[i].Only) {
			continue
		}
		info := toTokenInfo(&tokens[i])
		info.Self = c.Access.Session == 0 && tokens[i].ID == c.Access.TokenID
		answer.Tokens = append(answer.Tokens, info)
	}
	return c.JSON(http.StatusOK, answer)
}

func listBotTokens(c *request.Call) error {
	bot, err := pathBot(c, c.View().Bot)
	if err != nil {
		return err
	}
	tokens, err := c.View().BotTokens(bot.ID)
	if err != nil {
		return err
	}
	answer := wire.BotTokens{Bot: bot.BotRefID, Tokens: []wire.TokenInfo{}}
	for i := range tokens {
		tokens[i].BotRefID = "" // the answer names it
		answer.Tokens = append(answer.Tokens, toTokenInfo(&tokens[i]))
	}
	return c.JSON(http.StatusOK, answer)
}

// shortID is the length of the ID of a token, the first part of its hash.
const shortID = 12

// revokeToken revokes a token of the caller, by its ID, and those that were created with it. The token of the request
// needs no scope. It succeeds also if the token is revoked already.
func revokeToken(c *request.Call) error {
	id, own := c.Param("id"), c.Access.Hash[:shortID]
	self := c.Access.Session == 0 && (id == wire.TokenSelf || id == own)
	if self {
		id = own
	} else if err := c.NeedUser("revoke other tokens"); err != nil {
		return err
	}
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		token, err := tx.TokenOf(c.Access.Caller.AccountID, id)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !c.Access.Only.Allows(token.Only):
			if err = c.NeedScope(wire.ScopeAdminResource); err == nil { // as MayRevoke of one that exists
				err = noSuchToken(id, c.Access.Name())
			}
		case err == nil && !self:
			err = c.MayRevoke(token.Scopes)
		}
		if err != nil {
			return done, err
		}
		revoked, err := tx.RevokeToken(token.Hash)
		if err != nil {
			return done, err
		}
		answer := wire.RevokedToken{ID: revoked.ShortID(), Name: revoked.Name, Self: self}
		for _, t := range revoked.With {
			answer.AlsoRevoked = append(answer.AlsoRevoked, wire.TokenName{ID: t.ShortID(), Name: t.Name})
		}
		return request.Revocation(c.Access.Account, "", revoked).With(http.StatusOK, answer), nil
	})
}

// revokeBotToken revokes a token of a bot. It succeeds also if the token is revoked already.
func revokeBotToken(c *request.Call) error {
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		bot, err := pathBot(c, tx.Bot)
		if err != nil {
			return done, err
		}
		token, err := tx.TokenOf(bot.AccountID, c.Param("id"))
		if errors.Is(err, store.ErrNotFound) || err == nil && token.BotID != bot.ID {
			return done, noSuchToken(c.Param("id"), bot.BotRefID)
		}
		if err != nil {
			return done, err
		}
		revoked, err := tx.RevokeToken(token.Hash)
		if err != nil {
			return done, err
		}
		answer := wire.RevokedBotToken{Bot: bot.BotRefID, ID: revoked.ShortID(), Name: revoked.Name}
		done = request.Revocation(bot.Account, "", revoked)
		done.Detail = bot.BotRefID
		return done.With(http.StatusOK, answer), nil
	})
}

// endSession ends a session of the caller, by its ID. It succeeds also if the session has ended already.
func endSession(c *request.Call) error {
	id := c.Param("id")
	if err := c.NeedUser("end sessions"); err != nil {
		return err
	}
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		answer := wire.EndedSession{ID: id}
		all, err := tx.Sessions(c.Access.Caller.AccountID)
		if err != nil {
			return done, err
		}
		i := slices.IndexFunc(all, func(s store.Session) bool { return s.ShortID() == id && c.Access.Only.Allows(s.Only) })
		if i >= 0 {
			if err := c.MayRevoke(all[i].Scopes); err != nil {
				return done, err
			}
			done = request.Done{Account: c.Access.Account, Action: "session.end", Object: id}
			if answer.Existed, err = tx.EndSession(all[i].Hash); err != nil {
				return done, err
			}
		}
		return done.With(http.StatusOK, answer), nil
	})
}

func noSuchToken(id, owner string) error {
	return request.NotFound(fmt.Sprintf("token %.12s of %s", id, owner))
}

func toTokenInfo(t *store.Token) wire.TokenInfo {
	return wire.TokenInfo{
		ID: t.ShortID(), Name: t.Name, Shown: t.Shown, Scopes: request.ScopesIn(t.Scopes), CreatedAt: t.CreatedAt.Time(),
		ExpiresAt: orNever(t.ExpiresAt), LastUsedAt: orNever(t.UsedAt), Bot: t.BotRefID, Restriction: toRestriction(t.Only),
	}
}

func toRestriction(r store.Restriction) wire.Restriction {
	if r.ResourceID == 0 {
		return wire.Restriction{Account: r.Account}
	}
	return wire.Restriction{Project: refOf(r.Account, r.Slug)}
}

// orNever returns nil for a time that is not set.
func orNever(t store.Time) *time.Time {
	if t == 0 {
		return nil
	}
	return new(t.Time())
}
