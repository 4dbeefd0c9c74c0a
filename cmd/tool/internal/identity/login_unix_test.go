//go:build unix

package identity_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
)

func TestLogins_FileIsPrivateUnderEveryUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o177, 0o777} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "config", "tool")
		l := load(t, dir)
		former := syscall.Umask(mask)
		err := l.Put(identity.Login{Origin: a, Token: tokenA})
		syscall.Umask(former)
		if err != nil { // a mask that takes everything away, from others than root
			wantFault(t, err, failure.CodeInvalidFile)
			os.Chmod(filepath.Join(parent, "config"), 0o700) // so that it can be removed
			continue
		}
		if file := modeOf(t, filepath.Join(dir, loginFile)); file != 0o600 {
			t.Errorf("umask %03o: the file has %v", mask, file)
		}
		if made := modeOf(t, dir).Perm(); made&0o077 != 0 {
			t.Errorf("umask %03o: the directory has %v", mask, made)
		}
		os.Chmod(filepath.Join(parent, "config"), 0o700)
	}
}
