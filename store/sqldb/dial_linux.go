package sqldb

import (
	"cmp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// endUnanswered lets the kernel end a connection to a machine that is gone, after lockTime. Without it, a request
// waits for queryTime, and so does one on each other connection of the pool.
func endUnanswered(network, _ string, conn syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	failed := conn.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(lockTime.Milliseconds()))
	})
	return cmp.Or(failed, err)
}
