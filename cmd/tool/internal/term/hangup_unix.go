//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// hungUp asks whether reads of the terminal end because it hung up. That is known a moment before
// its size cannot be read any more, and before SIGHUP arrives.
func hungUp(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	_, err := unix.Poll(fds, 0)
	return err == nil && fds[0].Revents&unix.POLLHUP != 0
}
