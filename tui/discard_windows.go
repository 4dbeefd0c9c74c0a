package tui

import (
	"os"

	"golang.org/x/sys/windows"
)

// discardInput drops the input that waits in a console. Of another file it drops
// nothing.
func discardInput(f *os.File) { windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
