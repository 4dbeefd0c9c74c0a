package fetch_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"

	"example.com/projecthub/hubserver/fetch"
)

// world is an Internet in memory: names, addresses and what answers there. No
// packet of it leaves the process. It lets every connection be made that it is asked for
// and takes note of it.
type world struct {
	names map[string][]string       // host → addresses
	sites map[string]func(net.Conn) // address:port → what happens to a connection

	mu      sync.Mutex
	asked   []string // hosts, in the order of the look-ups
	dialled []string // address:port
	heads   []string // of the requests that [answer] has read
}

func (w *world) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, host)
	addresses, ok := w.names[strings.ToLower(strings.TrimSuffix(host, "."))]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	parsed := make([]netip.Addr, len(addresses))
	for i, address := range addresses {
		parsed[i] = netip.MustParseAddr(address)
	}
	return parsed, nil
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialled = append(w.dialled, to.String())
	site := w.sites[to.String()]
	if site == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		site(far)
	}()
	return near, nil
}

// fetcher returns a Fetcher that lives in w.
func (w *world) fetcher(options fetch.Options) *fetch.Fetcher {
	options.Resolve, options.Dial = w.resolve, w.dial
	return fetch.New(options)
}

// answer reads one request and writes text in return.
func (w *world) answer(text string) func(net.Conn) {
	return func(conn net.Conn) {
		w.readHead(conn)
		conn.Write([]byte(text))
	}
}

// silent reads one request and says nothing until the connection is closed.
func (w *world) silent(conn net.Conn) {
	w.readHead(conn)
	io.Copy(io.Discard, conn)
}

// readHead notes the head of a request. The error is that of the connection.
func (w *world) readHead(conn net.Conn) error {
	var head strings.Builder
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		head.WriteString(line)
		if line == "\r\n" {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heads = append(w.heads, head.String())
	return nil
}

// site lets address:port answer every request with text.
func (w *world) site(place, text string) { w.sites[place] = w.answer(text) }

func newWorld() *world {
	return &world{names: map[string][]string{}, sites: map[string]func(net.Conn){}}
}

// ok is an answer with status 200.
func ok(body string) string { return "HTTP/1.1 200 OK\r\n\r\n" + body }

func redirect(status, location string) string {
	return "HTTP/1.1 " + status + " Moved\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n"
}

const public = "93.184.216.34"

// get fetches url for an account.
func get(f *fetch.Fetcher, url string) ([]byte, error) {
	return f.Get(context.Background(), "acme", url, nil)
}

func wantRefused(t *testing.T, err error) *fetch.Refused {
	t.Helper()
	var refused *fetch.Refused
	if !errors.As(err, &refused) {
		t.Fatalf("the error is %v, want a *Refused", err)
	}
	return refused
}
