package sqldb_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/projecthub/store/storetest"
)

const (
	addOne  = "INSERT INTO names (name) VALUES ('added')"
	endless = "INSERT INTO names (name) " +
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
)

// begin begins a copy that is not whole until it is cancelled.
func begin(t *testing.T, path string) (end func() error) {
	t.Helper()
	db := open(t, storetest.SQLite(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.CopyInto(ctx, path, endless) }()
	for begun := false; !begun; time.Sleep(100 * time.Millisecond) {
		info, err := os.Stat(path + ".part")
		begun = err == nil && info.Size() > 0 || len(ended) > 0
	}
	return func() error { cancel(); return <-ended }
}

func TestCopyInto_NamesOnlyAWholeCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.db")
	end := begin(t, path)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("what is not whole has the name:", err)
	}
	if err := end(); err == nil {
		t.Error("it did not fail")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("what has failed has the name:", err)
	}
}

func TestCopyInto_ReplacesWhatAnInterruptedCopyLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{".part", ".part-journal", ".part-wal"} {
		if err := os.WriteFile(path+suffix, make([]byte, 9000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, storetest.SQLite(t))
	if err := db.CopyInto(t.Context(), path, addOne); err != nil {
		t.Fatal(err)
	}
	if found, err := filepath.Glob(path + "*"); err != nil || len(found) != 1 {
		t.Errorf("%q, %v", found, err)
	}
	if got := stored(t, open(t, "sqlite:"+path)); len(got) != 1 {
		t.Error(got)
	}
}

// Of two copies to one file at once, the first one must not name what the other one has begun.
func TestCopyInto_TwiceAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.db")
	end := begin(t, path)
	db := open(t, storetest.SQLite(t))
	if err := db.CopyInto(t.Context(), path, addOne); err != nil {
		t.Error(err)
	}
	if err := end(); err == nil {
		t.Error("both succeeded")
	}
	if got := stored(t, open(t, "sqlite:"+path)); len(got) != 1 {
		t.Error(got)
	}
}
