//go:build (darwin || dragonfly || freebsd || netbsd || openbsd) && !portable

package basefiles

import (
	"os"

	"golang.org/x/sys/unix"
)

func (d *dir) list(visit func(name []byte, kind kind)) error {
	fd, err := openAt(d.fd, ".", unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		visit([]byte(name), unknown)
	}
	return err
}
