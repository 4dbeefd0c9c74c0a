package hubclient

import (
	"context"
	"net/url"
	"strconv"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// RateLimit returns the rate limits of a bot. Of bot, BotID or BotRefID is needed;
// Account is by default that of a BotRefID of the form @account/slug, else the caller's own.
func (c *Client) RateLimit(ctx context.Context, bot wire.Bot) (*wire.RateLimit, error) {
	return result[wire.RateLimit](ctx, c, toBot(wire.OpGetRateLimit, bot))
}

// SetRateLimit replaces all rate limits of a bot, and registers the bot if it is new. With
// a revision it replaces only limits of that revision. For bot see [Client.RateLimit].
func (c *Client) SetRateLimit(ctx context.Context, bot wire.Bot, limits wire.RateLimitConfig, revision string) (*wire.RateLimit, error) {
	r := toBot(wire.OpSetRateLimit, bot)
	if revision != "" {
		r.set("If-Match", `"`+revision+`"`)
	}
	if err := r.jsonBody(limits); err != nil {
		return nil, err
	}
	return result[wire.RateLimit](ctx, c, r)
}

// TakeRateLimit counts n requests of a bot against its limits. The error is rate_limited
// when they do not admit them, and [Error.After] says when they may. It is sent once, since
// the hub would count it again: after a lost response the requests may have been counted.
func (c *Client) TakeRateLimit(ctx context.Context, bot wire.Bot, n int64) (*wire.Taken, error) {
	r := to(wire.OpTakeRateLimit, ref.Ref{})
	r.query(url.Values{"account": {bot.Account}, "botId": {bot.BotID}, "botRefId": {bot.BotRefID}, "n": {strconv.FormatInt(n, 10)}})
	return result[wire.Taken](ctx, c, r)
}

func toBot(op wire.Op, bot wire.Bot) request {
	r := to(op, ref.Ref{})
	r.query(url.Values{"account": {bot.Account}, "botId": {bot.BotID}, "botRefId": {bot.BotRefID}})
	return r
}
