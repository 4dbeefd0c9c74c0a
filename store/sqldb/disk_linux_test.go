package sqldb_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

func TestWrite_FullDisk(t *testing.T) {
	t.Parallel()
	dir := storetest.SmallDisk(t)
	db := open(t, "sqlite:"+filepath.Join(dir, "hub.db"))
	filler := filepath.Join(dir, "filler")
	file, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zeros.Close()
	if _, err := io.Copy(file, zeros); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	large := func(tx *sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO names (name, body) VALUES (?, ?)", "large", make([]byte, 2<<20))
		return err
	}
	if err := db.Write(t.Context(), large); !errors.Is(err, sqldb.ErrFull) {
		t.Errorf("on a full disk: %v, want ErrFull", err)
	}
	if got := stored(t, db); len(got) != 0 {
		t.Errorf("stored are %v", got)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("a full disk is no reason not to be ready: %v", err)
	}
	if err := os.Truncate(filler, 0); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), large); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// The directories of a file are synced when it is created, and not each time it is opened.
func TestOpen_SyncsDirectoriesOfANewFileOnly(t *testing.T) {
	parent := t.TempDir()
	watch, err := syscall.InotifyInit1(syscall.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(watch)
	if _, err := syscall.InotifyAddWatch(watch, parent, syscall.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		openEmpty(t, "sqlite:"+filepath.Join(parent, "data", "hub.db")).Close()
		n, err := syscall.Read(watch, make([]byte, 4<<10))
		if opened := err == nil && n > 0; opened != want || err != nil && err != syscall.EAGAIN {
			t.Errorf("the parent directory was opened: %v, %v; want %v", opened, err, want)
		}
	}
}
