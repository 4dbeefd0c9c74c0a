//go:build !unix

package workspace

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockOf returns the lock of a directory: a file among the user's temporary ones,
// because a directory cannot be locked here.
func lockOf(dir string) *flock.Flock {
	name := fmt.Sprintf("tool-%x.lock", sha256.Sum256([]byte(dir)))
	return flock.New(filepath.Join(os.TempDir(), name))
}
