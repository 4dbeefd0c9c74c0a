//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

// Exchange is for Linux.
func Exchange(_ *os.Root, _, _ string) error { return errors.ErrUnsupported }
