//go:build unix

package workspace

import (
	"io/fs"
	"syscall"
)

// owner returns the user id of a file's owner, if the system knows owners.
func owner(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
