package hubserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store"
	"example.com/projecthub/store/objects"
	"example.com/projecthub/store/storetest"
)

// failing is an object store that fails with an error once it has one.
type failing struct {
	objects.Store
	with atomic.Pointer[error]
}

func (f *failing) failure() error {
	if err := f.with.Load(); err != nil {
		return fmt.Errorf("get bucket.example.com: %w", *err)
	}
	return nil
}

func (f *failing) Put(ctx context.Context, key string, body []byte) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, body)
}

func (f *failing) Get(ctx context.Context, key string, size int64) ([]byte, error) {
	if err := f.failure(); errors.Is(err, store.ErrObjects) {
		return nil, err
	}
	return f.Store.Get(ctx, key, size)
}

// withObjects returns a hub whose packs are in an object store that can fail.
func withObjects(t *testing.T) (*testHub, *failing) {
	t.Helper()
	directory, err := objects.Open("file:"+t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	outside, address := &failing{Store: directory}, storetest.SQLite(t)
	return newHub(t, address, func(cfg *hubserver.Config) {
		s, err := store.Open(t.Context(), address, store.Options{Objects: outside})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if err := s.UseObjects(t.Context()); err != nil {
			t.Fatal(err)
		}
		cfg.Store = s
	}), outside
}

func TestObjectStore_FailureLeavesConfigsAlone(t *testing.T) {
	hub, outside := withObjects(t)
	hub.project()
	alice := hub.as("alice")
	contents := noisy(40, 30<<10)
	alice.push(contents)
	hub.wantFiles(contents)
	for _, c := range []struct {
		err  error
		put  int
		code wire.Code
	}{
		{store.ErrObjectsFull, http.StatusInsufficientStorage, wire.CodeStorageFull},
		{store.ErrObjects, http.StatusServiceUnavailable, wire.CodeUnavailable},
	} {
		outside.with.Store(&c.err)
		refused := alice.put(baseFiles, archive(t, file{name: "a", content: "other"}))
		if p := refused.problem(c.put, c.code); strings.Contains(p.Detail, "bucket.example.com") {
			t.Errorf("%v: the response says %q", c.err, p.Detail)
		}
		if after := refused.header.Get("Retry-After"); (after != "") != (c.put == http.StatusServiceUnavailable) {
			t.Errorf("%v: Retry-After is %q", c.err, after)
		}
		if c.err == store.ErrObjectsFull {
			hub.wantFiles(contents)
		} else {
			alice.get(baseFiles+"/archive").problem(503, c.code)
			alice.get(baseFiles+"/archive", header{"Accept-Encoding": "zstd"}).problem(503, c.code)
		}
		hub.settings(`{"title": "` + c.err.Error() + `"}`)
		alice.get(baseFiles).want(200)
		alice.get("/readyz").want(200)
	}
	outside.with.Store(nil)
	metrics := httptest.NewRecorder()
	hub.server.AdminServer().Handler.ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(metrics.Body.String(), `hub_object_failures_total{operation="put"} 2`) {
		t.Errorf("the metrics do not count the failures: %s", metrics.Body)
	}
	hub.wantFiles(contents)
	alice.push(map[string]string{"a": "other"})
	hub.wantFiles(map[string]string{"a": "other"})
	if !strings.Contains(hub.log.String(), "bucket.example.com") {
		t.Errorf("the log does not name the cause: %s", hub.log)
	}
}
