package hubserver

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// work is a kind of work that needs memory. Each has a queue of its own, so that
// none waits for another.
type work int

const (
	changing    work = iota // JSON that is read, checked and stored
	viewing                 // JSON and pages that are made from what is stored
	downloading             // archives, bundles and documents that are streamed
	uploading               // base files, lists of them, and bundles
	describing              // API descriptions
	checking                // settings against schemas
	searching               // names of projects: the database reads those of all
	works
)

// share is how much of the memory one kind of work may use at once. What lasts
// as long as a caller wants, or long, leaves a quarter to the rest.
type share struct {
	part      int64 // of the memory, in eighths
	slots     int   // requests at once
	perCaller int   // requests of one caller at once
}

var shares = [works]share{
	changing:    {part: 4, slots: 1024, perCaller: 64},
	viewing:     {part: 4, slots: 1024, perCaller: 64},
	downloading: {part: 2, slots: 64, perCaller: 8},
	uploading:   {part: 6, slots: 64, perCaller: 8},
	describing:  {part: 6, slots: 2, perCaller: 1},
	checking:    {part: 4, slots: 4, perCaller: 1},
	searching:   {part: 4, slots: 4, perCaller: 1}, // SQLite has eight connections that read
}

const (
	lastingPart = 6               // eighths of the memory that lasting work may use together
	roomWait    = 5 * time.Second // how long a request waits for its turn
	maxWaiting  = 16              // requests of one caller that wait in one queue
	maxQueue    = 512             // requests of all callers that wait in one queue
)

func (w work) lasts() bool { return w == downloading || w == uploading || w == describing }

// memory is the budget of all requests together. Requests reserve what they are
// about to need, and wait for their turn: callers take turns, and the requests of
// one caller come in their order.
type memory struct {
	mu      sync.Mutex
	total   int64
	used    int64
	lasting int64 // of used
	peak    int64 // the most that was ever used
	queues  [works]queue
}

type queue struct {
	share
	most    int64 // bytes
	used    int64
	running int
	waiting int
	clients map[string]*client
	turns   []*client // those who wait, the next one first
	growing []*waiter // requests under way that need more, which come first

	anonymous anonymous
}

// client is a caller, or the address of one without a token.
type client struct {
	name    string
	running int
	used    int64
	waiting []*waiter
	group   *anonymous // nil: it has a token
}

// anonymous counts the requests without a token. Because anyone can have many
// addresses, all of them together leave half of a queue to callers with tokens.
type anonymous struct {
	running int
	used    int64 // bytes
	waiting int
}

type waiter struct {
	reserved *reservation
	bytes    int64
	ready    chan struct{}
}

// reserved returns how much is reserved now, in bytes.
func (m *memory) reserved() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// reservation is the memory that one request has reserved.
type reservation struct {
	m      *memory
	q      *queue
	work   work
	client *client
	bytes  int64
}

func newMemory(total int64) *memory {
	m := &memory{total: total}
	for w := range m.queues {
		m.queues[w] = queue{share: shares[w], most: total / 8 * shares[w].part, clients: map[string]*client{}}
	}
	return m
}

// acquire reserves bytes for work of a caller, or returns a problem: 429 when
// the caller has enough under way, 503 when others have, 413 when it can never be.
func (m *memory) acquire(ctx context.Context, w work, name string, bytes int64) (*reservation, error) {
	m.mu.Lock()
	q := &m.queues[w]
	if bytes > q.most {
		m.mu.Unlock()
		return nil, neverFits(bytes, q.most)
	}
	c := q.clients[name]
	if c == nil {
		c = &client{name: name}
		if isAddress(name) {
			c.group = &q.anonymous
		}
		q.clients[name] = c
	}
	l := &reservation{m: m, q: q, work: w, client: c}
	waiting := &waiter{reserved: l, bytes: bytes, ready: make(chan struct{})}
	if len(c.waiting) >= maxWaiting || q.waiting >= maxQueue || c.group != nil && c.group.waiting >= maxQueue/2 {
		own := len(c.waiting) >= maxWaiting
		q.forget(c)
		m.mu.Unlock()
		return nil, busy(own)
	}
	c.waiting = append(c.waiting, waiting)
	q.waiting++
	if c.group != nil {
		c.group.waiting++
	}
	if len(c.waiting) == 1 {
		q.turns = append(q.turns, c)
	}
	m.admit(q)
	m.mu.Unlock()
	if err := m.wait(ctx, waiting); err != nil {
		return nil, err
	}
	return l, nil
}

// wait ends when a waiter has its turn, or gives it up.
func (m *memory) wait(ctx context.Context, w *waiter) error {
	select {
	case <-w.ready: // at once, nearly always
		return nil
	default:
	}
	patience := time.NewTimer(roomWait)
	defer patience.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-patience.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-w.ready: // meanwhile
		return nil
	default:
	}
	q, c := w.reserved.q, w.reserved.client
	if i := slices.Index(q.growing, w); i >= 0 {
		err = cmp.Or(err, error(busy(!q.mayGrow(c, w.bytes))))
		q.growing = slices.Delete(q.growing, i, i+1)
	} else {
		err = cmp.Or(err, error(busy(!q.allows(c, w.bytes))))
		q.leave(c, slices.Index(c.waiting, w))
		q.forget(c)
	}
	m.admitAll() // it may have kept others from their turn
	return err
}

// leave takes the waiter at i out of its caller's line.
func (q *queue) leave(c *client, i int) {
	c.waiting = slices.Delete(c.waiting, i, i+1)
	q.waiting--
	if c.group != nil {
		c.group.waiting--
	}
	if len(c.waiting) == 0 {
		q.turns = slices.DeleteFunc(q.turns, func(other *client) bool { return other == c })
	}
}

// forget drops a caller who has nothing here.
func (q *queue) forget(c *client) {
	if c.running == 0 && len(c.waiting) == 0 {
		delete(q.clients, c.name)
	}
}

// allows reports whether one more request of c, with so many bytes, leaves room to others.
func (q *queue) allows(c *client, bytes int64) bool {
	return c.running == 0 || c.running < q.perCaller && c.used+bytes <= q.most/2
}

// mayGrow reports whether a request of c that is under way may take so many bytes
// more: several of one caller leave a quarter to others.
func (q *queue) mayGrow(c *client, bytes int64) bool {
	return c.running == 1 || c.used+bytes <= q.most/4*3
}

// leavesRoom reports whether one more request of c, with so many bytes, leaves half
// to callers with tokens.
func (q *queue) leavesRoom(c *client, bytes int64) bool {
	g := c.group
	return g == nil || g.running == 0 || g.running < max(1, q.slots/2) && g.used+bytes <= q.most/2
}

// growthLeavesRoom is leavesRoom for a request of c that is under way.
func (q *queue) growthLeavesRoom(c *client, bytes int64) bool {
	g := c.group
	return g == nil || g.running == 1 || g.used+bytes <= q.most/2
}

// fits reports whether there is room for bytes more, for any caller.
func (m *memory) fits(w work, bytes int64) bool {
	q := &m.queues[w]
	return q.used+bytes <= q.most && m.used+bytes <= m.total && (!w.lasts() || m.lasting+bytes <= m.total/8*lastingPart)
}

func (m *memory) admitAll() {
	for w := range m.queues {
		m.admit(&m.queues[w])
	}
}

// admit gives turns as long as there is room. The first caller whose own limits
// allow it is next; when there is no room for that one, no other overtakes it. Nor does a
// caller without a token overtake another one.
func (m *memory) admit(q *queue) {
	for {
		i := slices.IndexFunc(q.growing, func(w *waiter) bool {
			return q.mayGrow(w.reserved.client, w.bytes) && q.growthLeavesRoom(w.reserved.client, w.bytes)
		})
		if i < 0 {
			break
		}
		w := q.growing[i]
		if !m.fits(w.reserved.work, w.bytes) {
			return
		}
		q.growing = slices.Delete(q.growing, i, i+1)
		m.charge(w.reserved, w.bytes)
		close(w.ready)
	}
	for q.running < q.slots {
		i := q.next()
		if i < 0 {
			return
		}
		c := q.turns[i]
		w := c.waiting[0]
		if !m.fits(w.reserved.work, w.bytes) {
			return
		}
		q.leave(c, 0)
		if len(c.waiting) > 0 { // to the end of the line
			q.turns = append(slices.Delete(q.turns, i, i+1), c)
		}
		q.enter(c, 1)
		m.charge(w.reserved, w.bytes)
		close(w.ready)
	}
}

// next returns the index of the waiting caller whose turn it is, -1 for none.
func (q *queue) next() int {
	full := false // for those without a token
	return slices.IndexFunc(q.turns, func(c *client) bool {
		bytes := c.waiting[0].bytes
		if full && c.group != nil || !q.allows(c, bytes) {
			return false
		}
		full = !q.leavesRoom(c, bytes)
		return !full
	})
}

// enter counts n requests of c that run.
func (q *queue) enter(c *client, n int) {
	q.running += n
	c.running += n
	if c.group != nil {
		c.group.running += n
	}
}

func (m *memory) charge(l *reservation, bytes int64) {
	l.bytes += bytes
	l.q.used += bytes
	l.client.used += bytes
	if l.client.group != nil {
		l.client.group.used += bytes
	}
	m.used += bytes
	if l.work.lasts() {
		m.lasting += bytes
	}
	m.peak = max(m.peak, m.used)
}

// resize changes the reservation to so many bytes. It waits for what it needs more,
// which others may free; while they do not, the request fails.
func (l *reservation) resize(ctx context.Context, bytes int64) error {
	if l == nil || bytes == l.bytes {
		return nil
	}
	l.m.mu.Lock()
	more := bytes - l.bytes
	if more < 0 {
		l.m.charge(l, more)
		l.m.admitAll()
		l.m.mu.Unlock()
		return nil
	}
	if bytes > l.q.most {
		l.m.mu.Unlock()
		return neverFits(bytes, l.q.most)
	}
	w := &waiter{reserved: l, bytes: more, ready: make(chan struct{})}
	l.q.growing = append(l.q.growing, w)
	l.m.admit(l.q)
	l.m.mu.Unlock()
	return l.m.wait(ctx, w)
}

// release ends a reservation.
func (l *reservation) release() {
	if l == nil {
		return
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.m.charge(l, -l.bytes)
	l.q.enter(l.client, -1)
	l.q.forget(l.client)
	l.m.admitAll()
}

func neverFits(bytes, most int64) *problem {
	return problemf(http.StatusRequestEntityTooLarge, wire.CodeTooLarge,
		"this needs %s of memory, and this hub has at most %s for it", mebibytes(bytes), mebibytes(most)).
		hint("the hub's administrator can give it more: hub serve --memory BYTES")
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }

// retrySeconds is when a request that found no room may come again.
const retrySeconds = "2"

// busy is the answer to a request that had no turn in time: because of the
// caller's own requests, or because of those of others.
func busy(own bool) *problem {
	if own {
		return problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "too many of your requests are in progress").
			with("Retry-After", retrySeconds)
	}
	return problemf(http.StatusServiceUnavailable, wire.CodeUnavailable, "the hub is too busy for this request").
		with("Retry-After", retrySeconds)
}
