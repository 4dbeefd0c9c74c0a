package hubserver

import (
	"sync"
	"time"

	"example.com/projecthub/store"
)

// polls holds when terminals asked this hub for their tokens, so that those which ask too
// often are told so without a write: anybody can have a terminal wait. Another hub does not
// need it; a terminal that asks several hubs in turn is allowed to ask each as often.
type polls struct {
	mu   sync.Mutex
	last map[string]poll // by the hash of the terminal's secret
}

// poll is when a terminal asked, and how long it is to wait until it asks again.
type poll struct {
	at    time.Time
	every time.Duration
}

const (
	slower   = 5 * time.Second // what a poll that comes too early adds to the wait
	maxPolls = 10_000          // as many as are remembered
)

// note notes that a terminal asks now. It returns how long the terminal has to wait from
// now on if that is too early, and 0 otherwise.
func (p *polls) note(hash string) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.last[hash]
	if p.last == nil || !known && len(p.last) >= maxPolls {
		p.last = map[string]poll{}
	}
	now := time.Now()
	next := poll{at: now, every: max(last.every, store.DeviceEvery)}
	if known && now.Sub(last.at) < last.every {
		next.every = min(next.every+slower, store.DeviceLife)
		wait = next.every
	}
	p.last[hash] = next
	return wait
}
