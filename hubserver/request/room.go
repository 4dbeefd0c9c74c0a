package request

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// Room is the memory of one kind of work. Each has its own, so that none waits for another.
type Room int

// The rooms.
const (
	Changing   Room = iota // JSON that is read, checked and stored
	Reading                // what is made from what is stored
	Uploading              // files and lists of them
	Describing             // API descriptions
	rooms
)

// share is what a room has. Together the rooms have more than there is, because they are never all
// full: what lasts long, or as long as a caller wants, leaves a quarter of the memory to the rest.
type share struct {
	part   int64 // of the memory, in eighths
	factor int64 // memory that a byte of a body takes until it is read, checked and stored
}

var shares = [rooms]share{
	Changing:   {part: 3, factor: 8},
	Reading:    {part: 4, factor: 1},
	Uploading:  {part: 5, factor: 3},
	Describing: {part: 6, factor: 5},
}

// roomTime is how long a call waits for room.
const roomTime = 5 * time.Second

// roomOf returns the room in which an endpoint works.
func roomOf(e *wire.Endpoint) Room {
	const tar = "application/x-tar"
	switch {
	case slices.Contains(e.Accepts, tar), slices.Contains(e.Returns, tar), e.Op == wire.OpPlanBaseFiles:
		return Uploading
	case slices.Contains(e.Accepts, "application/yaml"), e.Op == wire.OpImportAPI:
		return Describing
	case e.Method == http.MethodGet:
		return Reading
	}
	return Changing
}

// room is the state of a Room. Memory is taken as it is needed: a caller that sends nothing, or a
// length alone, holds nothing.
type room struct {
	size      int64
	all       *semaphore.Weighted
	strangers *semaphore.Weighted // half: anyone can have many addresses
	used      atomic.Int64

	mu      sync.Mutex
	clients map[client]*usage
}

// client is whose memory a call takes: that of an account, which can have any number of bots, or of the
// network of a caller who is not known.
type client struct {
	name       string
	isStranger bool
}

// usage is what one client holds in a room: a first call what it needs, all others together a
// quarter. So no client fills a room, nor the line of those who wait for it, with many calls.
type usage struct {
	calls  int
	first  *hold
	others *semaphore.Weighted
}

// hold is what one call holds of a room.
type hold struct {
	room   *room
	client client
	of     *usage
	most   int64                 // that it can hold
	limits []*semaphore.Weighted // all of which it takes from
	bytes  atomic.Int64
}

func newRoom(memory int64, s share) *room {
	size := memory / 8 * s.part
	return &room{
		size: size, all: semaphore.NewWeighted(size), strangers: semaphore.NewWeighted(size / 2),
		clients: map[client]*usage{},
	}
}

// enter lets a call of a client in, who holds nothing yet.
func (r *room) enter(who client) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.clients[who]
	if u == nil {
		u = &usage{others: semaphore.NewWeighted(r.size / 4)}
		r.clients[who] = u
	}
	h := &hold{room: r, client: who, of: u, most: r.size}
	u.calls++
	if u.first == nil {
		u.first = h
	} else {
		h.limits = append(h.limits, u.others)
	}
	if who.isStranger {
		h.limits, h.most = append(h.limits, r.strangers), r.size/2
	}
	h.limits = append(h.limits, r.all)
	return h
}

// mayHold returns a 413 if the call can never hold so many bytes.
func (h *hold) mayHold(bytes int64) error {
	if bytes <= h.most {
		return nil
	}
	return Problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge,
		"this needs %s of memory, and this hub has at most %s for it", mebibytes(bytes), mebibytes(h.most)).
		WithHint("the hub's administrator can give it more: hub serve --memory BYTES")
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }

// need is [Call.Need].
func (h *hold) need(ctx context.Context, n int64) error {
	bytes := h.bytes.Load() + n
	if n < 0 || bytes < 0 { // it comes from a row that is damaged
		return fmt.Errorf("%w: %d bytes of memory", store.ErrDamaged, n)
	}
	if err := h.mayHold(bytes); err != nil || n == 0 {
		return err
	}
	isOther := h.limits[0] == h.of.others
	if isOther && bytes > h.room.size/4 { // it would wait for itself
		return busy(isOther)
	}
	waits, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	for i, limit := range h.limits {
		if limit.Acquire(waits, n) == nil {
			continue
		}
		for _, taken := range h.limits[:i] {
			taken.Release(n)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return busy(isOther && i == 0)
	}
	h.bytes.Add(n)
	h.room.used.Add(n)
	return nil
}

// busy refuses a call that found no room because of the client's own calls, or because of others.
func busy(own bool) *Problem {
	p := Problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "the hub is too busy for this request")
	if own {
		p = Problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "too many of your requests are in progress")
	}
	return p.WithHeader("Retry-After", "2")
}

// free gives n bytes back.
func (h *hold) free(n int64) {
	h.bytes.Add(-n)
	h.room.used.Add(-n)
	for _, limit := range h.limits {
		limit.Release(n)
	}
}

// leave gives back what is left, and ends the call in the room.
func (h *hold) leave() {
	h.free(h.bytes.Load())
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	if h.of.first == h {
		h.of.first = nil
	}
	if h.of.calls--; h.of.calls == 0 {
		delete(h.room.clients, h.client)
	}
}

// Need takes memory for the call, in bytes more than it has: 413 when that never fits, 429 when the
// client's other calls, and 503 when those of others leave no room for five seconds. It is given back
// when the call ends. After a first one, several goroutines of the call may need and free memory.
func (c *Call) Need(bytes int64) error { return c.hold().need(c.Ctx(), bytes) }

// NeedAtMost is [Call.Need] of at most what a call can ever have, for what cannot be smaller.
func (c *Call) NeedAtMost(bytes int64) error {
	h := c.hold()
	return h.need(c.Ctx(), min(bytes, h.most-h.bytes.Load()))
}

func (c *Call) Free(bytes int64) { c.hold().free(bytes) }

// hold returns what the call holds of its room.
func (c *Call) hold() *hold {
	if c.held == nil {
		c.held = c.Hub.rooms[c.room].enter(c.client())
	}
	return c.held
}

func (c *Call) client() client {
	if c.Access != nil {
		return client{name: c.Access.Caller.Account}
	}
	return client{name: c.Network(), isStranger: true}
}

// release gives back all that the call holds.
func (c *Call) release() {
	if c.held != nil {
		c.held.leave()
	}
}
