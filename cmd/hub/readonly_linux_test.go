package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/projecthub/store/storetest"
)

func TestCommands_SayThatADiskIsReadOnly(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		storetest.Missing(t, "the right to mount a file system: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	db := "sqlite:" + filepath.Join(dir, "hub.db")
	done(t, "migrate", "--db", db)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"fsck"}, {"backup", filepath.Join(t.TempDir(), "backup.db")}} {
		code, said := command(t, append(args, "--db", db)...)
		if code != exitFailed || !strings.Contains(said, "read-only") || !strings.Contains(said, "try: cp ") {
			t.Errorf("%q: exit code %d: %s", args, code, said)
		}
	}
}
