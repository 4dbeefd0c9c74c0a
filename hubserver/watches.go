package hubserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// How many streams of events are open at once in this process. All those without a
// token leave half of them to others.
const (
	maxStreams       = 1024
	maxCallerStreams = 32
)

// pollEvery is the time between two looks at a project that is watched: other replicas
// write to the same database. Events are sent within a second.
const pollEvery = 900 * time.Millisecond

// watches are the projects that streams of this process watch. Each is looked at once,
// whatever the number of its streams.
type watches struct {
	state func(context.Context, ref.Ref) (store.ProjectState, error)

	mu        sync.Mutex
	projects  map[ref.Ref]*watch
	clients   map[string]int // streams of each
	streams   int
	anonymous int // of streams
	stopped   bool
	stopping  chan struct{} // closed when the hub stops
}

// watch is a project with the streams about it.
type watch struct {
	streams map[*stream]bool
	now     store.ProjectState
	known   bool // now was read
	gone    bool // the project was deleted
	wake    chan struct{}
	cancel  context.CancelFunc
}

// stream is one caller's stream of events about a project.
type stream struct {
	watches *watches
	project ref.Ref
	client  string
	changed chan struct{} // has an element when there may be something new
}

func newWatches(state func(context.Context, ref.Ref) (store.ProjectState, error)) *watches {
	return &watches{state: state, projects: map[ref.Ref]*watch{}, clients: map[string]int{}, stopping: make(chan struct{})}
}

// join adds a stream, or returns a problem: 429 when the client has enough of them, 503
// when others have, or when the hub stops.
func (w *watches) join(project ref.Ref, client string) (*stream, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.clients[client] >= maxCallerStreams:
		return nil, problemf(http.StatusTooManyRequests, wire.CodeRateLimited, "you have %d streams of events open", maxCallerStreams).
			with("Retry-After", retrySeconds)
	case w.stopped, w.streams >= maxStreams, isAddress(client) && w.anonymous >= maxStreams/2:
		return nil, busy(false)
	}
	s := &stream{watches: w, project: project, client: client, changed: make(chan struct{}, 1)}
	p := w.projects[project]
	if p == nil {
		ctx, cancel := context.WithCancel(context.Background())
		p = &watch{streams: map[*stream]bool{}, wake: make(chan struct{}, 1), cancel: cancel}
		w.projects[project] = p
		go w.poll(ctx, project, p)
	}
	p.streams[s] = true
	if p.known {
		s.notify()
	}
	w.count(client, 1)
	return s, nil
}

func (w *watches) count(client string, n int) {
	w.streams += n
	if isAddress(client) {
		w.anonymous += n
	}
	if w.clients[client] += n; w.clients[client] == 0 {
		delete(w.clients, client)
	}
}

// leave ends a stream, and with the last one the watch of its project.
func (s *stream) leave() {
	w := s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count(s.client, -1)
	p := w.projects[s.project]
	if delete(p.streams, s); len(p.streams) == 0 {
		p.cancel()
		delete(w.projects, s.project)
	}
}

// now returns what the project is now; false when it was deleted.
func (s *stream) now() (store.ProjectState, bool) {
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	p := s.watches.projects[s.project]
	return p.now, !p.gone
}

func (s *stream) notify() { signal(s.changed) }

// signal makes c ready, if it is not.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wrote has a project looked at now, because this process has changed it.
func (w *watches) wrote(project ref.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.projects[project]; p != nil {
		signal(p.wake)
	}
}

// stop ends all streams, and lets none begin.
func (w *watches) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.stopped = true
		close(w.stopping)
	}
}

// poll looks at a project until ctx ends. While the database does not answer, nothing
// is new.
func (w *watches) poll(ctx context.Context, project ref.Ref, p *watch) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if state, err := w.state(ctx, project); err == nil || errors.Is(err, store.ErrNotFound) {
			w.update(p, state, err != nil)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-ticker.C:
		}
	}
}

func (w *watches) update(p *watch, state store.ProjectState, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.known && p.now == state && p.gone == gone {
		return
	}
	p.now, p.gone, p.known = state, gone, true
	for s := range p.streams {
		s.notify()
	}
}
