package hubserver

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"example.com/projecthub/hubserver/request"
)

// HTTPServer returns a server for this hub, with TLS if there is a configuration of it, which serves a
// [Server.Listener]. Bodies of requests and responses have the deadlines of package request, so that a
// large one may take its time.
func (s *Server) HTTPServer(config *tls.Config) *http.Server {
	server := &http.Server{
		Handler:           s,
		TLSConfig:         config,
		ReadHeaderTimeout: 10 * time.Second, // also of the handshake of TLS
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{ // buffers of HTTP/2 are in this process, beyond Limits.Memory
			MaxConcurrentStreams:          8,
			MaxReadFrameSize:              16 << 10, // each connection keeps a buffer of this size
			MaxReceiveBufferPerConnection: 256 << 10,
			MaxReceiveBufferPerStream:     64 << 10,
			SendPingTimeout:               s.Limits.BodyIdle,
			WriteByteTimeout:              s.Limits.BodyIdle,
		},
		DisableGeneralOptionsHandler: true, // it would answer outside of the contract
		ErrorLog:                     slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(s.watches.Stop) // streams of events do not end by themselves
	return server
}

// Listener returns a listener that accepts at most Limits.Connections of l's connections at
// a time, an eighth of them from one address, and closes others at once.
func (s *Server) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, cfg: &s.Config, of: map[string]int{}}
}

// listener counts open connections, which take memory beyond Limits.Memory, and descriptors,
// without which SQLite cannot open its file.
type listener struct {
	net.Listener
	cfg *Config

	mu      sync.Mutex
	open    int
	of      map[string]int // open connections of each address with a limit
	refused int            // since the log said so
	logged  time.Time
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if remove, ok := l.add(c.RemoteAddr().String()); ok {
			return &conn{Conn: c, remove: remove}, nil
		}
		c.Close()
	}
}

// add counts a connection from an address, and reports false if there is no room for it.
func (l *listener) add(address string) (remove func(), ok bool) {
	name := request.LimitedNetwork(address, l.cfg.TrustedProxies)
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.cfg.Limits.Connections; l.open >= most || name != "" && l.of[name] >= max(1, most/8) {
		l.refused++
		if now := time.Now(); now.Sub(l.logged) >= time.Minute {
			l.cfg.Log.Warn("connections are refused: too many are open, in all or from one address (--connections)",
				"open", l.open, "address", address, "of_address", l.of[name], "refused", l.refused)
			l.logged, l.refused = now, 0
		}
		return nil, false
	}
	l.open++
	l.of[name]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open--
		if l.of[name]--; l.of[name] == 0 {
			delete(l.of, name)
		}
	}), true
}

// conn is counted until it is closed.
type conn struct {
	net.Conn
	remove func()
}

func (c *conn) Close() error {
	c.remove()
	return c.Conn.Close()
}

// CloseWrite lets net/http close the connection without destroying the last response.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
