package sqldb_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

func TestOpen_LimitsTheTimesOfEachSession(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	for _, c := range []struct{ more, setting, want string }{
		{"", "lock_timeout", "5s"},
		{"", "statement_timeout", "30s"},
		{"", "idle_in_transaction_session_timeout", "1min"},
		{"&statement_timeout=7s", "statement_timeout", "7s"}, // as the administrator wants it
	} {
		db := openEmpty(t, address+c.more)
		if got := setting(t, db.View(t.Context()), c.setting); got != c.want {
			t.Errorf("read%s: %s is %q, want %q", c.more, c.setting, got, c.want)
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if got := setting(t, tx.View, c.setting); got != c.want {
				t.Errorf("write%s: %s is %q, want %q", c.more, c.setting, got, c.want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestWrite_EndsRetriesAsUnavailable(t *testing.T) {
	t.Parallel()
	db := open(t, storetest.Postgres(t))
	for _, code := range []string{"40001", "40P01", "55P03", "57014", "25P03"} {
		tries := 0
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			tries++
			_, err := tx.Exec("DO $$ BEGIN RAISE 'as if' USING ERRCODE = '" + code + "'; END $$")
			return err
		})
		if !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", code, err)
		}
		if retried := tries > 1; retried != (code[:2] == "40") {
			t.Errorf("%s: tried %d times", code, tries)
		}
	}
}

func TestSend_FailsTheWrite(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	for _, mode := range []string{"cache_statement", "exec"} { // exec is for poolers
		db := openEmpty(t, address+"&default_query_exec_mode="+mode)
		write := func(f func(tx *sqldb.Tx) error) error { return db.Write(t.Context(), f) }
		send := func(tx *sqldb.Tx, at sqldb.Time) error { return tx.Send("INSERT INTO sent (at) VALUES (?)", at) }
		if err := write(func(tx *sqldb.Tx) error {
			return tx.Send("CREATE TABLE sent (at BIGINT PRIMARY KEY)")
		}); err != nil {
			t.Fatal(err)
		}
		if err := write(func(tx *sqldb.Tx) error { return send(tx, 1) }); err != nil {
			t.Error(err)
		}
		for name, f := range map[string]func(tx *sqldb.Tx) error{
			"with the commit":  func(tx *sqldb.Tx) error { return errors.Join(send(tx, 2), send(tx, 1)) },
			"with a statement": func(tx *sqldb.Tx) error { _, err := tx.Exec("SELECT 1"); return errors.Join(send(tx, 1), err) },
			"with a query": func(tx *sqldb.Tx) error {
				return errors.Join(send(tx, 2), send(tx, 1), tx.One(sqldb.Row(new(int64)), "SELECT 1::bigint"))
			},
		} {
			if err := write(f); !errors.Is(err, sqldb.ErrExists) {
				t.Errorf("%s, %s: %v, want ErrExists", mode, name, err)
			}
		}
		ignored := func(tx *sqldb.Tx) error {
			_, _ = tx.Exec("INSERT INTO sent (at) VALUES (?)", sqldb.Time(1))
			return nil
		}
		if err := write(ignored); !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("%s: a failure that was ignored: %v", mode, err)
		}
		var n int
		err := write(func(tx *sqldb.Tx) error {
			return errors.Join(send(tx, 3), tx.One(sqldb.Row(&n), "SELECT count(*) FROM sent"), tx.Send("DROP TABLE sent"))
		})
		if err != nil || n != 2 {
			t.Errorf("%s: %d rows, %v", mode, n, err)
		}
	}
}

func TestWrite_MeaningOfErrors(t *testing.T) {
	t.Parallel()
	db := open(t, storetest.Postgres(t))
	for code, want := range map[string]error{
		"53100": sqldb.ErrFull, "23505": sqldb.ErrExists, "23503": sqldb.ErrReference, "XX001": sqldb.ErrDamaged,
		"57P01": sqldb.ErrUnavailable,
	} {
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("DO $$ BEGIN RAISE 'as if' USING ERRCODE = '" + code + "'; END $$")
			return err
		})
		if _, pg := errors.AsType[*pgconn.PgError](err); !pg || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", code, err, want)
		}
	}
}

func TestWrite_DoesNotWaitForALockWithoutEnd(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	open(t, address)
	db := open(t, address+"&lock_timeout=200ms")
	tx, err := openRaw(t, address).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE names IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	// More writers than connections, and none of them in the way of a read.
	var all sync.WaitGroup
	for i := range sqldb.DefaultConnections + 8 {
		all.Go(func() {
			if err := addName(t.Context(), db, numbered(i)); !errors.Is(err, sqldb.ErrUnavailable) {
				t.Errorf("a write: %v, want ErrUnavailable", err)
			}
		})
		all.Go(func() {
			if err := db.View(t.Context()).One(sqldb.Row(new(int)), "SELECT count(*) FROM names"); err != nil {
				t.Errorf("a read: %v", err)
			}
		})
	}
	all.Wait()
}

func TestOpen_KeepsConnectionsForReads(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), storetest.Postgres(t), sqldb.Options{Connections: sqldb.MinConnections})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	entered, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range sqldb.MinConnections / 2 {
		all.Go(func() {
			if err := db.Write(ctx, func(*sqldb.Tx) error { entered <- struct{}{}; <-leave; return nil }); err != nil {
				t.Error(err)
			}
		})
		<-entered
	}
	all.Go(func() {
		// The last writer waits for a connection until it gives up.
		if err := db.Write(ctx, func(*sqldb.Tx) error { return nil }); !errors.Is(err, sqldb.ErrUnavailable) {
			t.Errorf("a write without a connection: %v, want ErrUnavailable", err)
		}
		close(leave)
	})
	if _, err := db.View(ctx).Now(); err != nil {
		t.Errorf("a concurrent read: %v", err)
	}
	all.Wait()
}

// Writers that come again soon find the connections of those before: a new one costs more than a write.
func TestOpen_KeepsConnectionsForTheNextWriters(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	db := openEmpty(t, address+"&application_name="+t.Name())
	var first string
	for range 3 {
		var all, entered sync.WaitGroup
		entered.Add(sqldb.DefaultConnections / 2)
		for range sqldb.DefaultConnections / 2 {
			all.Go(func() {
				err := db.Write(t.Context(), func(*sqldb.Tx) error { entered.Done(); entered.Wait(); return nil })
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var sessions string
		err := openRaw(t, address).QueryRow(`SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity
			WHERE application_name = '` + t.Name() + "'").Scan(&sessions)
		if first == "" {
			first = sessions
		}
		if n := len(strings.Fields(sessions)); err != nil || sessions != first || n < sqldb.DefaultConnections/2 {
			t.Errorf("%d connections, other ones than before: %v; %v", n, sessions != first, err)
		}
	}
}

func TestOpen_SharesTheTimeToConnectAmongHosts(t *testing.T) {
	for address, want := range map[string]struct {
		timeout time.Duration
		checked bool // that the host takes writes
	}{
		"postgres://u@a/db":                                      {5 * time.Second, false},
		"postgres://u@a,b/db":                                    {2500 * time.Millisecond, true},
		"postgres://u@a/db?connect_timeout=9":                    {9 * time.Second, false},
		"postgres://u@a,b/db?target_session_attrs=read-write":    {2500 * time.Millisecond, true},
		"postgres://u@a,b/db?sslmode=disable&connect_timeout=10": {10 * time.Second, true},
	} {
		cfg, err := pgx.ParseConfig(address)
		if err != nil {
			t.Fatal(err)
		}
		sqldb.LimitConnect(cfg)
		if cfg.ConnectTimeout != want.timeout || (cfg.ValidateConnect != nil) != want.checked {
			t.Errorf("%s: %v, checked: %v", address, cfg.ConnectTimeout, cfg.ValidateConnect != nil)
		}
	}
}

func TestReady_StandbyIsNotReady(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	open(t, address)
	db := openEmpty(t, address+"&default_transaction_read_only=on")
	if err := db.Ready(t.Context()); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("a read-only PostgreSQL: %v, want ErrUnavailable", err)
	}
	if err := addName(t.Context(), db, "a"); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("a write: %v, want ErrUnavailable", err)
	}
}
