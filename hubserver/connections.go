package hubserver

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
)

// connections bounds how many connections are open, which take memory beyond Limits.Memory,
// and descriptors, without which SQLite cannot open its file. A connection above the limit
// is closed at once.
type connections struct {
	most    int
	each    int // of one address
	proxies []netip.Prefix
	log     *slog.Logger

	mu      sync.Mutex
	open    int
	of      map[string]int // open ones of each address that is limited
	refused bool           // the last one was, for most
}

// addressPart is the part of all connections that one address may have open.
const addressPart = 8

func newConnections(cfg *Config) *connections {
	return &connections{
		most: cfg.Limits.Connections, each: max(1, cfg.Limits.Connections/addressPart),
		proxies: cfg.TrustedProxies, log: cfg.Log, of: map[string]int{},
	}
}

// add counts a connection from an address. It reports false if that has no place.
func (n *connections) add(address string) (remove func(), ok bool) {
	name := ""
	if !IsLoopback(address) && !isTrusted(address, n.proxies) { // behind which there are many callers
		name = network(address)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.open >= n.most
	if full && !n.refused {
		n.log.Warn("connections are refused: as many as --connections allows are open", "open", n.open)
	}
	if n.refused = full; full || name != "" && n.of[name] >= n.each {
		return nil, false
	}
	n.open++
	if name != "" {
		n.of[name]++
	}
	return sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.open--
		if n.of[name] > 1 {
			n.of[name]--
		} else {
			delete(n.of, name)
		}
	}), true
}

// network names the network of an address that one caller may have: all of it for IPv4, a
// /64 for IPv6.
func network(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() && !ip.Is4In6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return address
}

// countedListener accepts the connections that have a place.
type countedListener struct {
	net.Listener
	connections *connections
}

func (l countedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remove, ok := l.connections.add(host(c.RemoteAddr().String()))
		if ok {
			return &countedConn{Conn: c, remove: remove}, nil
		}
		c.Close()
	}
}

// countedConn is counted until it is closed.
type countedConn struct {
	net.Conn
	remove func()
}

func (c *countedConn) Close() error {
	c.remove()
	return c.Conn.Close()
}

// CloseWrite is that of TCP, see [conn.CloseWrite].
func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }
