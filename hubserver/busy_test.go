package hubserver_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

// lock holds the database's one place for a writer, as another process can, until
// the function that it returns is called.
func (h *testHub) lock() (unlock func()) {
	h.Helper()
	db := h.open()
	conn, err := db.Conn(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	if _, err := conn.ExecContext(h.Context(), "BEGIN IMMEDIATE"); err != nil {
		h.Fatal(err)
	}
	return func() {
		h.Helper()
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			h.Error(err)
		}
		conn.Close()
		db.Close()
	}
}

// lockTable holds off those who write to a table, on SQLite to any, until the function that
// it returns is called.
func (h *testHub) lockTable(name string) (unlock func()) {
	h.Helper()
	if !strings.HasPrefix(h.address, "postgres:") {
		return h.lock()
	}
	db := h.open()
	tx, err := db.BeginTx(h.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(h.Context(), "LOCK TABLE "+name+" IN EXCLUSIVE MODE")
	}
	if err != nil {
		h.Fatal(err)
	}
	return func() {
		h.Helper()
		if err := tx.Rollback(); err != nil {
			h.Error(err)
		}
		db.Close()
	}
}

func TestServer_OtherWriterBlocksWritesNotReads(t *testing.T) {
	takesLong(t)
	t.Parallel()
	hub := one(t, nil)
	hub.project()
	const callers = 8
	tokens := make([]string, callers)
	for i := range tokens {
		tokens[i] = hub.token("alice", wire.Scopes...)
	}
	unlock := sync.OnceFunc(hub.lock())
	defer unlock()
	// All wait at the same time: one after the other they would take eight times as long.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for _, token := range tokens {
		wg.Go(func() {
			if a, err := hub.with(token).tryWithin(ctx, "GET", "/v1/whoami", nil); err != nil || a.status != 200 {
				t.Errorf("a read: %v, %+v", err, a)
			}
			a, err := hub.with(token).tryWithin(ctx, "PUT", clientCfg, `{"settings": {"a": 1}}`)
			if err != nil || a.status != 503 || a.header.Get("Retry-After") == "" {
				t.Errorf("a write: %v, %+v", err, a)
			}
		})
	}
	wg.Wait()
	unlock()
	hub.settings(`{"a": 1}`)
}

func TestPostgres_WritersThatWaitForALockDoNotDelayReads(t *testing.T) {
	t.Parallel()
	hub := newHub(t, storetest.Postgres(t)+"&lock_timeout=500ms", nil)
	hub.project()
	const callers = sqldb.DefaultConnections + 8
	unlock := sync.OnceFunc(hub.lockTable("revisions"))
	defer unlock()
	alice := hub.as("alice")
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			a, err := alice.try("PUT", clientCfg, `{"settings": {"a": 1}}`)
			if err != nil || a.status != 503 || a.header.Get("Retry-After") == "" ||
				!strings.Contains(string(a.body), string(wire.CodeUnavailable)) {
				t.Errorf("a write: %v, %+v", err, a)
			}
		})
		all.Go(func() {
			if a, err := alice.try("GET", config, nil); err != nil || a.status != 200 {
				t.Errorf("a read: %v, %+v", err, a)
			}
		})
	}
	all.Wait()
	unlock()
	hub.settings(`{"a": 1}`)
}
