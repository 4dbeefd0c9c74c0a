// Package request is what every call to the hub has in common: its id, the caller and the caller's
// rights, the body, the memory that it may take, conditions, idempotency, problems, the log line and
// the metrics. A [Call] is one request; a [Hub] is what all of them share.
//
// The package must know no resource: it looks up who calls and the row of what the path names, and
// nothing of what a project, a stack or an API has. What a resource says about itself, packages api
// and page tell it, by their handlers and by the functions in Hub.
package request

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
)

// Config is what a hub is made of. Every field is needed, except where it says otherwise.
type Config struct {
	Store     *store.Store
	PublicURL string // the origin under which people reach the hub
	// PreviewURL is the origin of the preview's frame, on another host than PublicURL; "": there
	// are no previews.
	PreviewURL string
	Version    string
	Log        *slog.Logger
	Limits     Limits
	Fetch      *fetch.Fetcher // for importing API descriptions
	// TrustedProxies are the networks of proxies whose X-Forwarded-For is believed. It may be empty.
	TrustedProxies []netip.Prefix
}

// Limits bound what a hub takes. Sizes are bytes. The OpenAPI description shows them as JSON.
type Limits struct {
	ConfigBytes      int64         `json:"configBytes"`
	ConfigKeys       int           `json:"configKeys"`
	ConfigDepth      int           `json:"configDepth"`
	DescriptionBytes int64         `json:"descriptionBytes"`
	BundleBytes      int64         `json:"bundleBytes"`
	BaseFiles        int           `json:"baseFiles"`
	BaseFileBytes    int64         `json:"baseFileBytes"`
	BaseFilesBytes   int64         `json:"baseFilesBytes"`
	BodyIdle         time.Duration `json:"-"` // of waiting for the next [MinRate] bytes of a body or response
	Memory           int64         `json:"-"` // that the rooms are parts of
	Connections      int           `json:"-"` // that are open
}

// DefaultLimits are the limits that the contract names.
var DefaultLimits = Limits{
	ConfigBytes:      1 << 20,
	ConfigKeys:       10_000,
	ConfigDepth:      32,
	DescriptionBytes: 16 << 20,
	BundleBytes:      64 << 20,
	BaseFiles:        20_000,
	BaseFileBytes:    25 << 20,
	BaseFilesBytes:   1 << 30,
	BodyIdle:         30 * time.Second,
	Memory:           128 << 20,
	Connections:      8192,
}

const (
	// MaxJSON bounds a JSON body that has no limit of its own, and what is stored around a config in
	// the body that carries it.
	MaxJSON = 64 << 10
	// MaxPlan bounds a plan of base files, and a list of them.
	MaxPlan = 16 << 20
)

// Hub is what all calls share. The functions do nothing until they are set, before the first call.
type Hub struct {
	Config

	// CountBot counts the request of a bot against its limits. Its ErrNotFound means that the bot
	// was deleted after its token was looked up.
	CountBot func(c *Call) error
	// FailurePage responds with the page of a problem. Without it, all problems are JSON.
	FailurePage func(c *Call, p *Problem) error
	// Wrote tells those who watch a project that this process has changed what it holds.
	Wrote func(project int64)
	// AddDeleted adds to a 404 about a project when it was deleted, if it was, for callers who may
	// restore it.
	AddDeleted func(c *Call, project store.Ask, p *Problem)

	origins  *http.CrossOriginProtection
	rooms    [rooms]*room
	metrics  *metrics.Set
	draining atomic.Bool

	mu               sync.Mutex
	tokens, sessions map[int64]bool // that were used since that was last stored, by id
}

// New returns a hub whose functions do nothing yet.
func New(cfg Config) (*Hub, error) {
	cfg.Log = slog.New(tokenless{cfg.Log.Handler()})
	h := &Hub{
		Config: cfg, origins: http.NewCrossOriginProtection(), metrics: metrics.NewSet(),
		tokens: map[int64]bool{}, sessions: map[int64]bool{},
		CountBot: func(*Call) error { return nil }, Wrote: func(int64) {},
		AddDeleted: func(*Call, store.Ask, *Problem) {},
	}
	if err := h.origins.AddTrustedOrigin(cfg.PublicURL); err != nil { // a proxy may change the Host
		return nil, fmt.Errorf("the hub's address: %w", err)
	}
	for kind := range h.rooms {
		h.rooms[kind] = newRoom(cfg.Limits.Memory, shares[kind])
	}
	h.observe()
	return h, nil
}

// Drain makes /readyz fail, so that a load balancer sends no more requests. All requests that
// arrive are still served. A connection of HTTP/1 ends with its next response: on one that is open
// when the hub stops, a proxy could send a request at that moment.
func (h *Hub) Drain()           { h.draining.Store(true) }
func (h *Hub) IsDraining() bool { return h.draining.Load() }

// noteUse notes that a token or a session was used, unless that was stored a moment ago. A request
// need not wait for a write.
func (h *Hub) noteUse(a *store.Access) {
	if !a.Stale() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.Session != 0 {
		h.sessions[a.Session] = true
	} else {
		h.tokens[a.TokenID] = true
	}
}

// SaveUses stores which tokens and sessions were used. A hub calls it about once a second, and when
// it has answered its last request. What could not be stored is kept for the next call.
func (h *Hub) SaveUses(ctx context.Context) error {
	h.mu.Lock()
	tokens, sessions := h.tokens, h.sessions
	h.tokens, h.sessions = map[int64]bool{}, map[int64]bool{}
	h.mu.Unlock()
	if len(tokens)+len(sessions) == 0 {
		return nil
	}
	err := h.Store.Write(ctx, func(tx *store.Tx) error {
		return tx.MarkUsed(slices.Collect(maps.Keys(tokens)), slices.Collect(maps.Keys(sessions)))
	})
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		maps.Copy(h.tokens, tokens)
		maps.Copy(h.sessions, sessions)
	}
	return err
}
