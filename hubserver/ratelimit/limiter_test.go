package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/hubserver/ratelimit"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

var ctx = context.Background()

func limits(n int64, periods ...store.Period) store.RateLimit {
	r := store.RateLimit{Account: "acme", ID: "1", BotID: "crawler", UpdatedBy: "alice"}
	for _, p := range periods {
		*[]**int64{&r.MinuteLimit, &r.HourLimit, &r.DayLimit, &r.WeekLimit, &r.MonthLimit, &r.YearLimit}[p] = &n
	}
	return r
}

func set(t testing.TB, s *store.Store, r store.RateLimit) ratelimit.Bot {
	t.Helper()
	err := s.Write(ctx, func(tx *store.Tx) error { return tx.CreateAccount(ctx, "acme", store.KindOrg) })
	if err != nil && !errors.Is(err, store.ErrExists) {
		t.Fatal(err)
	}
	err = s.Write(ctx, func(tx *store.Tx) error {
		_, _, err := tx.SetRateLimit(ctx, &r, func(*store.RateLimit) error { return nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ratelimit.Bot{Account: r.Account, ID: r.ID}
}

func take(t testing.TB, l *ratelimit.Limiter, b ratelimit.Bot, n int64) ratelimit.Decision {
	t.Helper()
	d, err := l.Take(ctx, b, n)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestLimiter_AdmitsTheLimitExactlyOnAllReplicas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		const limit, connections = 1000, 64
		var replicas []*ratelimit.Limiter
		s := storetest.Open(t, address)
		bot := set(t, s, limits(limit, store.Year))
		for i := range 3 {
			own := s
			if i > 0 && strings.HasPrefix(address, "postgres") { // a replica has connections of its own
				own = storetest.Open(t, address)
			}
			replicas = append(replicas, ratelimit.New(own))
		}
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for i := range connections {
			l := replicas[i%len(replicas)]
			wg.Go(func() {
				for refusals := 0; refusals < 3; {
					d, err := l.Take(ctx, bot, 1)
					if err != nil {
						t.Error(err)
						return
					}
					if d.Admitted {
						admitted.Add(1)
						continue
					}
					refusals++
					if err := l.Settle(ctx, true); err != nil { // as if each share's time were over
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, l := range replicas {
			if err := l.Settle(ctx, true); err != nil {
				t.Fatal(err)
			}
		}
		for take(t, replicas[0], bot, 1).Admitted { // what was in a share until the last moment
			admitted.Add(1)
		}
		if admitted.Load() != limit {
			t.Errorf("%d requests were admitted, not %d", admitted.Load(), limit)
		}
	})
}

// The windows are those of the database's clock, whatever a replica's own says.
func TestLimiter_IgnoresTheClocksOfReplicas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		const limit = 200
		s := storetest.Open(t, address)
		bot := set(t, s, limits(limit, store.Day, store.Month, store.Year))
		var replicas []*ratelimit.Limiter
		for _, skew := range []time.Duration{0, time.Minute, -time.Minute, time.Hour, -time.Hour, 365 * 24 * time.Hour, -365 * 24 * time.Hour} {
			own := s
			if strings.HasPrefix(address, "postgres") { // a replica has connections of its own
				own = storetest.Open(t, address)
			}
			l := ratelimit.New(own)
			l.SetClock(skew)
			replicas = append(replicas, l)
		}
		right := take(t, replicas[0], bot, 1)
		admitted := 1
		for refusals := 0; refusals < 3*len(replicas); {
			l := replicas[refusals%len(replicas)]
			d := take(t, l, bot, 1)
			for _, p := range []store.Period{store.Day, store.Month, store.Year} {
				if off := right.Windows[p].Ends - d.Windows[p].Ends; d.Admitted && off.Abs() > 5*time.Minute {
					t.Fatalf("a window of period %d ends in %v, on another replica in %v", p, d.Windows[p].Ends, right.Windows[p].Ends)
				}
			}
			if d.Admitted {
				admitted++
				continue
			}
			refusals++
			for _, l := range replicas {
				if err := l.Settle(ctx, true); err != nil { // as if each share's time were over
					t.Fatal(err)
				}
			}
		}
		if admitted != limit {
			t.Errorf("%d requests were admitted, not %d", admitted, limit)
		}
	})
}

func TestLimiter_CountsARefusedRequestInNoWindow(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		five, r := int64(5), limits(2, store.Year)
		r.MonthLimit = &five
		bot, l := set(t, s, r), ratelimit.New(s)
		for range 2 {
			if d := take(t, l, bot, 1); !d.Admitted {
				t.Fatalf("refused: %+v", d)
			}
		}
		d := take(t, l, bot, 1)
		if d.Admitted || d.Period != store.Year || d.RetryAfter <= 0 {
			t.Errorf("%+v, want a refusal by the year's limit", d)
		}
		if got := d.Windows[store.Month].Remaining; got != 3 {
			t.Errorf("%d are left in the month, want 3", got)
		}
	})
}

func TestLimiter_NamesTheWindowThatEndsLast(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	bot := set(t, s, limits(0, store.Minute, store.Day, store.Year))
	d := take(t, ratelimit.New(s), bot, 1)
	if d.Admitted || d.Period != store.Year || d.RetryAfter != d.Windows[store.Year].Ends {
		t.Errorf("%+v, want a refusal by the year's limit", d)
	}
}

func TestLimiter_KeepsCountersAcrossRestarts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		bot := set(t, s, limits(10, store.Year))
		first := ratelimit.New(s)
		take(t, first, bot, 4)
		if err := first.Settle(ctx, true); err != nil {
			t.Fatal(err)
		}
		if d := take(t, ratelimit.New(s), bot, 7); d.Admitted || d.Windows[store.Year].Remaining != 6 {
			t.Errorf("%+v, want 7 refused and 6 left", d)
		}
	})
}

// A share that was never settled stays counted while its replica may be alive.
func TestLimiter_NeverAdmitsAKilledReplicasShareAgain(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	bot := set(t, s, limits(100, store.Year))
	take(t, ratelimit.New(s), bot, 40) // and it is killed
	other := ratelimit.New(s)
	if d := take(t, other, bot, 61); d.Admitted {
		t.Errorf("%+v: 101 requests were admitted", d)
	}
	if d := take(t, other, bot, 60); !d.Admitted {
		t.Errorf("%+v, want 60 admitted", d)
	}
}

func TestLimiter_ReportsAnUnknownBot(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	l := ratelimit.New(s)
	for range 2 {
		if _, err := l.Take(ctx, ratelimit.Bot{Account: "acme", ID: "none"}, 1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v, want ErrNotFound", err)
		}
	}
}

func TestLimiter_FollowsANewConfiguration(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	bot, l := set(t, s, limits(1_000_000, store.Year)), ratelimit.New(s)
	take(t, l, bot, 1)
	set(t, s, limits(1, store.Year))
	deadline := time.Now().Add(20 * time.Second)
	for take(t, l, bot, 1).Admitted {
		if time.Now().After(deadline) {
			t.Fatal("the new limit has no effect")
		}
	}
}

func TestLimiter_EndsAWaitWithItsRequest(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	bot, l := set(t, s, limits(5, store.Year)), ratelimit.New(s)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := l.Take(gone, bot, 1); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := l.Settle(ctx, true); err != nil {
		t.Error(err)
	}
}

func BenchmarkTake(b *testing.B) {
	for _, parallel := range []int{1, 64} {
		b.Run(fmt.Sprint(parallel), func(b *testing.B) {
			s := storetest.Open(b, storetest.SQLite(b))
			bot, l := set(b, s, limits(1_000_000_000_000, store.Minute, store.Year)), ratelimit.New(s)
			b.SetParallelism(parallel)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if d, err := l.Take(ctx, bot, 1); err != nil || !d.Admitted {
						b.Errorf("%+v, %v", d, err)
						return
					}
				}
			})
		})
	}
}
