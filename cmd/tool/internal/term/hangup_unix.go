//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// hungUp asks for what makes a read of the terminal end: it is so a moment before
// the terminal stops to answer, and before the signal comes.
func hungUp(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	_, err := unix.Poll(fds, 0)
	return err == nil && fds[0].Revents&unix.POLLHUP != 0
}
