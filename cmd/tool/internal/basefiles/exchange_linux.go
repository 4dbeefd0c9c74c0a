package basefiles

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange exchanges two files of a directory atomically if the file system can.
func exchange(in *os.Root, temporary, name string) error {
	dir, err := in.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	switch err := unix.Renameat2(fd, temporary, fd, name, unix.RENAME_EXCHANGE); err {
	case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP: // not supported by every file system
		return exchangeByName(in, temporary, name)
	case unix.ENOENT:
		return errChanged
	default:
		return err
	}
}
