package hubserver

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestCallerAddress_BelievesTrustedProxiesOnly(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"203.0.113.9:1234", nil, "203.0.113.9"},
		{"203.0.113.9:1234", []string{"198.51.100.1"}, "203.0.113.9"}, // no proxy of ours
		{"10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"6.6.6.6, 198.51.100.1"}, "198.51.100.1"},             // the caller says that it is 6.6.6.6
		{"10.0.0.1:1234", []string{"6.6.6.6", "198.51.100.1, 10.2.0.1"}, "198.51.100.1"}, // two proxies, two fields
		{"10.0.0.1:1234", []string{"6.6.6.6, rubbish, 10.2.0.1"}, "10.2.0.1"},
		{"10.0.0.1:1234", nil, "10.0.0.1"},
		{"10.0.0.1:1234", []string{"10.0.0.7"}, "10.0.0.7"},
		{"[fd00::1]:1234", []string{"2001:db8::5"}, "2001:db8::5"},
		{"[::ffff:10.0.0.1]:1234", []string{"[2001:db8::5]:443"}, "2001:db8::5"},
		{"10.0.0.1:1234", []string{"198.51.100.1:5000"}, "198.51.100.1"},
		{"pipe", []string{"198.51.100.1"}, "pipe"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := callerAddress(r, proxies); got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}

func FuzzCallerAddress_IsAnAddress(f *testing.F) {
	f.Add("10.0.0.1:1", "198.51.100.1, 10.0.0.2")
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": strings.Split(forwarded, ";")}}
		got := callerAddress(r, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
		if _, err := netip.ParseAddr(got); err != nil && got != host(remote) {
			t.Errorf("%q, %q: %q", remote, forwarded, got)
		}
	})
}
