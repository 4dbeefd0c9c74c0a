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

// Room is the memory for one kind of work. Each kind has its own, so that uploads, say, do not keep others
// from reading. A call takes memory of its room by [Call.Need] before it uses it.
type Room int

// The rooms.
const (
	Changing   Room = iota // JSON that is read, checked and stored
	Reading                // all other responses to GET
	Uploading              // files and lists of them
	Describing             // API descriptions
	rooms
)

// share is a room's part of [Limits.Memory]. The sum of all parts is more than the whole, because the rooms
// are hardly ever full at once. No room has more than three quarters, so that one kind of work, which may
// take as long as callers want, leaves memory to the others.
type share struct {
	part   int64 // in eighths
	factor int64 // bytes of memory for a byte of a body, to read, check and store it
}

var shares = [rooms]share{
	Changing:   {part: 3, factor: 8},
	Reading:    {part: 4, factor: 1},
	Uploading:  {part: 5, factor: 3},
	Describing: {part: 6, factor: 5},
}

// roomTime is how long a call waits for memory of its room.
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

// Need reserves that many more bytes of memory for the call, and waits for them for up to five seconds. It fails with
// 413 if they can never fit, 429 if the client's other calls leave too little, and 503 if those of others do. The
// memory is given back when the call ends, or by [Call.Free]. Once one Need has returned, several goroutines of
// the call may call both.
func (c *Call) Need(bytes int64) error { return c.hold().need(c.Ctx(), bytes) }

// NeedAtMost is [Call.Need], but takes all that the call can have, instead of failing with a 413, if bytes is more.
func (c *Call) NeedAtMost(bytes int64) error {
	h := c.hold()
	return h.need(c.Ctx(), min(bytes, h.most-h.bytes.Load()))
}

// Free gives back so many bytes that Need has taken.
func (c *Call) Free(bytes int64) { c.hold().free(bytes) }

// hold returns what the call holds of its room, which it enters first.
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

func (c *Call) release() {
	if c.held != nil {
		c.held.leave()
	}
}

// room is the state of a Room. Memory is taken as it is needed: a request that announces a large body and
// sends nothing holds nothing. Sizes are bytes.
type room struct {
	size      int64
	all       *semaphore.Weighted // for all calls
	strangers *semaphore.Weighted // for calls without a token, half of it: anyone can have many addresses
	used      atomic.Int64

	mu      sync.Mutex // guards clients, and each usage but its semaphore
	clients map[client]*usage
}

// client is for whom a call takes memory: an account, whose bots count with it, or a network, if the caller
// has no token.
type client struct {
	name       string // of the account or the network
	isStranger bool   // no token
}

// usage counts the calls of one client in a room. Its first call may take the whole room, the others
// together a quarter of it: with many calls a client neither fills a room nor the queue for it.
type usage struct {
	calls  int
	first  *hold
	others *semaphore.Weighted
}

// hold is the memory that one call holds of a room.
type hold struct {
	room   *room
	client client
	usage  *usage                // of the client
	most   int64                 // bytes that it can ever hold
	limits []*semaphore.Weighted // it takes from each of them, in this order
	bytes  atomic.Int64          // that it holds
}

func newRoom(memory int64, s share) *room {
	size := memory / 8 * s.part
	return &room{
		size: size, all: semaphore.NewWeighted(size), strangers: semaphore.NewWeighted(size / 2),
		clients: map[client]*usage{},
	}
}

// enter adds a call of a client to the room. It holds nothing yet.
func (r *room) enter(who client) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.clients[who]
	if u == nil {
		u = &usage{others: semaphore.NewWeighted(r.size / 4)}
		r.clients[who] = u
	}
	h := &hold{room: r, client: who, usage: u, most: r.size}
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
		"the request needs %s of memory, but the limit is %s", mebibytes(bytes), mebibytes(h.most)).
		WithHint("the hub's administrator can give it more: hub serve --memory BYTES")
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }

func (h *hold) need(ctx context.Context, n int64) error {
	bytes := h.bytes.Load() + n
	if n < 0 || bytes < 0 { // the size in a damaged row
		return fmt.Errorf("%w: %d bytes of memory", store.ErrDamaged, n)
	}
	if err := h.mayHold(bytes); err != nil || n == 0 {
		return err
	}
	isOther := h.limits[0] == h.usage.others // it is not the first call of its client
	if isOther && bytes > h.room.size/4 {    // it would wait for its own memory
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

// busy is the 429 for a call that found no room because of the client's own calls, or the 503 because of others.
func busy(own bool) *Problem {
	if own {
		return RateLimited(2, "too many of your requests are in progress")
	}
	return Unavailable(2, "the hub is too busy for this request")
}

func (h *hold) free(n int64) {
	h.bytes.Add(-n)
	h.room.used.Add(-n)
	for _, limit := range h.limits {
		limit.Release(n)
	}
}

// leave gives back all that the call holds, and removes it from the room.
func (h *hold) leave() {
	h.free(h.bytes.Load())
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	if h.usage.first == h {
		h.usage.first = nil
	}
	h.usage.calls--
	if h.usage.calls == 0 {
		delete(h.room.clients, h.client)
	}
}
