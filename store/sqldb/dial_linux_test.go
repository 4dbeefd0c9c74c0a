package sqldb_test

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/projecthub/store/sqldb"
)

func TestOpen_EndsConnectionsToAMachineThatIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := (&net.Dialer{Control: sqldb.EndUnanswered}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	limit := 0
	failed := raw.Control(func(fd uintptr) {
		limit, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	})
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	if limit != 5000 {
		t.Errorf("what is sent may stay unanswered for %d ms", limit)
	}
}
