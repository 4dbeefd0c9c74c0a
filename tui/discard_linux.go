package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops the input that waits in a terminal. Of another file it drops
// nothing.
func discardInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
