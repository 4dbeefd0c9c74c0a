package storetest

import (
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of 16 MiB, and unmounts it after the test, which is skipped where it
// cannot be mounted.
func SmallDisk(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("needs root, to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
