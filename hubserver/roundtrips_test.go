package hubserver_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"example.com/projecthub/store/storetest"
)

// countTrips passes connections on to the PostgreSQL at address, and counts the times that
// it reports to be ready for more: the round trips.
func countTrips(t *testing.T, address string) (through string, trips *atomic.Int64) {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	trips = &atomic.Int64{}
	target := to.Host
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			go func() { io.Copy(server, client); server.Close() }()
			go func() { io.Copy(&tripCounter{to: client, trips: trips}, server); client.Close() }()
		}
	}()
	to.Host = listener.Addr().String()
	return to.String(), trips
}

// tripCounter follows PostgreSQL's messages: a type, a length, and the rest.
type tripCounter struct {
	to    io.Writer
	trips *atomic.Int64
	head  []byte
	left  int // of the current message
}

func (c *tripCounter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if c.left > 0 {
			n := min(c.left, len(rest))
			c.left, rest = c.left-n, rest[n:]
			continue
		}
		n := min(5-len(c.head), len(rest))
		c.head, rest = append(c.head, rest[:n]...), rest[n:]
		if len(c.head) == 5 {
			c.left = int(binary.BigEndian.Uint32(c.head[1:])) - 4
			if c.head[0] == 'Z' { // ReadyForQuery
				c.trips.Add(1)
			}
			c.head = c.head[:0]
		}
	}
	return c.to.Write(p)
}

// A request with a token takes one round trip to PostgreSQL for its admission, a write of a
// config two more, and any other at most three.
func TestPostgres_FewRoundTrips(t *testing.T) {
	address, trips := countTrips(t, storetest.Postgres(t))
	h := newHub(t, address, nil)
	h.project()
	alice, n := h.as("alice"), 0
	var tag string
	for _, c := range []struct {
		name string
		most int64
		send func()
	}{
		{"GET a config", 1, func() { alice.get(config).want(200) }},
		{"PUT a config", 3, func() { tag = h.settings(fmt.Sprintf(`{"n": %d}`, n)) }},
		{"PATCH a config", 3, func() {
			tag = alice.patch(config, fmt.Sprintf(`{"set": {"n": %d}}`, n), header{"If-Match": tag}).want(200).etag()
		}},
		{"publish a version", 4, func() {
			number := fmt.Sprintf("2.0.%d", n)
			alice.put(site+"/versions/"+number, bundle(h, number)).want(201)
		}},
	} {
		least := int64(math.MaxInt64) // connecting, preparing and pings take more
		for range 6 {
			n++
			before := trips.Load()
			c.send()
			least = min(least, trips.Load()-before)
		}
		if least > c.most {
			t.Errorf("to %s takes %d round trips, want %d", c.name, least, c.most)
		}
	}
}
