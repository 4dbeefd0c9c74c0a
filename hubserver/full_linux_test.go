package hubserver_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// onFullDisk runs f with a hub whose disk fill makes full, and free makes empty again.
func onFullDisk(t *testing.T, f func(t *testing.T, hub *testHub, fill, free func())) {
	t.Run("sqlite", func(t *testing.T) {
		dir := storetest.SmallDisk(t)
		hub := newHub(t, "sqlite:"+filepath.Join(dir, "hub.db"), nil)
		filler := filepath.Join(dir, "filler")
		fill := func() {
			t.Helper()
			file, err := os.OpenFile(filler, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := io.Copy(file, zeros{}); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		}
		f(t, hub, fill, func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		})
	})
	// Its own disk is not ours to fill: every write to a table fails as it would there.
	t.Run("postgres", func(t *testing.T) {
		hub := newHub(t, storetest.Postgres(t), nil)
		var tables []string
		db := hub.open()
		for _, row := range hub.rows(db,
			"SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()") {
			tables = append(tables, row[0])
		}
		db.Close()
		fill := func() {
			hub.sql(`CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'could not extend file' ` +
				`USING ERRCODE = 'disk_full'; END $$`)
			for _, table := range tables {
				hub.sql("CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON " + table +
					" FOR EACH ROW EXECUTE FUNCTION no_space()")
			}
		}
		f(t, hub, fill, func() { hub.sql("DROP FUNCTION no_space CASCADE") })
	})
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestFullDisk_RefusesWritesAndRecovers(t *testing.T) {
	onFullDisk(t, func(t *testing.T, hub *testHub, fill, free func()) {
		hub.project()
		alice := hub.as("alice")
		alice.put(clientCfg, `{"settings": {"title": "before"}}`).want(200)
		alice.put(baseFiles, archive(t, file{name: "a", content: "before"})).want(200)
		for range 2 {
			fill()
			// SQLite's log may have room of its own, which its copy into the database has freed.
			present, text := "before", hex.EncodeToString([]byte(noise(400<<10)))
			for n := 0; ; n++ {
				title := fmt.Sprint("title ", n)
				written := alice.put(clientCfg, `{"settings": {"title": "`+title+text+`"}}`)
				if written.status != 200 {
					written.problem(507, wire.CodeStorageFull)
					break
				}
				present = title
			}
			alice.put(baseFiles, archive(t, file{name: "a", content: noise(4 << 20)})).problem(507, wire.CodeStorageFull)
			// Reads go on, as does the hub.
			if got := alice.get(config).want(200); !strings.Contains(string(got.body), present) {
				t.Errorf("the config is %s", got.body)
			}
			alice.get(baseFiles + "/archive").want(200)
			alice.get("/@acme/web").want(200)
			hub.with("").get("/readyz").want(200)
			free()
			alice.put(clientCfg, `{"settings": {"title": "after"}}`).want(200)
			alice.put(baseFiles, archive(t, file{name: "a", content: noise(1 << 20)})).want(200)
			alice.put(clientCfg, `{"settings": {"title": "before"}}`).want(200)
		}
		if _, err := hub.store.Check(t.Context(), false, func(p store.Problem) { t.Error(p.Cause) }); err != nil {
			t.Error(err)
		}
	})
}

func TestReady_FailsOnAReadOnlyPostgreSQL(t *testing.T) {
	address, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := storetest.Open(t, address.String()).Ready(t.Context()); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
	q := address.Query()
	q.Set("default_transaction_read_only", "on")
	address.RawQuery = q.Encode()
	s, err := store.Open(t.Context(), address.String(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("it is ready: %v", err)
	}
}
