package tui

import (
	"os"

	"golang.org/x/sys/windows"
)

// discardInput drops the input that waits in a console. It does nothing to other files.
func discardInput(f *os.File) { windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
