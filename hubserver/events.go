package hubserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// keepAlive is the time between two lines that only keep a stream of events open.
const keepAlive = 15 * time.Second

// recheckEvery is the time between two looks at the rights of a caller whose stream is
// open. They are looked at before each event, too. Only tests change it.
var recheckEvery = 5 * time.Second

// getEvents responds with a stream of events that ends when the caller goes, may no longer
// read the project, or the hub stops.
func (s *Server) getEvents(c *call) error {
	if _, err := c.project(); err != nil {
		return err
	}
	stream, err := s.watches.join(c.ref(), c.client())
	if err != nil {
		return err
	}
	defer stream.leave()
	c.w.Header().Set("Content-Type", wire.EventStream)
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	e := &eventWriter{call: c, flush: http.NewResponseController(c.w.ResponseWriter).Flush}
	alive, recheck := time.NewTicker(keepAlive), time.NewTicker(recheckEvery)
	defer alive.Stop()
	defer recheck.Stop()
	err = e.write(": events of " + c.ref().String() + "\n\n")
	for err == nil {
		select {
		case <-c.ctx().Done():
			return nil
		case <-s.watches.stopping:
			return nil
		case <-stream.changed:
			now, exists := stream.now()
			if !exists {
				return nil
			}
			if err = c.recheck(); err == nil {
				err = e.send(now)
			}
		case <-recheck.C:
			err = c.recheck()
		case <-alive.C:
			err = e.write(":\n\n")
		}
		if errors.Is(err, errUnchecked) {
			stream.notify() // what was not sent is sent once the database answers
			err = e.pause(recheck.C)
		}
	}
	return nil // the caller sees that the stream has ended
}

// eventWriter writes events, each once.
type eventWriter struct {
	call  *call
	flush func() error
	sent  store.ProjectState
}

// pause waits after the database did not answer.
func (e *eventWriter) pause(until <-chan time.Time) error {
	select {
	case <-e.call.ctx().Done():
		return e.call.ctx().Err()
	case <-e.call.s.watches.stopping:
		return context.Canceled
	case <-until:
		return nil
	}
}

// send writes what is new in now.
func (e *eventWriter) send(now store.ProjectState) error {
	if now.Revision != e.sent.Revision {
		event := wire.ConfigEvent{Revision: now.Revision, By: now.UpdatedBy, Via: wire.Via(now.UpdatedVia)}
		if err := e.event(wire.EventConfig, event); err != nil {
			return err
		}
	}
	if now.Tree != e.sent.Tree && now.Tree != "" {
		event := wire.BaseFilesEvent{Tree: now.Tree, By: now.FilesBy, Via: wire.Via(now.FilesVia)}
		if err := e.event(wire.EventBaseFiles, event); err != nil {
			return err
		}
	}
	e.sent = now
	return nil
}

func (e *eventWriter) event(name string, data any) error {
	encoded, err := wire.Encode(data)
	if err != nil {
		return err
	}
	return e.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, encoded))
}

func (e *eventWriter) write(text string) error {
	if _, err := e.call.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.flush()
}

// errUnchecked says that the database did not answer whether the caller may still read.
var errUnchecked = errors.New("the rights could not be checked")

// recheck returns an error unless the caller may still read the project, as [call.admit]
// decides.
func (c *call) recheck() error {
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		if c.who != nil {
			if err := c.who.check(c.ctx(), v); err != nil {
				return err
			}
		}
		p, err := v.Project(c.ctx(), c.ref())
		if err != nil {
			return c.noProject(err)
		}
		if p.IsPublic() {
			return nil
		}
		if c.who == nil {
			return c.unauthenticated()
		}
		role, err := c.who.roleIn(store.Restriction{OnlyAccount: p.Account, OnlySlug: p.Slug},
			func() (string, error) { return v.RoleOf(c.ctx(), c.who.user, p.Account) })
		if err == nil && rank(role) < rank(wire.Reader) {
			return c.who.notPermitted(role, c.ref().Account(), wire.Reader)
		}
		return err
	})
	var refused *problem
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w: %w", errUnchecked, err)
}
