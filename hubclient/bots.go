package hubclient

import (
	"context"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Bots returns the bots of account, by default of the caller's own.
func (c *Client) Bots(ctx context.Context, account string) ([]wire.Bot, error) {
	return readPages(ctx, c, wire.OpListBots, account, func(p *wire.Bots) ([]wire.Bot, string) { return p.Bots, p.NextCursor })
}

// CreateBot creates the bot r, or returns it if it exists.
func (c *Client) CreateBot(ctx context.Context, r ref.Ref) (bot *wire.Bot, created bool, err error) {
	bot = &wire.Bot{}
	a, err := c.send(ctx, to(wire.OpPutBot, r), bot)
	if err != nil {
		return nil, false, err
	}
	return bot, a.status == 201, nil
}

// CreateBotToken creates a token of the bot r. It is sent once, since the hub would create
// another one: after a lost response there may be a token that nobody knows.
func (c *Client) CreateBotToken(ctx context.Context, r ref.Ref, token wire.CreateBotToken) (*wire.BotToken, error) {
	req := to(wire.OpCreateBotToken, r)
	if err := req.jsonBody(token); err != nil {
		return nil, err
	}
	return result[wire.BotToken](ctx, c, req)
}

// BotTokens returns the valid tokens of the bot r, without their secrets.
func (c *Client) BotTokens(ctx context.Context, r ref.Ref) ([]wire.TokenInfo, error) {
	all, err := result[wire.BotTokens](ctx, c, to(wire.OpListBotTokens, r))
	if err != nil {
		return nil, err
	}
	return all.Tokens, nil
}

// RevokeBotToken revokes the token of the bot r with this ID. It is not an error if that
// is revoked already.
func (c *Client) RevokeBotToken(ctx context.Context, r ref.Ref, id string) (*wire.RevokedBotToken, error) {
	revoked, err := result[wire.RevokedBotToken](ctx, c, to(wire.OpRevokeBotToken, r, id))
	if err == nil && revoked.ID != id {
		return nil, c.notAHub(http.StatusOK, "it revoked another token")
	}
	return revoked, err
}

// BotDeletion is the outcome of DeleteBot.
type BotDeletion struct {
	wire.DeletedBot
	Ambiguous bool // an attempt without a response may have deleted it
}

// DeleteBot deletes the bot r and revokes its tokens. It is not an error if there is none.
func (c *Client) DeleteBot(ctx context.Context, r ref.Ref) (*BotDeletion, error) {
	var d BotDeletion
	a, err := c.send(ctx, to(wire.OpDeleteBot, r), &d.DeletedBot)
	d.Ambiguous = err == nil && a.lost && !d.Existed
	return &d, err
}
