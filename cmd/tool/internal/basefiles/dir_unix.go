//go:build (linux || darwin || dragonfly || freebsd || netbsd || openbsd) && !portable

package basefiles

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"example.com/projecthub/hubclient/tree"
)

type dir struct{ fd int }

func openDir(path string) (*dir, error) {
	fd, err := openAt(unix.AT_FDCWD, path, unix.O_DIRECTORY)
	return &dir{fd}, err
}

func (d *dir) openDir(name string) (*dir, error) {
	fd, err := openAt(d.fd, name, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	return &dir{fd}, err
}

// file is read by system calls: an os.File makes twice as many, which matters for
// thousands of small files.
type file struct{ fd int }

func (d *dir) openFile(name string) (*file, error) {
	// O_NONBLOCK, because a FIFO may have replaced the file, and would block.
	fd, err := openAt(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &file{fd}, nil
}

func openAt(at int, name string, flags int) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		return err
	})
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		switch errno {
		case unix.ELOOP, unix.EMLINK, unix.ENOTDIR, unix.ENXIO: // a link, no directory, a socket
			return fd, errReplaced
		}
	}
	return fd, err
}

func (d *dir) close() { unix.Close(d.fd) }

func (d *dir) stat(name string) (info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return newInfo(&st), err
}

func (f *file) stat() (info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(f.fd, &st) })
	return newInfo(&st), err
}

func (f *file) Read(p []byte) (n int, err error) {
	err = retry(func() error {
		n, err = unix.Read(f.fd, p)
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *file) Close() error { return unix.Close(f.fd) }

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func newInfo(st *unix.Stat_t) info {
	return info{
		kind: kindOfFormat(st.Mode & unix.S_IFMT),
		mode: tree.ModeOf(uint32(st.Mode)),
		Stamp: Stamp{
			Size:    st.Size,
			ModTime: st.Mtim.Nano(),
			Changed: st.Ctim.Nano(),
			Inode:   st.Ino,
		},
	}
}

func kindOfFormat[T uint16 | uint32](format T) kind {
	switch format {
	case 0:
		return unknown
	case unix.S_IFREG:
		return regular
	case unix.S_IFDIR:
		return directory
	case unix.S_IFLNK:
		return link
	case unix.S_IFIFO:
		return kind(fs.ModeNamedPipe)
	case unix.S_IFSOCK:
		return kind(fs.ModeSocket)
	}
	return kind(fs.ModeDevice)
}
