package api

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
)

// Limits of presence.
const (
	presenceLife = 30 * time.Second // since a tab was last seen
	maxTabs      = 50               // of a project
	maxUserTabs  = 10               // of one user in a project
	maxTabKey    = 1024             // bytes
)

var tabID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// tab is an open page of a project.
type tab struct {
	person wire.Person
	until  time.Time // it counts as closed then
}

// putPresence notes that a tab of the caller shows the project, and which key is edited in it. It is kept in memory,
// as long as this process has a stream of the project's events. The streams send it after the next read of poll, so
// that many calls cause no more events than one.
func (w *Watches) putPresence(c *request.Call, req *wire.PutPresence) error {
	if !tabID.MatchString(req.Tab) {
		return request.InvalidBody("/tab", "must be 8 to 64 letters, digits, - and _")
	}
	if len(req.Key) > maxTabKey {
		return request.InvalidBody("/key", "must have at most %d bytes", maxTabKey)
	}
	people, noted := w.note(c.Resource.ID, c.Access.Name(), req, time.Now())
	if !noted {
		return request.RateLimited(30, "too many tabs show %s", c.Ref())
	}
	return c.JSON(http.StatusOK, wire.Presence{People: people})
}

// note notes a tab of a user, and returns who is there. It reports false if there are too many tabs.
func (w *Watches) note(project int64, user string, req *wire.PutPresence, now time.Time) ([]wire.Person, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.projects[project]
	if p == nil { // no caller follows the project
		return []wire.Person{}, true
	}
	p.people(now) // forgets the tabs that were closed
	id := user + " " + req.Tab
	if _, known := p.tabs[id]; !known {
		own := 0
		for _, t := range p.tabs {
			if t.person.User == user {
				own++
			}
		}
		if own >= maxUserTabs || len(p.tabs) >= maxTabs {
			return nil, false
		}
	}
	p.tabs[id] = tab{person: wire.Person{User: user, Key: req.Key}, until: now.Add(presenceLife)}
	return p.people(now), true
}

// people returns who has a tab open, sorted, and forgets the tabs that have not been seen for too long. The caller
// holds the lock of the watches.
func (p *watch) people(now time.Time) []wire.Person {
	maps.DeleteFunc(p.tabs, func(_ string, t tab) bool { return now.After(t.until) })
	people := []wire.Person{}
	for _, t := range p.tabs {
		people = append(people, t.person)
	}
	slices.SortFunc(people, func(a, b wire.Person) int {
		return strings.Compare(a.User+" "+a.Key, b.User+" "+b.Key)
	})
	return slices.Compact(people)
}
