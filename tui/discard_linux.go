package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput drops the input that waits in a terminal. It does nothing to other files.
func discardInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
