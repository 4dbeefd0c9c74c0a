package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// keepAlive is the time between two lines that only keep a stream of events open.
const keepAlive = 15 * time.Second

// getEvents responds with a stream of events that ends when the caller goes, may no longer read the
// project, or the hub stops.
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
	var sent store.ProjectState
	recheckIsDue := false
	for {
		now := p.now.Load()
		if now.deleted {
			return nil
		}
		if now.state != sent || recheckIsDue {
			checked := c.Recheck()
			if _, refused := errors.AsType[*request.Problem](checked); refused {
				return nil
			}
			if checked == nil { // else the database does not answer: later
				if sendChanges(c, sent, now.state) != nil {
					return nil
				}
				sent = now.state
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

// sendChanges sends an event about each part of a project that is not what was sent before.
func sendChanges(c *request.Call, sent, now store.ProjectState) error {
	if config := now.Config; config.Digest != sent.Config.Digest {
		event := wire.ConfigEvent{Revision: config.Digest, By: config.User, Via: wire.Via(config.Via)}
		if err := sendEvent(c, wire.EventConfig, event); err != nil {
			return err
		}
	}
	if files := now.Files; files.Digest != sent.Files.Digest && files.Digest != "" {
		event := wire.BaseFilesEvent{Tree: files.Digest, By: files.User, Via: wire.Via(files.Via)}
		return sendEvent(c, wire.EventBaseFiles, event)
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
