//go:build !linux && !windows && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package tui

import "os"

// discardInput does nothing on systems for which no call is known.
func discardInput(*os.File) {}
