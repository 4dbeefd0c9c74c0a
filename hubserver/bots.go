package hubserver

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) listBots(c *call) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	limit, err := pageLimit(q)
	if err != nil {
		return err
	}
	account := c.accountOf(wire.InQuery)
	after, ok := strings.CutPrefix(q.Get("cursor"), "after:")
	if !ok && q.Has("cursor") || len(after) > 4*2*maxBotName+1 {
		return invalidBody("", "invalid cursor: send the nextCursor of a page")
	}
	bots, err := lookUp(c, func(v *store.View) ([]store.RateLimit, error) { return v.Bots(c.ctx(), account, after, limit+1) })
	if err != nil {
		return err
	}
	answer := wire.Bots{Bots: []wire.Bot{}}
	if len(bots) > limit {
		bots = bots[:limit]
		answer.NextCursor = "after:" + bots[limit-1].Name()
	}
	for i := range bots {
		answer.Bots = append(answer.Bots, toBot(&bots[i]))
	}
	return c.json(http.StatusOK, answer)
}

// putBot creates a bot that can have tokens, unless there is one.
func (s *Server) putBot(c *call) error {
	name, status := c.ref(), http.StatusOK
	var bot *store.RateLimit
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		status = http.StatusOK
		bot, err = tx.RateLimit(c.ctx(), name.Account(), "", name.String())
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		status = http.StatusCreated
		if bot, err = tx.CreateBot(c.ctx(), name, rand.Text(), c.who.user); err != nil {
			return err
		}
		return c.audit(c.ctx(), tx, name.Account(), "bot.create", name.String(), "")
	})
	if errors.Is(err, store.ErrExists) { // another request has just created it
		bot, err = c.findBot(wire.Bot{Account: name.Account(), BotRefID: name.String()})
		status = http.StatusOK
	}
	if err != nil {
		return absent(err, "account "+name.Account())
	}
	return c.json(status, toBot(bot))
}

// deleteBot deletes a bot and revokes its tokens. It is not a failure if there is none.
func (s *Server) deleteBot(c *call) error {
	answer := wire.DeletedBot{Bot: c.ref().String()}
	c.changesRights = []string{c.ref().Account()}
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		answer.Revoked, err = tx.DeleteBot(c.ctx(), c.ref())
		answer.Existed = err == nil
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "bot.delete", answer.Bot, "")
	})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, answer)
}
