package store

import (
	"errors"

	"example.com/projecthub/store/sqldb"
)

// Bot has a BotID, a BotRefID, or both: the names by which people and other systems know it. See limits.go about its
// limits.
type Bot struct {
	ID        int64
	AccountID int64
	Account   string // its name
	BotID     string // "": none
	BotRefID  string // "": none; @account/slug of a bot that has tokens
	Limits    Limits
	CreatedBy string // "": it exists only because limits were set for it
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

// Name returns both names of a bot with a space between them, which no name contains. Lists are ordered by it.
func (b *Bot) Name() string { return b.BotRefID + " " + b.BotID }

// ErrBotMismatch says that two names are not those of one bot.
var ErrBotMismatch = errors.New("botId and botRefId are not of the same bot")

// Bot returns the bot of an account with these names, one of which may be empty. ErrNotFound if no bot has either;
// ErrBotMismatch if a bot has one of two names, but not the other. A bot never gets its second name later: a mistyped
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

// LockBot is [View.Bot] for a bot that is then created or changed. Others that do so in the account wait.
func (tx *Tx) LockBot(account int64, botID, botRefID string) (*Bot, error) {
	if err := tx.lockAccount(account); err != nil {
		return nil, err
	}
	return tx.Bot(account, botID, botRefID)
}

// Bots returns at most n bots of an account, ordered by [Bot.Name], beginning after the name after.
func (v View) Bots(account int64, after string, n int) ([]Bot, error) {
	const name = "COALESCE(b.bot_ref_id, '') || ' ' || COALESCE(b.bot_id, '')"
	return sqldb.All(v, botFields,
		selectBots+"WHERE b.account_id = ? AND "+name+" > ? ORDER BY "+name+" LIMIT ?", account, after, n)
}

// AddBot adds a bot that [Tx.LockBot] did not find. The caller sets AccountID, BotID, BotRefID, Limits, CreatedBy and
// UpdatedBy; AddBot sets ID and UpdatedAt.
func (tx *Tx) AddBot(b *Bot) (err error) {
	b.UpdatedAt = tx.Now()
	return tx.One(sqldb.Row(&b.ID), `INSERT INTO bots (account_id, bot_id, bot_ref_id, minute_limit, hour_limit, day_limit,
		week_limit, month_limit, year_limit, created_at, created_by, updated_at, updated_by)
		VALUES (`+sqldb.List(13)+") RETURNING id",
		b.AccountID, orNull(b.BotID), orNull(b.BotRefID), b.Limits[Minute], b.Limits[Hour], b.Limits[Day],
		b.Limits[Week], b.Limits[Month], b.Limits[Year], b.UpdatedAt, orNull(b.CreatedBy), b.UpdatedAt, b.UpdatedBy)
}

// AdoptBot sets who created a bot that existed only because limits were set for it, so that it can have tokens.
func (tx *Tx) AdoptBot(bot int64, by string) error {
	return tx.exec("UPDATE bots SET created_by = ? WHERE id = ? AND created_by IS NULL", by, bot)
}

// DeleteBot deletes a bot with its limits, its usage and its tokens, and returns how many of the tokens were valid.
// Revisions that it wrote keep its name.
func (tx *Tx) DeleteBot(b *Bot) (revoked int, err error) {
	valid, err := tx.BotTokens(b.ID)
	if err != nil {
		return 0, err
	}
	return len(valid), tx.exec("DELETE FROM bots WHERE id = ?", b.ID)
}
