package store

import (
	"context"
	"errors"
	"slices"

	"github.com/uptrace/bun"
)

// RateLimit is the configuration of one bot: requests per calendar period, nil
// for unlimited. A bot is known by BotID, by BotRefID, or by both.
type RateLimit struct {
	bun.BaseModel `bun:"table:rate_limits"`

	Account     string `bun:",pk"`
	ID          string `bun:",pk"` // made by the caller, never shown
	BotID       string `bun:",nullzero"`
	BotRefID    string `bun:",nullzero"`
	MinuteLimit *int64
	HourLimit   *int64
	DayLimit    *int64
	WeekLimit   *int64
	MonthLimit  *int64
	YearLimit   *int64
	UpdatedAt   Time
	UpdatedBy   string
}

// ErrBotMismatch says that two names do not belong to the same bot.
var ErrBotMismatch = errors.New("botId and botRefId are not of the same bot")

// RateLimit returns the configuration of the bot with these names, one of which
// may be empty: ErrNotFound when there is none, ErrBotMismatch when one of two
// names is known, but not as that of a bot with the other.
func (v *View) RateLimit(ctx context.Context, account, botID, botRefID string) (*RateLimit, error) {
	var found []RateLimit
	q := v.db.NewSelect().Model(&found).Where("account = ?", account).
		WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			if botID != "" {
				q = q.WhereOr("bot_id = ?", botID)
			}
			if botRefID != "" {
				q = q.WhereOr("bot_ref_id = ?", botRefID)
			}
			return q
		})
	if err := q.Scan(ctx); err != nil {
		return nil, err
	}
	switch {
	case len(found) == 0:
		return nil, ErrNotFound
	case len(found) > 1, !agrees(botID, found[0].BotID), !agrees(botRefID, found[0].BotRefID):
		return nil, ErrBotMismatch
	}
	return &found[0], nil
}

// agrees reports whether a name that was asked for is a bot's: no name asks for
// none. A bot never gets a second name later, since a mistyped one would stay.
func agrees(asked, name string) bool { return asked == "" || asked == name }

// SetRateLimit stores the whole configuration of a bot and reports whether that
// changed anything; equal limits do not, who and when included. The first one
// registers the bot under the names that it has. allow sees what is there (nil:
// nothing) and ends the write with an error.
func (tx *Tx) SetRateLimit(ctx context.Context, limit *RateLimit, allow func(current *RateLimit) error) (set *RateLimit, changed bool, err error) {
	// Two first requests about one bot would both find nothing: the account's row makes them queue.
	owner := tx.db.NewSelect().Model(&Account{Name: limit.Account}).WherePK()
	if err := tx.forUpdate(owner).Scan(ctx); err != nil {
		return nil, false, err
	}
	there, err := tx.RateLimit(ctx, limit.Account, limit.BotID, limit.BotRefID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, false, err
	}
	if err := allow(there); err != nil {
		return nil, false, err
	}
	if there != nil && slices.EqualFunc(there.limits(), limit.limits(), equalLimit) {
		return there, false, nil
	}
	if limit.UpdatedAt, err = tx.Now(ctx); err != nil {
		return nil, false, err
	}
	if there == nil {
		_, err = tx.db.NewInsert().Model(limit).Exec(ctx)
		return limit, true, err
	}
	limit.ID, limit.BotID, limit.BotRefID = there.ID, there.BotID, there.BotRefID
	_, err = tx.db.NewUpdate().Model(limit).WherePK().Exec(ctx)
	return limit, true, err
}

func (r *RateLimit) limits() []*int64 {
	return []*int64{r.MinuteLimit, r.HourLimit, r.DayLimit, r.WeekLimit, r.MonthLimit, r.YearLimit}
}

func equalLimit(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
