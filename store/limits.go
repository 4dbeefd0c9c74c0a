package store

import (
	"math"
	"time"

	"example.com/projecthub/store/sqldb"
)

// Period is a kind of calendar window in UTC.
type Period int

// The periods of limits. Weeks begin on Monday, as in ISO 8601.
const (
	Minute Period = iota
	Hour
	Day
	Week
	Month
	Year

	Periods = iota // how many there are
)

var periodNames = [Periods]string{"minute", "hour", "day", "week", "month", "year"}

func (p Period) String() string { return periodNames[p] }

// End returns the end of the window that contains t.
func (p Period) End(t Time) Time {
	at := t.Time()
	year, month, day := at.Date()
	switch p {
	case Minute:
		return At(at.Truncate(time.Minute).Add(time.Minute))
	case Hour:
		return At(at.Truncate(time.Hour).Add(time.Hour))
	case Day:
		day++
	case Week:
		day += 7 - (int(at.Weekday())+6)%7 // to Monday
	case Month:
		month, day = month+1, 1
	case Year:
		year, month, day = year+1, time.January, 1
	}
	return At(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// Limits are how many requests a bot may make in each period; nil: any number.
type Limits [Periods]*int64

// SetLimits replaces the limits of a bot.
func (tx *Tx) SetLimits(bot int64, l Limits, by string) error {
	return tx.exec(`UPDATE bots SET minute_limit = ?, hour_limit = ?, day_limit = ?, week_limit = ?, month_limit = ?,
		year_limit = ?, updated_at = ?, updated_by = ? WHERE id = ?`, l[0], l[1], l[2], l[3], l[4], l[5], tx.Now(), by, bot)
}

// Window is the present window of one period.
type Window struct {
	Limit int64 // -1: unlimited
	Used  int64
	Ends  Time
}

// Remaining returns how many requests are left; math.MaxInt64 without a limit.
func (w Window) Remaining() int64 {
	if w.Limit < 0 {
		return math.MaxInt64
	}
	return max(w.Limit-w.Used, 0)
}

// Usage is what a bot has used of its limits.
type Usage struct {
	Now     Time // when this was read
	Windows [Periods]Window
}

// Refuses returns a period whose limit does not allow n more requests, and how long it still lasts: of several the one
// that ends last.
func (u *Usage) Refuses(n int64) (p Period, wait time.Duration) {
	for i, w := range u.Windows {
		if left := w.Ends.Time().Sub(u.Now.Time()); w.Remaining() < n && left >= wait {
			p, wait = Period(i), left
		}
	}
	return p, wait
}

// maxUsed is the highest number that is counted: the highest limit.
const maxUsed = 1_000_000_000_000_000

// TakeLimit counts n requests of a bot if all its limits allow them, else none, and returns what the bot has used then.
// admitted says whether they were counted. ErrNotFound if the bot does not exist.
func (tx *Tx) TakeLimit(bot, n int64) (u *Usage, admitted bool, err error) {
	if u, err = tx.usage(bot, " @lock"); err != nil {
		return nil, false, err
	}
	for _, w := range u.Windows {
		if w.Remaining() < n {
			return u, false, nil
		}
	}
	var args []any
	for i := range u.Windows {
		w := &u.Windows[i]
		w.Used = min(w.Used+n, maxUsed)
		args = append(args, w.Used, w.Ends)
	}
	return u, true, tx.send(`UPDATE bots SET minute_used = ?, minute_until = ?, hour_used = ?, hour_until = ?,
		day_used = ?, day_until = ?, week_used = ?, week_until = ?, month_used = ?, month_until = ?,
		year_used = ?, year_until = ? WHERE id = ?`, append(args, bot)...)
}

// Usage returns what a bot has used.
func (v View) Usage(bot int64) (*Usage, error) { return v.usage(bot, "") }

func (v View) usage(bot int64, lock string) (*Usage, error) {
	u := &Usage{}
	fields := sqldb.Row(&u.Now)
	for i := range u.Windows {
		w := &u.Windows[i]
		fields = append(fields, &w.Limit, &w.Used, &w.Ends)
	}
	err := v.One(fields, `SELECT @now, COALESCE(minute_limit, -1), minute_used, minute_until,
		COALESCE(hour_limit, -1), hour_used, hour_until, COALESCE(day_limit, -1), day_used, day_until,
		COALESCE(week_limit, -1), week_used, week_until, COALESCE(month_limit, -1), month_used, month_until,
		COALESCE(year_limit, -1), year_used, year_until FROM bots WHERE id = ?`+lock, bot)
	// A window that has ended counts as unused; the next request begins another one. Because the end of a window is
	// stored, setting the clock back begins none.
	for i := range u.Windows {
		if w := &u.Windows[i]; w.Ends <= u.Now {
			w.Used, w.Ends = 0, Period(i).End(u.Now)
		}
	}
	return u, err
}
