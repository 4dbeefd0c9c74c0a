//go:build unix

package workspace

import (
	"os"

	"github.com/gofrs/flock"
)

// lockOf returns the lock of a directory: the directory itself, so that no lock
// file is among the user's files.
func lockOf(dir string) *flock.Flock { return flock.New(dir, flock.SetFlag(os.O_RDONLY)) }
