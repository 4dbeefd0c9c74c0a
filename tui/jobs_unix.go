//go:build unix

package tui

import "golang.org/x/sys/unix"

// jobControl reports whether a shell can continue the program once it is stopped. A shell
// with job control gives each job a process group of its own.
func jobControl() bool {
	session, _ := unix.Getsid(0) // neither call fails for the process itself
	group, _ := unix.Getpgid(0)
	return group != session
}
