package hubclient

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Limits returns the limits that the hub publishes in its OpenAPI description.
func (c *Client) Limits(ctx context.Context) (wire.Limits, error) {
	description, err := result[wire.Description](ctx, c, to(wire.OpOpenAPI, ref.Ref{}))
	return description.Info.Limits, err
}

// FileSchemaURL returns the address of the JSON Schema of a file in .tool on the hub at origin.
func FileSchemaURL(origin, name string) string {
	return origin + wire.OpGetFileSchema.Endpoint().Expand(name)
}

// Whoami returns the owner, the scopes and the roles of the token.
func (c *Client) Whoami(ctx context.Context) (*wire.Whoami, error) {
	return result[wire.Whoami](ctx, c, to(wire.OpWhoami, ref.Ref{}))
}

// CreateToken creates a token of the caller. It is sent once, since the hub would create
// another one: after a lost response there may be a token that nobody knows.
func (c *Client) CreateToken(ctx context.Context, token wire.CreateToken) (*wire.CreatedToken, error) {
	return result[wire.CreatedToken](ctx, c, to(wire.OpCreateToken, ref.Ref{}).json(token))
}

// Tokens returns the valid tokens of the caller, without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]wire.TokenInfo, error) {
	all, err := result[wire.Tokens](ctx, c, to(wire.OpListTokens, ref.Ref{}))
	return all.Tokens, err
}

// RevokeToken revokes the token of the caller with this ID, or the client's own with
// [wire.TokenSelf]. It is not an error if that is revoked already; of the client's own
// token, ID and Name are then empty.
func (c *Client) RevokeToken(ctx context.Context, id string) (*wire.RevokedToken, error) {
	revoked, err := result[wire.RevokedToken](ctx, c, to(wire.OpRevokeToken, ref.Ref{}, id))
	if id == wire.TokenSelf && HasCode(err, wire.CodeTokenRevoked) {
		return &wire.RevokedToken{Self: true}, nil
	}
	if err == nil && id != wire.TokenSelf && revoked.ID != id {
		return nil, c.notAHub(http.StatusOK, "it revoked another token")
	}
	return revoked, err
}

// StartDevice asks for a token that a user approves in a browser. client is what the
// caller is called there. The page is the hub's own: with that of another one, which it asks
// in our place, the hub would get the token that a user approves there.
func (c *Client) StartDevice(ctx context.Context, client string) (*wire.Device, error) {
	d, err := result[wire.Device](ctx, c, to(wire.OpStartDevice, ref.Ref{}).json(wire.StartDevice{Client: client}))
	if err != nil {
		return nil, err
	}
	d.VerificationURIComplete = cmp.Or(d.VerificationURIComplete, d.VerificationURI)
	return d, CheckPage(c.Origin(), d.VerificationURIComplete)
}

// DeviceToken returns the token that was approved. Until then the error is
// authorization_pending; it is access_denied or expired_token if there will be none.
func (c *Client) DeviceToken(ctx context.Context, deviceCode string) (*wire.DeviceToken, error) {
	r := to(wire.OpDeviceToken, ref.Ref{}).json(wire.DeviceCode{DeviceCode: deviceCode})
	return result[wire.DeviceToken](ctx, c, r)
}

// CreateLink returns a link that signs a browser in with the rights of the token, once
// and within a minute, and opens page, a path of the hub.
func (c *Client) CreateLink(ctx context.Context, page string) (*wire.Link, error) {
	return result[wire.Link](ctx, c, to(wire.OpCreateLink, ref.Ref{}).json(wire.CreateLink{Page: page}))
}

// Members returns the members of the org account.
func (c *Client) Members(ctx context.Context, account string) ([]wire.Member, error) {
	return listAll(ctx, c, wire.OpListMembers, account, func(p *wire.Members) ([]wire.Member, string) {
		return p.Members, p.NextCursor
	})
}

// SetMember gives the member user of the org account another role. The error is not_found
// if the user is no member, and last_admin if the org would have no admin left.
func (c *Client) SetMember(ctx context.Context, account, user string, role wire.Role) (*wire.Member, error) {
	r := to(wire.OpSetMember, ref.Ref{}, account, user).json(wire.SetMember{Role: role})
	m, err := result[wire.Member](ctx, c, r)
	if err == nil && *m != (wire.Member{User: user, Role: role}) {
		return nil, c.notAHub(http.StatusOK, "it describes another member or role")
	}
	return m, err
}

// RemoveMember removes user from the org account. It is not an error if the user is no
// member; it is last_admin if the org would have no admin left.
func (c *Client) RemoveMember(ctx context.Context, account, user string) (*wire.RemovedMember, error) {
	m, err := result[wire.RemovedMember](ctx, c, to(wire.OpRemoveMember, ref.Ref{}, account, user))
	if err == nil && (m.Account != account || m.User != user) {
		return nil, c.notAHub(http.StatusOK, "it describes another member")
	}
	return m, err
}

// CreateInvitation returns a link that gives one person a role on the org account within a day.
func (c *Client) CreateInvitation(ctx context.Context, account string, role wire.Role) (*wire.Link, error) {
	r := to(wire.OpCreateInvitation, ref.Ref{}).json(wire.CreateInvitation{Account: account, Role: role})
	return result[wire.Link](ctx, c, r)
}

// Bots returns the bots of account, by default of the caller's own.
func (c *Client) Bots(ctx context.Context, account string) ([]wire.Bot, error) {
	return listAll(ctx, c, wire.OpListBots, account, func(p *wire.Bots) ([]wire.Bot, string) {
		return p.Bots, p.NextCursor
	})
}

// CreateBot creates the bot r, or returns it if it exists.
func (c *Client) CreateBot(ctx context.Context, r ref.Ref) (bot *wire.Bot, created bool, err error) {
	bot = new(wire.Bot)
	a, err := c.send(ctx, to(wire.OpPutBot, r), bot)
	if err != nil {
		return nil, false, err
	}
	return bot, a.status == http.StatusCreated, nil
}

// DeleteBot deletes the bot r and revokes its tokens. It is not an error if there is none.
func (c *Client) DeleteBot(ctx context.Context, r ref.Ref) (*wire.DeletedBot, error) {
	return result[wire.DeletedBot](ctx, c, to(wire.OpDeleteBot, r))
}

// CreateBotToken creates a token of the bot r. It is sent once, since the hub would create
// another one: after a lost response there may be a token that nobody knows.
func (c *Client) CreateBotToken(ctx context.Context, r ref.Ref, token wire.CreateBotToken) (*wire.BotToken, error) {
	return result[wire.BotToken](ctx, c, to(wire.OpCreateBotToken, r).json(token))
}

// BotTokens returns the valid tokens of the bot r, without their secrets.
func (c *Client) BotTokens(ctx context.Context, r ref.Ref) ([]wire.TokenInfo, error) {
	all, err := result[wire.BotTokens](ctx, c, to(wire.OpListBotTokens, r))
	return all.Tokens, err
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

// RateLimit returns the rate limits of a bot. Of bot, BotID or BotRefID is needed;
// Account is by default that of a BotRefID of the form @account/slug, else the caller's own.
func (c *Client) RateLimit(ctx context.Context, bot wire.Bot) (*wire.RateLimit, error) {
	return result[wire.RateLimit](ctx, c, toBot(wire.OpGetRateLimit, bot))
}

// SetRateLimit replaces all rate limits of a bot, and registers the bot if it is new. With
// a revision it replaces only limits of that revision. For bot see [Client.RateLimit].
func (c *Client) SetRateLimit(
	ctx context.Context, bot wire.Bot, limits wire.RateLimitConfig, revision string,
) (*wire.RateLimit, error) {
	return result[wire.RateLimit](ctx, c, toBot(wire.OpSetRateLimit, bot).match(revision).json(limits))
}

func toBot(op wire.Op, bot wire.Bot) *request {
	return to(op, ref.Ref{}).query(url.Values{
		"account": {bot.Account}, "botId": {bot.BotID}, "botRefId": {bot.BotRefID},
	})
}
