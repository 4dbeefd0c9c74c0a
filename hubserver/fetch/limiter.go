package fetch

import "sync"

// maxInFlight is how many documents one account may have fetched at once.
const maxInFlight = 4

// limiter counts what is in flight for each account.
type limiter struct {
	mu    sync.Mutex
	count map[string]int
}

// enter reports whether account may fetch one more; if so, it has to leave in the end.
func (l *limiter) enter(account string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count[account] == maxInFlight {
		return false
	}
	if l.count == nil {
		l.count = map[string]int{}
	}
	l.count[account]++
	return true
}

func (l *limiter) leave(account string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count[account]--; l.count[account] == 0 {
		delete(l.count, account)
	}
}
