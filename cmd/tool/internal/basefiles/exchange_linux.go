package basefiles

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps the names of two files in a directory at once.
func exchange(in *os.Root, temporary, name string) error {
	dir, err := in.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	switch err := unix.Renameat2(fd, temporary, fd, name, unix.RENAME_EXCHANGE); err {
	case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP: // not every file system can
		return exchangeByName(in, temporary, name)
	case unix.ENOENT:
		return errChanged
	default:
		return err
	}
}
