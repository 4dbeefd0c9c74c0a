package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// One request fails for a connection that is closed, at most; then there is another.
func TestFrequent_ConnectsAgain(t *testing.T) {
	s := open(t, storetest.SQLite(t))
	token := digestOf('a')
	write(t, s, func(tx *store.Tx) error {
		return tx.CreateToken(t.Context(), &store.Token{Hash: token, Owner: "alice", Scopes: "write:config"})
	})
	ask := func() error {
		_, err := admission(t, s, store.Asked{Token: token})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	s.Break()
	failed := 0
	for range 20 {
		if err := ask(); errors.Is(err, store.ErrUnavailable) {
			failed++
		} else if err != nil {
			t.Error(err)
		}
	}
	if failed > 1 {
		t.Errorf("%d requests failed", failed)
	}
}

// A panic below database/sql does not cost the connection, or what is open on it.
func TestFrequent_PanicHarmsNoOther(t *testing.T) {
	c := newCrew(t)
	ask := func(call func() error) {
		defer func() {
			if p := fmt.Sprint(recover()); !strings.Contains(p, "prepared.go") {
				t.Errorf("it panicked with %q", p)
			}
		}()
		t.Error("no panic, but ", call())
	}
	for i := range 6 {
		ask(func() error {
			return c.store.Read(t.Context(), func(v *store.View) error { return v.AskWrongly(t.Context()) })
		})
		ask(func() error {
			return c.store.Write(t.Context(), func(tx *store.Tx) error {
				return cmp.Or(c.note(tx, "gone"), tx.AskWrongly(t.Context()))
			})
		})
		write(t, c.store, func(tx *store.Tx) error { return c.note(tx, fmt.Sprint("n", i)) })
		if err := c.store.Read(t.Context(), func(v *store.View) error { _, err := v.Bearer(t.Context(), "none"); return err }); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
	if got := c.noted(); len(got) != 6 || slices.Contains(got, "gone") {
		t.Errorf("stored are %v", got)
	}
}

// What is asked while the store closes is answered or refused, and nothing waits for ever.
func TestFrequent_BesideClose(t *testing.T) {
	s := open(t, storetest.SQLite(t))
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked := make(chan struct{}, 1)
	for range 12 {
		all.Go(func() {
			for {
				err := s.Read(ctx, func(v *store.View) error { _, err := v.Bearer(ctx, "none"); return err })
				switch {
				case errors.Is(err, context.DeadlineExceeded):
					t.Error(err)
					return
				case !errors.Is(err, store.ErrNotFound):
					return // it is closed
				}
				select {
				case asked <- struct{}{}:
				default:
				}
				runtime.Gosched()
			}
		})
	}
	select {
	case <-asked:
	case <-ctx.Done():
		t.Fatal("nothing was answered")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
}
