package golden_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// A token is read from a pipe that never ends.
func TestLogin_SignalEndsWaitForToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, before)
	for _, s := range signals {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := w.command("login", "--with-token")
		c.Stdin = read
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		read.Close()
		// More than a pipe holds is written only once the program reads.
		const pageSize, setPipeSize = 4096, 1031
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, write.Fd(), setPipeSize, pageSize); errno != 0 {
			t.Fatal(errno)
		}
		if _, err := write.Write(bytes.Repeat([]byte("x"), 2*pageSize)); err != nil {
			t.Fatal(err)
		}
		c.Process.Signal(s.signal)
		if code := codeOf(t, c.Wait()); code != s.code {
			t.Errorf("%v: exit code %d, want %d", s.signal, code, s.code)
		}
		write.Close()
	}
}
