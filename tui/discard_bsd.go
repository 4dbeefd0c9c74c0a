//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops the input that waits in a terminal. It does nothing to other files.
func discardInput(f *os.File) {
	const input = 1 // FREAD of <sys/fcntl.h>
	unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, input)
}
