package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/uptrace/bun"
)

// Period is a kind of calendar window in UTC.
type Period int

// The periods that rate limits are set for. Weeks are those of ISO 8601.
const (
	Minute Period = iota
	Hour
	Day
	Week
	Month
	Year

	Periods = iota // how many there are
)

func (p Period) String() string {
	return [...]string{"minute", "hour", "day", "week", "month", "year"}[p]
}

// Start returns the beginning of the window that contains t.
func (p Period) Start(t Time) Time {
	at := t.Time()
	year, month, day := at.Date()
	switch p {
	case Minute:
		return At(at.Truncate(time.Minute))
	case Hour:
		return At(at.Truncate(time.Hour))
	case Week:
		day -= (int(at.Weekday()) + 6) % 7 // back to Monday
	case Month:
		day = 1
	case Year:
		month, day = time.January, 1
	}
	return At(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// End returns the beginning of the window after the one that starts at start.
func (p Period) End(start Time) Time {
	at := start.Time()
	switch p {
	case Minute:
		at = at.Add(time.Minute)
	case Hour:
		at = at.Add(time.Hour)
	case Day:
		at = at.AddDate(0, 0, 1)
	case Week:
		at = at.AddDate(0, 0, 7)
	case Month:
		at = at.AddDate(0, 1, 0)
	case Year:
		at = at.AddDate(1, 0, 0)
	}
	return At(at)
}

// rateWindow is how many requests were admitted in the window that starts at Start,
// without those admitted from shares that are not settled.
type rateWindow struct {
	Start Time
	Used  int64
}

// rateUsage is what one bot has used.
type rateUsage struct {
	bun.BaseModel `bun:"table:rate_usage"`

	Account string     `bun:",pk"`
	ID      string     `bun:",pk"` // of its RateLimit
	Minute  rateWindow `bun:"embed:minute_"`
	Hour    rateWindow `bun:"embed:hour_"`
	Day     rateWindow `bun:"embed:day_"`
	Week    rateWindow `bun:"embed:week_"`
	Month   rateWindow `bun:"embed:month_"`
	Year    rateWindow `bun:"embed:year_"`
}

func (u *rateUsage) windows() [Periods]*rateWindow {
	return [...]*rateWindow{&u.Minute, &u.Hour, &u.Day, &u.Week, &u.Month, &u.Year}
}

// roll begins the windows that now is in. A window never goes back to an earlier one.
func (u *rateUsage) roll(now Time) {
	for p, w := range u.windows() {
		if start := Period(p).Start(now); start > w.Start {
			*w = rateWindow{Start: start}
		}
	}
}

// add counts n requests that were admitted from a share that was granted at a time.
func (u *rateUsage) add(n int64, granted Time) {
	for p, w := range u.windows() {
		if w.contains(Period(p), granted) {
			w.Used = min(w.Used+n, mostUsed)
		}
	}
}

// mostUsed is where counting ends: the highest limit.
const mostUsed = 1_000_000_000_000_000

// contains reports whether a share that was granted at a time counts in this window.
// The time may be before the window, after the clock was set back.
func (w *rateWindow) contains(p Period, granted Time) bool {
	return p.Start(granted) == w.Start || granted > w.Start
}

// RateShare lets one replica admit Size requests of a bot without asking again.
type RateShare struct {
	bun.BaseModel `bun:"table:rate_shares"`

	Account   string `bun:",pk"`
	ID        string `bun:",pk"` // of the bot's RateLimit
	Replica   string `bun:",pk"`
	GrantedAt Time
	Size      int64
}

// shareLife is the age at which a share is taken for one of a replica that died. All of
// it then counts as used. Replicas settle theirs well before.
const shareLife = 15 * time.Second

// RateWindow is the present window of one period.
type RateWindow struct {
	Limit   int64 // -1: unlimited
	Used    int64 // requests admitted, as far as they are settled
	Held    int64 // in shares of replicas
	Start   Time
	End     Time
	Blocked bool // it has not enough left for what was asked
}

// RateState is what a replica learns when it asks for a share.
type RateState struct {
	Now     Time
	Windows [Periods]RateWindow
	Share   *RateShare // nil: none was asked for, or not enough is left
}

// RateAsk is what a replica asks of a bot's budget. Spent says how many requests it
// admitted from Old, the share it had, which ends. Need is the least that the new share
// is to have (0: no share is needed), Want is how much may be useful.
type RateAsk struct {
	Account, ID, Replica string

	Old   *RateShare
	Spent int64
	Need  int64
	Want  int64
}

// shareDivisor bounds a share to this part of what is left of a budget, so that replicas
// with little to do do not keep what others need.
const shareDivisor = 16

// ShareRateLimit ends a replica's share of a bot's budget and grants another one. It may
// be called again after an error: a share is settled once. ErrNotFound when there is no
// such bot.
func (tx *Tx) ShareRateLimit(ctx context.Context, ask RateAsk) (*RateState, error) {
	limits := &RateLimit{Account: ask.Account, ID: ask.ID}
	if err := tx.db.NewSelect().Model(limits).WherePK().Scan(ctx); err != nil {
		return nil, wrap(err)
	}
	usage, err := tx.lockUsage(ctx, ask.Account, ask.ID)
	if err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	usage.roll(now)
	held, err := tx.settle(ctx, usage, ask, now)
	if err != nil {
		return nil, err
	}
	state := &RateState{Now: now, Windows: usage.state(limits, held)}
	if size := state.grant(ask.Need, ask.Want); size > 0 {
		state.Share = &RateShare{Account: ask.Account, ID: ask.ID, Replica: ask.Replica, GrantedAt: now, Size: size}
		if _, err := tx.db.NewInsert().Model(state.Share).Exec(ctx); err != nil {
			return nil, err
		}
	}
	_, err = tx.db.NewUpdate().Model(usage).WherePK().Exec(ctx)
	return state, err
}

// lockUsage returns the row of a bot, which others cannot change before the transaction
// ends. ErrNotFound when there is no such bot.
func (tx *Tx) lockUsage(ctx context.Context, account, id string) (*rateUsage, error) {
	usage := &rateUsage{Account: account, ID: id}
	err := wrap(tx.forUpdate(tx.db.NewSelect().Model(usage).WherePK()).Scan(ctx))
	if !errors.Is(err, ErrNotFound) {
		return usage, err
	}
	bot := tx.db.NewSelect().Model(&RateLimit{Account: account, ID: id}).WherePK()
	if err := wrap(tx.forUpdate(bot).Scan(ctx)); err != nil {
		return nil, err
	}
	if _, err := tx.db.NewInsert().Model(usage).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
		return nil, err
	}
	return usage, tx.forUpdate(tx.db.NewSelect().Model(usage).WherePK()).Scan(ctx)
}

// settle counts what was used of the asking replica's share and of those whose replica
// died, removes them, and returns the others.
func (tx *Tx) settle(ctx context.Context, usage *rateUsage, ask RateAsk, now Time) (held []RateShare, err error) {
	var shares []RateShare
	if err := tx.db.NewSelect().Model(&shares).Where("account = ?", ask.Account).Where("id = ?", ask.ID).Scan(ctx); err != nil {
		return nil, err
	}
	for i := range shares {
		share := &shares[i]
		switch {
		case share.Replica == ask.Replica:
			// A share that the replica does not know was granted to a request whose response got lost.
			if ask.Old != nil && ask.Old.GrantedAt == share.GrantedAt {
				usage.add(ask.Spent, share.GrantedAt)
			}
		case share.GrantedAt < now.add(-shareLife):
			usage.add(share.Size, share.GrantedAt)
		default:
			held = append(held, *share)
			continue
		}
		if _, err := tx.db.NewDelete().Model(share).WherePK().Exec(ctx); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// state returns the windows, with what the shares of other replicas hold of each.
func (u *rateUsage) state(limits *RateLimit, held []RateShare) (windows [Periods]RateWindow) {
	for p, w := range u.windows() {
		state := RateWindow{Limit: -1, Used: w.Used, Start: w.Start, End: Period(p).End(w.Start)}
		if limit := limits.limits()[p]; limit != nil {
			state.Limit = *limit
		}
		for i := range held {
			if w.contains(Period(p), held[i].GrantedAt) {
				state.Held += held[i].Size
			}
		}
		windows[p] = state
	}
	return windows
}

// grant returns the size of a new share, 0 for none, and marks the windows that have not
// enough left for it.
func (s *RateState) grant(need, want int64) int64 {
	if need == 0 {
		return 0
	}
	left, blocked := int64(math.MaxInt64), false
	for p := range s.Windows {
		w := &s.Windows[p]
		if w.Limit < 0 {
			continue
		}
		rest := w.Limit - w.Used - w.Held
		w.Blocked = rest < need
		blocked = blocked || w.Blocked
		left = min(left, rest)
	}
	if blocked {
		return 0
	}
	return max(need, min(want, left/shareDivisor))
}

// RateUsage returns the present windows of a bot, as far as replicas have settled them.
func (v *View) RateUsage(ctx context.Context, limits *RateLimit) (windows [Periods]RateWindow, err error) {
	usage := &rateUsage{Account: limits.Account, ID: limits.ID}
	if err := wrap(v.db.NewSelect().Model(usage).WherePK().Scan(ctx)); err != nil && !errors.Is(err, ErrNotFound) {
		return windows, err
	}
	now, err := v.Now(ctx)
	if err != nil {
		return windows, err
	}
	usage.roll(now)
	return usage.state(limits, nil), nil
}
