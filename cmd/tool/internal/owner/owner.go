// Package owner keeps the owners of files that root writes for another user. It
// knows nothing of what is in them.
package owner

import (
	"io/fs"
	"os"
	"path"
)

// Keep gives f the owner of like, the file that it replaces or the directory that it
// is created in. Only root can, and only root has to.
func Keep(f *os.File, like fs.FileInfo) error {
	uid, gid, known := Of(like)
	if !known || os.Geteuid() != 0 || uid == 0 && gid == 0 {
		return nil
	}
	return f.Chown(uid, gid)
}

// KeepNew gives a file or directory that was just created, name, the owner of the
// directory that it is in.
func KeepNew(in *os.Root, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	dir, err := in.Stat(path.Dir(name))
	if err != nil {
		return err
	}
	uid, gid, known := Of(dir)
	if !known || uid == 0 && gid == 0 {
		return nil
	}
	return in.Lchown(name, uid, gid)
}
