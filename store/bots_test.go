package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/store"
)

func limit(n int64) *int64 { return &n }

// bot adds a bot of acme.
func (p *people) bot(b store.Bot) store.Bot {
	p.Helper()
	b.AccountID, b.UpdatedBy = p.ids["acme"], "anna"
	p.must(func(tx *store.Tx) error { return tx.AddBot(&b) })
	return b
}

func TestBot_HasOneOrTwoNames(t *testing.T) {
	eachPeople(t, func(p *people) {
		p.bot(store.Bot{BotID: "one"})
		p.bot(store.Bot{BotRefID: "@acme/two", CreatedBy: "anna"})
		p.bot(store.Bot{BotID: "three", BotRefID: "drei", Limits: store.Limits{store.Day: limit(3)}})
		for _, c := range []struct {
			id, refID string
			want      error
		}{
			{"one", "", nil}, {"", "@acme/two", nil}, {"three", "", nil}, {"", "drei", nil}, {"three", "drei", nil},
			{"none", "", store.ErrNotFound}, {"none", "keiner", store.ErrNotFound}, {"one", "keiner", store.ErrBotMismatch},
			{"one", "drei", store.ErrBotMismatch}, {"none", "drei", store.ErrBotMismatch},
			{"three", "@acme/two", store.ErrBotMismatch},
		} {
			if _, err := p.view().Bot(p.ids["acme"], c.id, c.refID); !errors.Is(err, c.want) {
				p.Errorf("%s %s: %v, want %v", c.id, c.refID, err, c.want)
			}
		}
		var names []string
		for after := ""; ; {
			page, err := p.view().Bots(p.ids["acme"], after, 1)
			if err != nil {
				p.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			after = page[0].Name()
			names = append(names, after)
		}
		if want := []string{" one", "@acme/two ", "drei three"}; !slices.Equal(names, want) {
			p.Errorf("%q", names)
		}
		b, err := p.view().Bot(p.ids["acme"], "three", "")
		if err != nil || *b.Limits[store.Day] != 3 || b.Limits[store.Year] != nil ||
			b.CreatedBy != "" || b.Account != "acme" {
			p.Errorf("%+v, %v", b, err)
		}
		p.must(func(tx *store.Tx) error { return tx.AdoptBot(b.ID, "rita") })
		if b, err = p.view().Bot(p.ids["acme"], "three", ""); err != nil || b.CreatedBy != "rita" {
			p.Errorf("%+v, %v", b, err)
		}
	})
}

func TestLockBot_FirstOneCreatesIt(t *testing.T) {
	eachPeople(t, func(p *people) {
		var created atomic.Int32
		p.atOnce(8, func(s *store.Store, _ int) {
			var first bool
			err := s.Write(p.Context(), func(tx *store.Tx) error {
				_, err := tx.LockBot(p.ids["acme"], "", "@acme/ci")
				if first = errors.Is(err, store.ErrNotFound); !first {
					return err
				}
				return tx.AddBot(&store.Bot{AccountID: p.ids["acme"], BotRefID: "@acme/ci"})
			})
			if err != nil {
				p.Error(err)
			}
			if first {
				created.Add(1)
			}
		})
		if created.Load() != 1 {
			p.Errorf("it was created %d times", created.Load())
		}
	})
}

func TestDeleteBot_TakesItsTokens(t *testing.T) {
	eachPeople(t, func(p *people) {
		b := p.bot(store.Bot{BotRefID: "@acme/ci"})
		for i, revoked := range []store.Time{0, 0, 1} {
			p.token(i, store.Token{Owner: "acme", BotID: b.ID, RevokedAt: revoked})
		}
		p.must(func(tx *store.Tx) error {
			n, err := tx.DeleteBot(&b)
			if n != 2 {
				p.Errorf("%d were valid", n)
			}
			return err
		})
		if p.count("tokens")+p.count("bots") != 0 {
			p.Error("something is left")
		}
	})
}

func TestTakeLimit_IsExact(t *testing.T) {
	eachPeople(t, func(p *people) {
		b := p.bot(store.Bot{BotID: "x", Limits: store.Limits{store.Month: limit(50), store.Year: limit(23)}})
		var admitted atomic.Int64
		p.atOnce(40, func(s *store.Store, i int) {
			var ok bool
			err := s.Write(p.Context(), func(tx *store.Tx) (err error) {
				_, ok, err = tx.TakeLimit(b.ID, int64(1+i%2))
				return err
			})
			if err != nil {
				p.Error(err)
			}
			if ok {
				admitted.Add(int64(1 + i%2))
			}
		})
		u, err := p.view().Usage(b.ID)
		if err != nil {
			p.Fatal(err)
		}
		if n := admitted.Load(); n < 22 || n > 23 || u.Windows[store.Year].Used != n || u.Windows[store.Month].Limit != 50 ||
			u.Windows[store.Minute].Limit != -1 || u.Windows[store.Day].Used > n {
			p.Errorf("%d were admitted: %+v", n, u)
		}
		p.must(func(tx *store.Tx) error {
			u, ok, err := tx.TakeLimit(b.ID, 2)
			if period, wait := u.Refuses(2); ok || period != store.Year || wait <= 0 || wait > 366*24*time.Hour {
				p.Error(ok, period, wait)
			}
			return err
		})
		p.fails(store.ErrNotFound, func(tx *store.Tx) error { _, _, err := tx.TakeLimit(1<<40, 1); return err })
	})
}

func TestTakeLimit_WindowsBeginAndNeverGoBack(t *testing.T) {
	eachPeople(t, func(p *people) {
		b := p.bot(store.Bot{BotID: "x", Limits: store.Limits{store.Minute: limit(5)}})
		take := func(n int64) (ok bool) {
			p.Helper()
			p.must(func(tx *store.Tx) (err error) { _, ok, err = tx.TakeLimit(b.ID, n); return err })
			return ok
		}
		p.sql("UPDATE bots SET minute_used = 5, minute_until = 1, year_used = 7, year_until = 1")
		u, err := p.view().Usage(b.ID)
		if w := u.Windows[store.Minute]; err != nil || w.Used != 0 || w.Ends <= u.Now {
			p.Errorf("%+v, %v", u, err)
		}
		if take(6) || !take(5) {
			p.Error("a window that has ended does not begin again")
		}
		p.sql("UPDATE bots SET minute_until = ?", store.At(time.Now().Add(time.Hour))) // the clock went back
		if take(1) || p.count("bots WHERE year_used = 5") != 1 {
			p.Error("the window went back")
		}
		p.must(func(tx *store.Tx) error { return tx.SetLimits(b.ID, store.Limits{}, "rita") })
		p.sql("UPDATE bots SET hour_used = 999999999999999")
		if !take(1_000_000_000) || p.count("bots WHERE hour_used = 1000000000000000 AND updated_by = 'rita'") != 1 {
			p.Error("counting does not end at the highest limit")
		}
	})
}

func TestPeriod_EndsOfWindows(t *testing.T) {
	for _, c := range []struct{ at, ends string }{
		{"2026-11-24T10:20:30Z", "2026-11-24T10:21:00Z 2026-11-24T11:00:00Z 2026-11-25T00:00:00Z " +
			"2026-11-30T00:00:00Z 2026-12-01T00:00:00Z 2027-01-01T00:00:00Z"},
		{"2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z 2027-01-01T00:00:00Z 2027-01-01T00:00:00Z " +
			"2027-01-04T00:00:00Z 2027-01-01T00:00:00Z 2027-01-01T00:00:00Z"},
		{"2026-11-30T00:00:00Z", "2026-11-30T00:01:00Z 2026-11-30T01:00:00Z 2026-12-01T00:00:00Z " +
			"2026-12-07T00:00:00Z 2026-12-01T00:00:00Z 2027-01-01T00:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		var ends string
		for p := range store.Period(store.Periods) {
			ends += " " + p.End(store.At(at)).Time().Format(time.RFC3339)
		}
		if ends[1:] != c.ends {
			t.Errorf("%s: %s, want %s", c.at, ends[1:], c.ends)
		}
	}
	if fmt.Sprint(store.Week) != "week" {
		t.Error(store.Week)
	}
}
