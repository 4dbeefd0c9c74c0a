package store_test

import (
	"testing"
	"time"

	"example.com/projecthub/store"
)

func TestPeriod_WindowsAreThoseOfTheCalendarInUTC(t *testing.T) {
	const layout = "2006-01-02 15:04:05"
	at := func(s string) time.Time {
		v, err := time.Parse(layout, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		period          store.Period
		in, start, ends string
	}{
		{store.Minute, "2026-11-22 03:59:59", "2026-11-22 03:59:00", "2026-11-22 04:00:00"},
		{store.Hour, "2026-03-29 01:30:00", "2026-03-29 01:00:00", "2026-03-29 02:00:00"}, // a change to summer time elsewhere
		{store.Day, "2026-12-31 23:59:59", "2026-12-31 00:00:00", "2027-01-01 00:00:00"},
		{store.Week, "2026-11-22 12:00:00", "2026-11-16 00:00:00", "2026-11-23 00:00:00"}, // a Sunday
		{store.Week, "2027-01-01 00:00:00", "2026-12-28 00:00:00", "2027-01-04 00:00:00"}, // in two years
		{store.Month, "2028-02-29 10:00:00", "2028-02-01 00:00:00", "2028-03-01 00:00:00"},
		{store.Month, "2026-12-05 10:00:00", "2026-12-01 00:00:00", "2027-01-01 00:00:00"},
		{store.Year, "2028-02-29 10:00:00", "2028-01-01 00:00:00", "2029-01-01 00:00:00"},
	} {
		start := c.period.Start(store.At(at(c.in)))
		if got := start.Time().Format(layout); got != c.start {
			t.Errorf("the %v of %s starts at %s, want %s", c.period, c.in, got, c.start)
		}
		if got := c.period.End(start).Time().Format(layout); got != c.ends {
			t.Errorf("the %v of %s ends at %s, want %s", c.period, c.in, got, c.ends)
		}
	}
}

// Each moment is in one window, which begins where another one ends: in leap years, on leap
// days, and whenever clocks elsewhere change to summer time.
func TestPeriod_WindowsFollowEachOtherWithoutGap(t *testing.T) {
	first := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
	moments := 0
	for p := store.Minute; p <= store.Year; p++ {
		for at := first; at.Year() < 2105; at = at.Add(17*time.Hour + 59*time.Minute + 59*time.Second + 999*time.Microsecond) {
			now := store.At(at)
			start := p.Start(now)
			end := p.End(start)
			if moments++; start > now || end <= now || p.Start(start) != start || p.Start(end-1) != start || p.Start(end) != end {
				t.Fatalf("period %d: %v is in the window from %v to %v", p, at, start.Time(), end.Time())
			}
		}
	}
	t.Logf("%d moments", moments)
}
