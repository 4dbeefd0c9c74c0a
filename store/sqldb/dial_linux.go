package sqldb

import (
	"cmp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// endUnanswered has the kernel end a connection whose other machine is gone: without it, a
// request waits for queryTime, and each connection of the pool has to find out on its own.
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
