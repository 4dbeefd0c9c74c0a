package hubclient

import (
	"context"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// RateLimit returns the rate limits of a bot. Of bot, BotID or BotRefID is needed;
// Account is by default that of a BotRefID of the form @account/slug, else the caller's own.
func (c *Client) RateLimit(ctx context.Context, bot wire.Bot) (*wire.RateLimit, error) {
	return c.rateLimit(ctx, toBot(wire.OpGetRateLimit, bot))
}

// SetRateLimit replaces all rate limits of a bot, and registers the bot if it is new.
// For bot see [Client.RateLimit].
func (c *Client) SetRateLimit(ctx context.Context, bot wire.Bot, limits wire.RateLimitConfig) (*wire.RateLimit, error) {
	r := toBot(wire.OpSetRateLimit, bot)
	if err := r.jsonBody(limits); err != nil {
		return nil, err
	}
	return c.rateLimit(ctx, r)
}

func toBot(op wire.Op, bot wire.Bot) request {
	r := to(op, ref.Ref{})
	r.query(url.Values{"account": {bot.Account}, "botId": {bot.BotID}, "botRefId": {bot.BotRefID}})
	return r
}

func (c *Client) rateLimit(ctx context.Context, r request) (*wire.RateLimit, error) {
	var limit wire.RateLimit
	_, err := c.send(ctx, r, &limit)
	return &limit, err
}
