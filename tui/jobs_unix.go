//go:build unix

package tui

import "golang.org/x/sys/unix"

// jobControl reports whether a shell can continue the program once it is stopped: one that
// can gives each of its jobs a process group of its own.
func jobControl() bool {
	session, _ := unix.Getsid(0) // of this process both can always be asked for
	group, _ := unix.Getpgid(0)
	return group != session
}
