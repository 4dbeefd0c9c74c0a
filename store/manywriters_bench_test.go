package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// BenchmarkManyWriters has 64 writers at once write configs of 4 KiB of 1,000 projects, as
// the hub does for a PUT.
//
//	go test ./store -run '^$' -bench ManyWriters -benchtime 10000x
func BenchmarkManyWriters(b *testing.B) {
	const writers, projects = 64, 1000
	for name, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b, address(b))
			refs := manyProjects(b, s, projects)
			var n atomic.Int64
			writeOne := func() {
				i := int(n.Add(1))
				if err := s.Write(b.Context(), asTheHub(b, refs[i*7919%projects], counted("alice", settingsOf(4<<10, i)))); err != nil {
					b.Error(err)
				}
			}
			for range 2 * projects {
				writeOne()
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						writeOne()
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// manyProjects creates projects, and the token with which [asTheHub] writes.
func manyProjects(b *testing.B, s *store.Store, n int) (all []ref.Ref) {
	project(b, s)
	write(b, s, func(tx *store.Tx) error {
		return tx.CreateToken(b.Context(), &store.Token{Hash: digestOf('a'), Owner: "alice"})
	})
	for i := range n {
		p := webProject()
		p.Slug = fmt.Sprint("p", i)
		write(b, s, func(tx *store.Tx) error { return tx.CreateProject(b.Context(), p) })
		all = append(all, mustRef(b, "@acme/"+p.Slug))
	}
	return all
}

// asTheHub writes a config with all that the hub reads and writes besides.
func asTheHub(b *testing.B, r ref.Ref, w store.ConfigWrite) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		if err := tx.LockRights(b.Context(), "alice", "acme"); err != nil {
			return err
		}
		if _, err := tx.Admission(b.Context(), store.Asked{Token: digestOf('a'), Account: "acme"}); err != nil {
			return err
		}
		if _, _, err := tx.WriteConfig(b.Context(), r, w); err != nil {
			return err
		}
		return tx.Audit(b.Context(), store.AuditRow{Account: "acme", Actor: "alice", Action: "config.write", Object: r.String()})
	}
}
