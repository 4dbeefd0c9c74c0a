package golden_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var backups = flag.Int("backups", 3, "how many backups to make while a hub is written to: 20 takes a minute")

// ledger is what a hub has acknowledged: by project, the number of its last edit.
type ledger struct {
	mu    sync.Mutex
	edits map[string]int
}

func (l *ledger) add(slug string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.edits[slug] = n
}

func (l *ledger) copy() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.edits)
}

// TestBackup_HasAllThatWasAcknowledged makes backups under 200 writes a second, of SQLite by hub backup
// and of both databases by hub copy to both, and compares each with what was acknowledged before it began.
func TestBackup_HasAllThatWasAcknowledged(t *testing.T) {
	for name, db := range map[string]database{"sqlite": sqlite, "postgres": postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			h := startHub(t, db(t, root))
			w := &world{t: t, hub: h, origin: h.origin}
			h.admin(t, "account", "create", "alice")
			w.token = h.token(t, "alice", "write:catalog")
			acknowledged := &ledger{edits: map[string]int{}}
			slugs := w.projects(8)
			ctx, stop := context.WithCancel(t.Context())
			var writers sync.WaitGroup
			for _, slug := range slugs {
				w.count(slug, 1, acknowledged)
				writers.Go(func() { w.keepEditing(ctx, slug, acknowledged) })
			}
			defer writers.Wait()
			defer stop()
			checked := 0
			for i := range *backups {
				if name == "sqlite" {
					before := acknowledged.copy()
					file := filepath.Join(root, fmt.Sprint(i, ".backup"))
					h.admin(t, "backup", file)
					checked += w.checkBackup("sqlite:"+file, before)
				}
				for _, other := range []string{"sqlite:" + filepath.Join(root, fmt.Sprint(i, ".copy")), postgres(t, "")} {
					before := acknowledged.copy()
					h.admin(t, "copy", "--to", other)
					checked += w.checkBackup(other, before)
				}
			}
			t.Logf("%d backups, %d projects compared, %d edits acknowledged", *backups, checked, total(acknowledged.copy()))
		})
	}
}

func total(edits map[string]int) (n int) {
	for _, last := range edits {
		n += last
	}
	return n
}

// projects makes n projects of one stack.
func (w *world) projects(n int) (slugs []string) {
	w.t.Helper()
	w.dir = w.t.TempDir()
	for name, value := range environment(w.t.TempDir()) {
		w.env = append(w.env, name+"="+value)
	}
	w.write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.0.0"}`)
	w.write(clientJSON, `{"source": "openapi.json", "settings": {"n": 0}}`)
	w.write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`)
	w.must("login", "--origin", w.origin, "--token", w.token)
	w.must("publish")
	for i := range n {
		slug := fmt.Sprintf("p%d", i)
		w.must("project", "create", slug, "--from", "web")
		slugs = append(slugs, slug)
	}
	return slugs
}

// keepEditing edits a config 25 times a second until ctx ends.
func (w *world) keepEditing(ctx context.Context, slug string, acknowledged *ledger) {
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for n := 2; w.count(slug, n, acknowledged); n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *world) count(slug string, n int, acknowledged *ledger) bool {
	if err := patch(w.hub.origin+"/v1/projects/alice/"+slug+"/config", w.token,
		fmt.Sprintf(`{"set": {"n": %d}}`, n)); err != nil {
		w.t.Errorf("%s, edit %d: %v", slug, n, err)
		return false
	}
	acknowledged.add(slug, n)
	return true
}

// checkBackup checks a copy of the database, and has a hub serve it.
func (w *world) checkBackup(address string, before map[string]int) (compared int) {
	w.t.Helper()
	(&hub{db: address}).admin(w.t, "fsck")
	served := startHub(w.t, address)
	defer served.stop(w.t)
	other := &world{t: w.t, hub: served, token: w.token}
	for slug, last := range before {
		var got struct{ Config struct{ N int } }
		text, status := other.fetch("/v1/projects/alice/" + slug + "/config")
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK || got.Config.N < last {
			w.t.Errorf("%s in %s has %d, acknowledged were %d (%d %v)", slug, address, got.Config.N, last, status, err)
		}
		compared++
	}
	return compared
}
