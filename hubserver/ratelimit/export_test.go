package ratelimit

import "time"

// SetClock has the limiter's own clock differ from this machine's.
func (l *Limiter) SetClock(skew time.Duration) {
	l.now = func() time.Time { return time.Now().Add(skew) }
}
