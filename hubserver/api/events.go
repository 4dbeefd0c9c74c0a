package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// keepAlive is the time between two comments that keep an idle stream open.
const keepAlive = 15 * time.Second

// getEvents responds with a stream of server-sent events about a project. It ends when the caller is gone or may
// no longer read the project, when the project is deleted, and when the hub stops.
func (w *Watches) getEvents(c *request.Call) error {
	p, leave, err := w.join(c)
	if err != nil {
		return err
	}
	defer leave()
	c.W.Header().Set("Content-Type", wire.EventStream)
	c.W.Header().Set("Cache-Control", "no-store")
	c.W.WriteHeader(http.StatusOK)
	if c.R.Method == http.MethodHead {
		return nil
	}
	alive, recheck := time.NewTicker(keepAlive), time.NewTicker(w.RecheckEvery)
	defer alive.Stop()
	defer recheck.Stop()
	if flush(c, ": events of "+c.Resource.String()+"\n\n") != nil {
		return nil // the caller has gone
	}
	var sent seen
	recheckIsDue := false
	for {
		now := p.now.Load()
		if now.deleted {
			return nil
		}
		if !now.same(&sent) || recheckIsDue {
			checked := c.Recheck()
			if _, refused := errors.AsType[*request.Problem](checked); refused {
				return nil
			}
			if checked == nil { // else the database is unavailable: it is tried again later
				if sendChanges(c, &sent, now) != nil {
					return nil
				}
				sent = *now
			}
			recheckIsDue = false
		}
		select {
		case <-c.Ctx().Done():
			return nil
		case <-w.stopping:
			return nil
		case <-now.changed:
		case <-recheck.C:
			recheckIsDue = true
		case <-alive.C:
			if flush(c, ":\n\n") != nil {
				return nil
			}
		}
	}
}

// sendChanges sends an event about the config, one about the base files, and for members one about who is there, if
// they are not what was sent last.
func sendChanges(c *request.Call, sent, now *seen) error {
	if config := now.state.Config; config.Digest != sent.state.Config.Digest {
		event := wire.ConfigEvent{Revision: config.Digest, By: config.User, Via: wire.Via(config.Via)}
		if err := sendEvent(c, wire.EventConfig, event); err != nil {
			return err
		}
	}
	if files := now.state.Files; files.Digest != sent.state.Files.Digest && files.Digest != "" {
		event := wire.BaseFilesEvent{Tree: files.Digest, By: files.User, Via: wire.Via(files.Via)}
		if err := sendEvent(c, wire.EventBaseFiles, event); err != nil {
			return err
		}
	}
	if c.Has(wire.Reader) && !slices.Equal(now.people, sent.people) {
		return sendEvent(c, wire.EventPresence, wire.Presence{People: now.people})
	}
	return nil
}

func sendEvent(c *request.Call, name string, data any) error {
	encoded, err := wire.Encode(data)
	if err != nil {
		return err
	}
	return flush(c, fmt.Sprintf("event: %s\ndata: %s\n\n", name, encoded))
}

func flush(c *request.Call, text string) error {
	if _, err := c.W.Write([]byte(text)); err != nil {
		return err
	}
	return c.W.Flush()
}

// How many streams of events may be open at once in this process. All callers without a token together
// may have half of them.
const (
	maxStreams       = 1024
	maxCallerStreams = 32 // of one account, or one network without a token
)

// pollEvery is the time between two reads of a watched project, because other hubs can write to the same
// database: an event is sent within a second.
const pollEvery = 900 * time.Millisecond

// recheckEvery is the time between two checks of a caller's rights while a stream is open. They are also
// checked before each event.
const recheckEvery = 5 * time.Second

// Watches are the streams of events of this process, and the projects that they are about. Each project is read
// once for all its streams.
type Watches struct {
	RecheckEvery time.Duration // between two checks of a caller's rights; tests shorten it

	Stop func() // ends all streams

	store    *store.Store
	stopping chan struct{} // closed by Stop

	mu       sync.Mutex       // guards what follows, and the streams of each watch
	projects map[int64]*watch // by the project's ID
	streams  map[string]int   // how many are open: by caller (account or network), strangers, everyone
}

// watch is a project that streams are about.
type watch struct {
	streams int            // how many are open
	tabs    map[string]tab // by user and tab: see putPresence
	now     atomic.Pointer[seen]
	wake    chan struct{}      // has an element when this process has changed the project
	cancel  context.CancelFunc // ends its poll
}

// seen is the state of a project when it was last read; the zero state: it was not read yet.
type seen struct {
	state   store.ProjectState
	people  []wire.Person // who has a page of it open
	deleted bool
	changed chan struct{} // closed when there is a newer one
}

// same reports whether nothing has changed between two reads.
func (s *seen) same(other *seen) bool {
	return s.state == other.state && s.deleted == other.deleted && slices.Equal(s.people, other.people)
}

// NewWatches returns the Watches of a store, without open streams.
func NewWatches(s *store.Store) *Watches {
	stopping := make(chan struct{})
	return &Watches{
		RecheckEvery: recheckEvery,
		Stop:         sync.OnceFunc(func() { close(stopping) }),
		store:        s,
		stopping:     stopping,
		projects:     map[int64]*watch{},
		streams:      map[string]int{},
	}
}

// Groups of callers. No account or network has such a name.
const (
	everyone  = "all callers"
	strangers = "callers without a token"
)

// join adds a stream about the project of a call, and returns the project's watch. leave removes the stream. It
// fails with a 429 or a 503 if too many streams are open.
func (w *Watches) join(c *request.Call) (p *watch, leave func(), err error) {
	caller := c.Network()
	counted := []string{everyone, strangers, caller}
	if c.Access != nil {
		caller = c.Access.Account
		counted = []string{everyone, caller}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.streams[caller] >= maxCallerStreams:
		return nil, nil, request.RateLimited(2, "you have %d streams of events open", maxCallerStreams)
	case w.streams[everyone] >= maxStreams, c.Access == nil && w.streams[strangers] >= maxStreams/2:
		return nil, nil, request.Unavailable(2, "the hub is too busy for this request")
	}
	project := c.Resource.ID
	if p = w.projects[project]; p == nil {
		ctx, cancel := context.WithCancel(context.Background())
		p = &watch{tabs: map[string]tab{}, wake: make(chan struct{}, 1), cancel: cancel}
		p.now.Store(&seen{changed: make(chan struct{})})
		w.projects[project] = p
		go w.poll(ctx, project, p)
	}
	p.streams++
	for _, name := range counted {
		w.streams[name]++
	}
	return p, func() { w.leave(project, p, counted) }, nil
}

// leave removes a stream, and with the last one of a project its watch.
func (w *Watches) leave(project int64, p *watch, counted []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range counted {
		if w.streams[name]--; w.streams[name] == 0 {
			delete(w.streams, name)
		}
	}
	if p.streams--; p.streams == 0 {
		p.cancel()
		delete(w.projects, project)
	}
}

// Wrote lets poll read a project now, because this process has changed it.
func (w *Watches) Wrote(project int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.projects[project]; p != nil {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

func (w *Watches) people(p *watch) []wire.Person {
	w.mu.Lock()
	defer w.mu.Unlock()
	return p.people(time.Now())
}

// poll reads a project again and again until ctx ends. While the database does not answer, it counts as unchanged.
func (w *Watches) poll(ctx context.Context, project int64, p *watch) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		state, err := w.store.View(ctx).ProjectState(project)
		deleted := errors.Is(err, store.ErrNotFound)
		last := p.now.Load()
		now := &seen{state: state, people: w.people(p), deleted: deleted, changed: make(chan struct{})}
		if err != nil && !deleted {
			now.state, now.deleted = last.state, last.deleted
		}
		if !now.same(last) {
			p.now.Store(now)
			close(last.changed)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-ticker.C:
		}
	}
}
