package atomicfile

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Exchange exchanges two files of a directory, at once: each name has one of the two at every
// moment. The error is [errors.ErrUnsupported] where the file system cannot.
func Exchange(in *os.Root, one, other string) error {
	dir, err := in.Open(path.Dir(one)) // which follows no link out of in
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.Renameat2(fd, path.Base(one), fd, path.Base(other), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) { // ENOSYS and ENOTSUP are ErrUnsupported
		return errors.ErrUnsupported
	}
	return err
}
