package store_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"example.com/projecthub/store"
)

// The directories of a file are synced when it is made, and not at each start of a hub.
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
		s, err := store.Open(t.Context(), "sqlite:"+filepath.Join(parent, "data", "hub.db"), store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		n, err := syscall.Read(watch, make([]byte, 4<<10))
		if opened := err == nil && n > 0; opened != want || err != nil && err != syscall.EAGAIN {
			t.Errorf("the parent directory was opened: %v, %v; want %v", opened, err, want)
		}
	}
}
