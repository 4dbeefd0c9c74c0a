package api

import (
	"errors"
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

func listBots(c *request.Call, page pageQuery) error {
	after, ok := strings.CutPrefix(page.cursor, "after:")
	if page.cursor != "" && !ok {
		return invalidCursor()
	}
	bots, err := c.View().Bots(c.Access.AccountID, after, page.limit+1)
	if err != nil {
		return err
	}
	var answer wire.Bots
	cursor := func(b *store.Bot) string { return "after:" + b.Name() }
	answer.Bots, answer.NextCursor = pageOf(bots, page.limit, toBot, cursor)
	return c.JSON(http.StatusOK, answer)
}

// putBot creates a bot that can have tokens. One that exists only by its rate limits becomes such a bot.
func putBot(c *request.Call) error {
	name, by := c.Ref().String(), c.Access.Name()
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		bot, err := tx.LockBot(c.Access.AccountID, "", name)
		if err == nil {
			return done.With(http.StatusOK, toBot(bot)), tx.AdoptBot(bot.ID, by)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return done, err
		}
		bot = &store.Bot{
			AccountID: c.Access.AccountID, Account: c.Ref().Account(), BotRefID: name, CreatedBy: by, UpdatedBy: by,
		}
		return c.Did("bot.create", "").With(http.StatusCreated, toBot(bot)), tx.AddBot(bot)
	})
}

// deleteBot deletes a bot and its tokens. It succeeds also if the bot does not exist.
func deleteBot(c *request.Call) error {
	name := c.Ref().String()
	return c.Write(func(tx *store.Tx) (done request.Done, err error) {
		answer := wire.DeletedBot{Bot: name}
		bot, err := tx.LockBot(c.Access.AccountID, "", name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return done, err
		}
		if err == nil {
			done, answer.Existed = c.Did("bot.delete", ""), true
			if answer.Revoked, err = tx.DeleteBot(bot); err != nil {
				return done, err
			}
		}
		return done.With(http.StatusOK, answer), nil
	})
}

// pathBot returns the bot that the path names, 404 if it does not exist. find is [store.View.Bot] or
// [store.Tx.LockBot].
func pathBot(c *request.Call, find func(account int64, id, refID string) (*store.Bot, error)) (*store.Bot, error) {
	name := c.Ref().String()
	bot, err := find(c.Access.AccountID, "", name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, request.NotFound("bot " + name)
	}
	return bot, err
}

func toBot(b *store.Bot) wire.Bot {
	return wire.Bot{Account: b.Account, BotID: b.BotID, BotRefID: b.BotRefID}
}
