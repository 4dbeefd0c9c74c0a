package store

import (
	"context"

	"example.com/projecthub/hubclient/ref"
)

// CreateBot registers a bot without limits; ErrExists when there is one.
func (tx *Tx) CreateBot(ctx context.Context, bot ref.Ref, id, by string) (*RateLimit, error) {
	if _, err := tx.needAccount(ctx, bot.Account()); err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	row := &RateLimit{Account: bot.Account(), ID: id, BotRefID: bot.String(), UpdatedAt: now, UpdatedBy: by}
	_, err = tx.db.NewInsert().Model(row).Exec(ctx)
	return row, wrap(err)
}

// Bots returns at most n bots of an account after the one with a [RateLimit.Name], in the
// order of these names.
func (v *View) Bots(ctx context.Context, account, after string, n int) ([]RateLimit, error) {
	const name = "COALESCE(bot_ref_id, '') || ' ' || COALESCE(bot_id, '')"
	var all []RateLimit
	err := v.db.NewSelect().Model(&all).Where("account = ?", account).Where(name+" > ?", after).OrderExpr(name).Limit(int64(n)).Scan(ctx)
	return all, err
}

// Name is both names of a bot, which have no spaces.
func (r *RateLimit) Name() string { return r.BotRefID + " " + r.BotID }

// Bot returns the bot that has this name as its botRefId, or ErrNotFound.
func (v *View) Bot(ctx context.Context, r ref.Ref) (*RateLimit, error) {
	return v.RateLimit(ctx, r.Account(), "", r.String())
}

// DeleteBot deletes a bot with its limits and its usage, revokes its tokens, and returns
// how many of those were valid. What it wrote keeps its name. ErrNotFound when there is
// no such bot.
func (tx *Tx) DeleteBot(ctx context.Context, r ref.Ref) (revoked int, err error) {
	if err := tx.ChangeRights(ctx, r.Account()); err != nil {
		return 0, err
	}
	bot, err := tx.Bot(ctx, r)
	if err != nil {
		return 0, err
	}
	if _, err := tx.lockUsage(ctx, bot.Account, bot.ID); err != nil { // replicas that count its requests wait, and then find no bot
		return 0, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return 0, err
	}
	valid, err := tx.BotTokens(ctx, bot)
	if err != nil {
		return 0, err
	}
	if _, err := tx.db.NewUpdate().Model((*Token)(nil)).Set("revoked_at = ?", now).
		Where("owner = ?", bot.Account).Where("bot = ?", bot.ID).Where("revoked_at = 0").Exec(ctx); err != nil {
		return 0, err
	}
	for _, table := range []string{"rate_shares", "rate_usage", "rate_limits"} {
		if _, err := tx.db.NewDelete().Table(table).Where("account = ?", bot.Account).Where("id = ?", bot.ID).Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(valid), nil
}

// BotTokens returns the valid tokens of a bot, oldest first.
func (v *View) BotTokens(ctx context.Context, bot *RateLimit) ([]Token, error) {
	var valid []Token
	return valid, v.db.NewSelect().Model(&valid).Where("owner = ?", bot.Account).Where("bot = ?", bot.ID).
		Where("revoked_at = 0").Where("expires_at = 0 OR expires_at > ?", v.nowExpr()).Order("created_at", "hash").Scan(ctx)
}

// RevokeBotToken is [Tx.RevokeToken] for the tokens of one bot, by their whole ID.
func (tx *Tx) RevokeBotToken(ctx context.Context, bot *RateLimit, id string) (*RevokedToken, error) {
	return tx.revokeOf(ctx, bot.Account, id, Restriction{}, &bot.ID)
}
