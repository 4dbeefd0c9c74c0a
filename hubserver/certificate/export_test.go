package certificate

import (
	"testing"
	"time"
)

// WaitShortly has handshakes wait for a certificate only briefly.
func WaitShortly(t testing.TB) {
	former := handshakeTime
	handshakeTime = 50 * time.Millisecond
	t.Cleanup(func() { handshakeTime = former })
}
