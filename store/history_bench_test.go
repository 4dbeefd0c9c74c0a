package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
