package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// settingsOf returns a config of about so many bytes, with values that compress as text does.
func settingsOf(bytes, mark int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	fmt.Fprintf(&b, `{"0":%d`, mark)
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, `,"section%06d.key":"%d %d"`, i, r.IntN(1_000_000), r.IntN(100))
	}
	return b.String() + "}"
}

// BenchmarkWriteConfig writes configs of some sizes, one key changed each time.
//
//	go test ./store -run '^$' -bench WriteConfig -benchtime 100x
func BenchmarkWriteConfig(b *testing.B) {
	for _, bytes := range []int{1 << 10, 64 << 10, 1 << 20} {
		for name, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
			b.Run(fmt.Sprintf("%d KiB/%s", bytes>>10, name), func(b *testing.B) {
				s := open(b, address(b))
				web := project(b, s)
				n := 0
				for b.Loop() {
					n++
					writeConfig(b, s, web, counted("alice", settingsOf(bytes, n)))
				}
			})
		}
	}
}

// BenchmarkConfigHistory compares writes of a config of 1 KiB with those that add nothing to
// its history, in turn, and reports the ratio of the medians.
//
//	go test ./store -run '^$' -bench ConfigHistory -benchtime 500x
func BenchmarkConfigHistory(b *testing.B) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b, address(b))
			web := project(b, s)
			write(b, s, func(tx *store.Tx) error {
				return tx.CreateToken(b.Context(), &store.Token{Hash: digestOf('a'), Owner: "alice"})
			})
			var with, without []time.Duration
			n := 0
			timed := func(f func(*store.Tx, store.ConfigWrite) error) time.Duration {
				n++
				w := counted("alice", settingsOf(1<<10, n))
				start := time.Now()
				write(b, s, func(tx *store.Tx) error { // as the hub does
					if err := tx.LockRights(b.Context(), "alice", "acme"); err != nil {
						return err
					}
					if _, err := tx.Admission(b.Context(), store.Asked{Token: digestOf('a'), Account: "acme"}); err != nil {
						return err
					}
					if err := f(tx, w); err != nil {
						return err
					}
					return tx.Audit(b.Context(), store.AuditRow{Account: "acme", Actor: "alice", Action: "config.write", Object: "@acme/web"})
				})
				return time.Since(start)
			}
			for b.Loop() {
				without = append(without, timed(func(tx *store.Tx, w store.ConfigWrite) error {
					return tx.WriteWithoutHistory(b.Context(), web, w)
				}))
				with = append(with, timed(func(tx *store.Tx, w store.ConfigWrite) error {
					_, _, err := tx.WriteConfig(b.Context(), web, w)
					return err
				}))
			}
			slices.Sort(with)
			slices.Sort(without)
			b.ReportMetric(float64(with[len(with)/2])/float64(without[len(without)/2]), "ratio")
			b.ReportMetric(1.15, "at-most")
		})
	}
}
