package hubserver

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
)

func TestConnections_LeavePlaceForOtherAddresses(t *testing.T) {
	var log strings.Builder
	n := &listener{of: map[string]int{}, cfg: &Config{
		Limits: Limits{Connections: 16}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}}
	var open []func()
	add := func(address string, want bool) {
		t.Helper()
		remove, ok := n.add(address)
		if ok != want {
			t.Errorf("%s: %t", address, ok)
		}
		if ok {
			open = append(open, remove)
		}
	}
	for _, want := range []bool{true, true, false} {
		add("192.0.2.1", want)
	}
	add("192.0.2.2", true)
	for i, want := range []bool{true, true, false} {
		add([]string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}[i], want) // one network
	}
	add("2001:db8:0:1::1", true)
	for range 5 {
		add("127.0.0.1", true)
		add("10.1.2.3", true)
	}
	add("127.0.0.1", false)
	add("192.0.2.3", false)
	open[0]()
	open[0]() // once
	add("192.0.2.1", true)
	add("192.0.2.3", false)
	for _, remove := range open {
		remove()
	}
	if n.open != 0 || len(n.of) != 0 {
		t.Errorf("%d are open, of %v", n.open, n.of)
	}
	lines := strings.Count(log.String(), "connections are refused")
	if lines != 1 || !strings.Contains(log.String(), "address=192.0.2.1 ") {
		t.Errorf("the log has %d lines for a minute in which several connections were refused:\n%s", lines, &log)
	}
}
