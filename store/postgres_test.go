package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

func TestOpen_LimitsTheTimesOfEachSession(t *testing.T) {
	address := storetest.Postgres(t)
	for _, c := range []struct{ more, setting, want string }{
		{"", "lock_timeout", "5s"},
		{"", "statement_timeout", "30s"},
		{"", "idle_in_transaction_session_timeout", "1min"},
		{"&statement_timeout=7s", "statement_timeout", "7s"}, // as the administrator wants it
	} {
		s := storetest.Open(t, address+c.more)
		write := func(ctx context.Context, f func(*store.View) error) error {
			return s.Write(ctx, func(tx *store.Tx) error { return f(&tx.View) })
		}
		for name, in := range map[string]func(context.Context, func(*store.View) error) error{"read": s.Read, "write": write} {
			var got string
			err := in(t.Context(), func(v *store.View) (err error) {
				got, err = v.Setting(t.Context(), c.setting)
				return err
			})
			if err != nil || got != c.want {
				t.Errorf("%s%s: %s is %q, want %q: %v", name, c.more, c.setting, got, c.want, err)
			}
		}
	}
}

func TestWrite_EndsRetriesAsUnavailable(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store) {
		for _, code := range []string{"40001", "40P01", "55P03", "57014", "25P03"} {
			tries := 0
			err := s.Write(t.Context(), func(*store.Tx) error {
				tries++
				return &pgconn.PgError{Code: code}
			})
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: %v, want ErrUnavailable", code, err)
			}
			if retried := tries > 1; retried != (code[:2] == "40") {
				t.Errorf("%s: tried %d times", code, tries)
			}
		}
	})
}

// A statement that cannot even be prepared keeps BEGIN from being sent, too.
func TestWrite_RunsNothingAfterAStatementFailed(t *testing.T) {
	s := storetest.Open(t, storetest.Postgres(t))
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		_ = tx.Send(t.Context(), "INSERT INTO no_such_table VALUES (?)", 1)
		_, _ = tx.Now(t.Context()) // goes with it, and fails
		_ = tx.Exec(t.Context(), "INSERT INTO accounts (name, kind, created_at, disabled_at) VALUES (?, 'org', 1, 0)", "stray")
		return nil
	})
	if err == nil {
		t.Error("the write succeeded")
	}
	err = s.Read(t.Context(), func(v *store.View) error { _, err := v.Account(t.Context(), "stray"); return err })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the account that a statement after the failure created: %v", err)
	}
}

func TestWrite_DoesNotWaitForALockWithoutEnd(t *testing.T) {
	address := storetest.Postgres(t)
	s := open(t, address+"&lock_timeout=200ms")
	web := project(t, s)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE configs IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	// More writers than connections, and none of them in the way of a read.
	var all sync.WaitGroup
	for range store.DefaultConnections + 8 {
		all.Go(func() {
			err := s.Write(t.Context(), func(tx *store.Tx) error {
				_, _, err := tx.WriteConfig(t.Context(), web, by("alice", set(`{"a":1}`)))
				return err
			})
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a write: %v, want ErrUnavailable", err)
			}
		})
		all.Go(func() {
			if err := s.Read(t.Context(), func(v *store.View) error { _, err := v.Config(t.Context(), web); return err }); err != nil {
				t.Errorf("a read: %v", err)
			}
		})
	}
	all.Wait()
}

func TestOpen_KeepsConnectionsForReads(t *testing.T) {
	s, err := store.Open(t.Context(), storetest.Postgres(t), store.Options{Connections: store.MinConnections})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	entered, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range store.MinConnections / 2 {
		all.Go(func() {
			if err := s.Write(ctx, func(*store.Tx) error { entered <- struct{}{}; <-leave; return nil }); err != nil {
				t.Error(err)
			}
		})
		<-entered
	}
	all.Go(func() {
		// The last writer waits for a connection until it gives up.
		if err := s.Write(ctx, func(*store.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a write without a connection: %v, want ErrUnavailable", err)
		}
		close(leave)
	})
	if err := s.Read(ctx, func(v *store.View) error { _, err := v.Now(ctx); return err }); err != nil {
		t.Errorf("a concurrent read: %v", err)
	}
	all.Wait()
}

// Writers that come again soon find the connections of those before: a new one costs more than a write.
func TestOpen_KeepsConnectionsForTheNextWriters(t *testing.T) {
	address := storetest.Postgres(t)
	s := storetest.Open(t, address+"&application_name="+t.Name())
	var first string
	for range 3 {
		var all, entered sync.WaitGroup
		entered.Add(store.DefaultConnections / 2)
		for range store.DefaultConnections / 2 {
			all.Go(func() {
				if err := s.Write(t.Context(), func(*store.Tx) error { entered.Done(); entered.Wait(); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var sessions string
		query(t, address, "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = '"+t.Name()+"'", &sessions)
		if first == "" {
			first = sessions
		}
		if n := len(strings.Fields(sessions)); sessions != first || n < store.DefaultConnections/2 {
			t.Errorf("%d connections, other ones than before: %v", n, sessions != first)
		}
	}
}
