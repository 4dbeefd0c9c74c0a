package store

import (
	"errors"

	"example.com/projecthub/store/sqldb"
)

// Bot is known by BotID, by BotRefID, or by both. What it may use are its limits; see limits.go.
type Bot struct {
	ID        int64
	AccountID int64
	Account   string // its name
	BotID     string // "": none
	BotRefID  string // "": none; @account/slug of a bot that has tokens
	Limits    Limits
	CreatedBy string // "": it was only named by a limit
	UpdatedAt Time   // of its limits
	UpdatedBy string
}

const selectBots = `SELECT b.id, b.account_id, a.name, COALESCE(b.bot_id, ''), COALESCE(b.bot_ref_id, ''),
	b.minute_limit, b.hour_limit, b.day_limit, b.week_limit, b.month_limit, b.year_limit,
	COALESCE(b.created_by, ''), b.updated_at, b.updated_by FROM bots b JOIN accounts a ON a.id = b.account_id `

func botFields(b *Bot) []any {
	return sqldb.Row(&b.ID, &b.AccountID, &b.Account, &b.BotID, &b.BotRefID,
		&b.Limits[0], &b.Limits[1], &b.Limits[2], &b.Limits[3], &b.Limits[4], &b.Limits[5],
		&b.CreatedBy, &b.UpdatedAt, &b.UpdatedBy)
}

// Name is both names of a bot, which have no spaces.
func (b *Bot) Name() string { return b.BotRefID + " " + b.BotID }

// ErrBotMismatch says that two names do not belong to the same bot.
var ErrBotMismatch = errors.New("botId and botRefId are not of the same bot")

// Bot returns the bot of an account with these names, one of which may be empty. ErrBotMismatch when one of two
// names is known, but not as that of a bot with the other: a bot never gets a second name later, since a mistyped
// one would stay.
func (v View) Bot(account int64, botID, botRefID string) (*Bot, error) {
	found, err := sqldb.All(v, botFields,
		selectBots+"WHERE b.account_id = ? AND (b.bot_id = ? OR b.bot_ref_id = ?) LIMIT 2", account, botID, botRefID)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, ErrNotFound
	case len(found) > 1, botID != "" && botID != found[0].BotID, botRefID != "" && botRefID != found[0].BotRefID:
		return nil, ErrBotMismatch
	}
	return &found[0], nil
}

// LockBot is [View.Bot] for a bot that is created or changed: others that create one of the account wait.
func (tx *Tx) LockBot(account int64, botID, botRefID string) (*Bot, error) {
	if err := tx.lockAccount(account); err != nil {
		return nil, err
	}
	return tx.Bot(account, botID, botRefID)
}

// Bots returns at most n bots of an account after the one with a [Bot.Name], in the order of these names.
func (v View) Bots(account int64, after string, n int) ([]Bot, error) {
	const name = "COALESCE(b.bot_ref_id, '') || ' ' || COALESCE(b.bot_id, '')"
	return sqldb.All(v, botFields,
		selectBots+"WHERE b.account_id = ? AND "+name+" > ? ORDER BY "+name+" LIMIT ?", account, after, n)
}

// AddBot adds a bot, which [Tx.LockBot] did not find. AccountID, BotID, BotRefID, Limits, CreatedBy and UpdatedBy
// are the caller's.
func (tx *Tx) AddBot(b *Bot) (err error) {
	b.UpdatedAt = tx.Now()
	l := b.Limits
	return tx.One(sqldb.Row(&b.ID), `INSERT INTO bots (account_id, bot_id, bot_ref_id, minute_limit, hour_limit, day_limit,
		week_limit, month_limit, year_limit, created_at, created_by, updated_at, updated_by)
		VALUES (`+sqldb.List(13)+") RETURNING id", b.AccountID, orNull(b.BotID), orNull(b.BotRefID),
		l[0], l[1], l[2], l[3], l[4], l[5], b.UpdatedAt, orNull(b.CreatedBy), b.UpdatedAt, b.UpdatedBy)
}

// AdoptBot says who created a bot that was only named by a limit, so that it can have tokens.
func (tx *Tx) AdoptBot(bot int64, by string) error {
	return tx.exec("UPDATE bots SET created_by = ? WHERE id = ? AND created_by IS NULL", by, bot)
}

// DeleteBot deletes a bot with its limits, its usage and its tokens, and returns how many of those were valid. What
// it wrote keeps its name.
func (tx *Tx) DeleteBot(b *Bot) (revoked int, err error) {
	valid, err := tx.BotTokens(b.ID)
	if err != nil {
		return 0, err
	}
	return len(valid), tx.exec("DELETE FROM bots WHERE id = ?", b.ID)
}
