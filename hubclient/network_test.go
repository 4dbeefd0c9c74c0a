package hubclient_test

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// These tests use the network of the system, to see that its errors are those
// that the tests in memory make up.

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func dialTo(t *testing.T, listener net.Listener, timeout time.Duration) *hubclient.Client {
	t.Helper()
	c, err := hubclient.New(hubclient.Options{Origin: "http://" + listener.Addr().String(), Token: token,
		Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

func TestNetwork_RefusedConnection(t *testing.T) {
	listener := listen(t)
	listener.Close()
	c := dialTo(t, listener, 0)
	_, err := c.DeleteProject(t.Context(), project)
	e := wantCode(t, err, hubclient.CodeUnreachable)
	if !errors.Is(err, syscall.ECONNREFUSED) || e.Detail != c.Origin()+" cannot be reached: connection refused" ||
		e.Hint != "" {
		t.Errorf("%+v", e)
	}
}

func TestNetwork_ResetConnectionIsRetried(t *testing.T) {
	listener := listen(t)
	attempts := make(chan int, 1)
	go func() {
		defer close(attempts)
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			http.ReadRequest(bufio.NewReader(conn))
			if n == 1 {
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
				continue
			}
			io.WriteString(conn, ok(`{"project":{"account":"acme","slug":"web"},"existed":false}`))
			conn.Close()
			attempts <- n
		}
	}()
	d, err := dialTo(t, listener, time.Minute).DeleteProject(t.Context(), project)
	if n := <-attempts; n != 2 || err != nil || !d.Ambiguous {
		t.Errorf("%d attempts: %+v, %v", n, d, err)
	}
}

func TestNetwork_BlockedUploadTimesOut(t *testing.T) {
	listener := listen(t)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			http.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		}
	}()
	noise := make([]byte, 24<<20) // more than the system keeps on its way
	rand.Read(noise)
	files, open := filesOf(map[string]string{"noise": string(noise)})
	set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open, All: true}
	_, err := dialTo(t, listener, 200*time.Millisecond).Upload(project, set).Put(t.Context())
	if e := wantCode(t, err, hubclient.CodeTimeout); !strings.Contains(e.Hint, "may have been applied") {
		t.Errorf("%+v", e)
	}
}

func TestNetwork_RefusalDuringBodyArrives(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		io.CopyN(io.Discard, r.Body, 1<<20)
		refuse(w, 413, wire.CodeTooLarge)
	}))
	t.Cleanup(server.Close)
	noise := make([]byte, 16<<20)
	rand.Read(noise)
	files, open := filesOf(map[string]string{"noise": string(noise)})
	const times = 20
	for range times {
		_, err := dialTo(t, server.Listener, time.Minute).Upload(project,
			hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(t.Context())
		wantCode(t, err, wire.CodeTooLarge)
	}
	if n := requests.Load(); n != times {
		t.Errorf("%d requests for %d uploads", n, times)
	}
}
