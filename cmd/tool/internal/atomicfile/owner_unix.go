//go:build unix

package atomicfile

import (
	"io/fs"
	"syscall"
)

// Owner returns the ids of a file's owner and group, if the system knows owners.
func Owner(info fs.FileInfo) (uid, gid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}
