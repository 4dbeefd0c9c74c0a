package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store"
)

// rival pushes random sets, out of few contents, to one of a few projects.
type rival struct {
	*testing.T
	store    *store.Store
	random   *rand.Rand
	projects []ref.Ref
	blobs    []string // digests
	circles  *atomic.Int64
	stream   string
}

// push stores a set, some of whose contents it adds, as a hub does.
func (r *rival) push(n int) error {
	var entries []tree.Entry
	swap := store.Swap{Author: store.Author{By: "alice"}}
	for i, c := range r.random.Perm(len(r.blobs))[:1+r.random.IntN(len(r.blobs))] {
		digest := r.blobs[c]
		entries = append(entries, tree.Entry{Path: fmt.Sprintf("f%02d", i), Mode: tree.Regular, Size: 1, SHA256: digest})
		swap.Blobs = append(swap.Blobs, store.Blob{SHA256: digest, Size: 1, Stream: r.stream, Start: int64(n*100 + i)})
	}
	files, err := tree.New(entries)
	if err != nil {
		return err
	}
	swap.Next = func(tree.Tree) (tree.Tree, error) { return files, nil }
	// What is stored on its own locks contents too, and in another order if it can.
	early := r.random.IntN(len(swap.Blobs) + 1)
	err = r.write(func(tx *store.Tx) error {
		return tx.AddBlobs(r.Context(), "acme", nil, swap.Blobs[:early])
	})
	if err != nil {
		return err
	}
	project := r.projects[r.random.IntN(len(r.projects))]
	return r.write(func(tx *store.Tx) error {
		_, err := tx.SwapSnapshot(r.Context(), project, swap)
		return err
	})
}

func (r *rival) write(f func(*store.Tx) error) error {
	return r.store.Write(r.Context(), func(tx *store.Tx) error {
		err := f(tx)
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "40P01" { // deadlock_detected
			r.circles.Add(1)
		}
		return err
	})
}

func TestDeleteProject_LocksInTheOrderOfWritesToItsConfig(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		r := project(t, s)
		var circles, deleted atomic.Int64
		var all sync.WaitGroup
		for n := range 6 {
			all.Go(func() {
				w := &rival{T: t, store: s, circles: &circles}
				for i := range 15 {
					err := w.write(func(tx *store.Tx) error {
						if n > 0 {
							_, _, err := tx.WriteConfig(t.Context(), r, store.ConfigWrite{Change: func(*store.Config) ([]byte, error) {
								return fmt.Appendf(nil, `{"n":%d}`, 100*n+i), nil
							}})
							return err
						}
						if _, err := tx.DeleteProject(t.Context(), r, "alice"); err != nil {
							return err
						}
						deleted.Add(1)
						return nil
					})
					if err == nil && n == 0 {
						err = w.write(func(tx *store.Tx) error { _, err := tx.RestoreProject(t.Context(), r); return err })
					}
					if err != nil && !errors.Is(err, store.ErrNotFound) {
						t.Errorf("rival %d, write %d: %v", n, i, err)
					}
				}
			})
		}
		all.Wait()
		if n := circles.Load(); n != 0 || deleted.Load() == 0 {
			t.Errorf("%d transactions waited for each other in a circle, %d deletions", n, deleted.Load())
		}
	})
}

// always makes each content one that has to be touched, for the time of a test.
func always(t *testing.T) {
	t.Helper()
	fresh := store.Fresh
	store.Fresh = -1
	t.Cleanup(func() { store.Fresh = fresh })
}

func TestSwapBaseFiles_LocksInOneOrder(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		always(t)
		project(t, s)
		var projects []ref.Ref
		write(t, s, func(tx *store.Tx) error {
			projects = nil
			for i := range 4 {
				p := webProject()
				p.Slug = fmt.Sprintf("p%d", i)
				projects = append(projects, mustRef(t, "@acme/"+p.Slug))
				if err := tx.CreateProject(t.Context(), p); err != nil {
					return err
				}
			}
			return nil
		})
		var blobs []string
		for i := range 40 {
			blobs = append(blobs, fmt.Sprintf("%064x", i))
		}
		var circles atomic.Int64
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				r := &rival{t, s, rand.New(rand.NewPCG(uint64(n), 7)), projects, blobs, &circles, fmt.Sprint("s", n)}
				for i := range 15 {
					if err := r.push(i); err != nil {
						t.Errorf("rival %d, push %d: %v", n, i, err)
						return
					}
				}
			})
		}
		collected := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if _, err := s.Collect(ctx, 0); err != nil && ctx.Err() == nil {
					collected <- err
					return
				}
			}
			collected <- nil
		}()
		all.Wait()
		cancel()
		if err := <-collected; err != nil {
			t.Errorf("a collection: %v", err)
		}
		// A caller hardly sees a deadlock: one of the transactions is run again, a second
		// later. A push whose blobs a collection removes meanwhile is run again, too.
		if n := circles.Load(); n != 0 {
			t.Errorf("%d transactions waited for each other in a circle", n)
		}
	})
}
