// Package request is what every call to the hub has in common: its id, the caller and the caller's
// rights, the body, the memory that it may take, conditions, idempotency, problems, the log line and
// the metrics. A [Call] is one request; a [Hub] is what all of them share.
//
// A request is served in this order: [Hub.Handle] makes a Call, refuses requests from other origins,
// finds out who the caller is and checks role and scope; then the handler runs, and changes things in
// [Call.Write] alone; at last an error becomes a [Problem], and the request is counted and logged.
//
// The package must not know what a project, a stack or an API contains. It looks up the caller and the
// resource that the path names, and for the endpoints of a config passes on what the store read in the
// same query. Packages api and page add what it must not know: by their handlers, and by the functions
// in Hub.
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
	// TrustedProxies are the networks of proxies whose X-Forwarded-For is trusted. It may be empty.
	TrustedProxies []netip.Prefix
}

// Limits bound what a hub accepts, sizes in bytes. Those with a name in JSON are in the OpenAPI description.
type Limits struct {
	ConfigBytes      int64         `json:"configBytes"`
	ConfigKeys       int           `json:"configKeys"`
	ConfigDepth      int           `json:"configDepth"`
	DescriptionBytes int64         `json:"descriptionBytes"` // of an API
	BundleBytes      int64         `json:"bundleBytes"`      // the archive of a stack version
	BaseFiles        int           `json:"baseFiles"`        // how many files a project has, or a stack version
	BaseFileBytes    int64         `json:"baseFileBytes"`    // each of these files
	BaseFilesBytes   int64         `json:"baseFilesBytes"`   // all of these files together
	BodyIdle         time.Duration `json:"-"`                // time for the next [MinRate] bytes of a body or response
	Memory           int64         `json:"-"`                // for all requests; a [Room] is a part of it
	Connections      int           `json:"-"`                // open at once
}

// DefaultLimits are the limits of a hub that sets no others.
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
	// MaxJSON bounds a JSON body that has no limit of its own, and what a body has in addition to a
	// config, in bytes.
	MaxJSON = 64 << 10
	// MaxPlan bounds the body of a plan of base files, and a list of files, in bytes.
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
	// Wrote is called after this process has changed something, with the ID of the resource that the path of the
	// request names, so that the streams of events of a project send that.
	Wrote func(resource int64)
	// AddDeleted adds to the 404 for a deleted project until when it can be restored. It is
	// called for callers with the role writer.
	AddDeleted func(c *Call, project store.AccessQuery, p *Problem)

	origins  *http.CrossOriginProtection
	rooms    [rooms]*room
	metrics  *metrics.Set
	draining atomic.Bool

	mu               sync.Mutex     // guards tokens and sessions
	tokens, sessions map[int64]bool // ids of those that were used since the last SaveUses
}

// New returns a hub whose functions do nothing yet.
func New(cfg Config) (*Hub, error) {
	cfg.Log = slog.New(tokenless{cfg.Log.Handler()})
	h := &Hub{
		Config: cfg, origins: http.NewCrossOriginProtection(), metrics: metrics.NewSet(),
		tokens: map[int64]bool{}, sessions: map[int64]bool{},
		CountBot: func(*Call) error { return nil }, Wrote: func(int64) {},
		AddDeleted: func(*Call, store.AccessQuery, *Problem) {},
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
// arrive are still served. A connection of HTTP/1 is closed after its next response: if it were open
// when the hub stops, a proxy could send a request that is lost.
func (h *Hub) Drain() { h.draining.Store(true) }

// IsDraining reports whether [Hub.Drain] was called.
func (h *Hub) IsDraining() bool { return h.draining.Load() }

// noteUse remembers for [Hub.SaveUses] that a token or a session was used, unless a recent use is stored
// already. So no request waits for that write.
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

// SaveUses stores which tokens and sessions were used. It is called about once a second, and after the
// last request. What could not be stored is kept for the next call.
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
