//go:build !unix

package tui

// jobControl reports that no shell can continue the program once it is stopped.
func jobControl() bool { return false }
