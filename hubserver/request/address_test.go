package request

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"example.com/projecthub/store"
)

func TestCallerAddress_TrustsConfiguredProxiesOnly(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"203.0.113.9:1234", nil, "203.0.113.9"},
		{"203.0.113.9:1234", []string{"198.51.100.1"}, "203.0.113.9"}, // no proxy of ours
		{"10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1234", []string{"6.6.6.6, 198.51.100.1"}, "198.51.100.1"},             // by the caller
		{"10.0.0.1:1234", []string{"6.6.6.6", "198.51.100.1, 10.2.0.1"}, "198.51.100.1"}, // two proxies and fields
		{"10.0.0.1:1234", []string{"6.6.6.6, rubbish, 10.2.0.1"}, "10.2.0.1"},
		{"10.0.0.1:1234", nil, "10.0.0.1"},
		{"10.0.0.1:1234", []string{"10.0.0.7"}, "10.0.0.7"},
		{"[fd00::1]:1234", []string{"2001:db8::5"}, "2001:db8::5"},
		{"[::ffff:10.0.0.1]:1234", []string{"[2001:db8::5]:443"}, "2001:db8::5"},
		{"10.0.0.1:1234", []string{"198.51.100.1:5000"}, "198.51.100.1"},
		{"pipe", []string{"198.51.100.1"}, "pipe"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := (&Call{R: r, Hub: &Hub{Config: Config{TrustedProxies: proxies}}}).Address(); got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}

func FuzzCallerAddress_IsAnAddress(f *testing.F) {
	f.Add("10.0.0.1:1", "198.51.100.1, 10.0.0.2")
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": strings.Split(forwarded, ";")}}
		proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		got := (&Call{R: r, Hub: &Hub{Config: Config{TrustedProxies: proxies}}}).Address()
		if _, err := netip.ParseAddr(got); err != nil && got != host(remote) {
			t.Errorf("%q, %q: %q", remote, forwarded, got)
		}
	})
}

func TestNetwork_IsWhatOneCallerMayHave(t *testing.T) {
	for _, c := range []struct {
		address, want string
	}{
		{"203.0.113.9", "203.0.113.9"},
		{"2001:db8:1:2:3::4", "2001:db8:1:2::/64"},
		{"fe80::1%eth0", "fe80::/64"},
		{"::ffff:203.0.113.9", "::ffff:203.0.113.9"},
		{"pipe", "pipe"},
	} {
		if got := network(c.address); got != c.want {
			t.Errorf("%s: %s, want %s", c.address, got, c.want)
		}
	}
}

// An account can have any number of bots: they take its room. It is no stranger's.
func TestClient_BotIsItsAccount(t *testing.T) {
	for _, who := range []store.Caller{{Account: "acme"}, {Account: "acme", BotID: 7, BotRefID: "@acme/ci"}} {
		c := &Call{Access: &store.Access{Caller: who}}
		if got := c.client(); got != (client{name: "acme"}) {
			t.Errorf("%s: %v", who.Name(), got)
		}
	}
}

func TestClient_StrangerIsItsNetwork(t *testing.T) {
	c := &Call{Hub: &Hub{}, R: &http.Request{RemoteAddr: "[2001:db8:1:2:3::4]:99"}}
	if got := c.client(); got != (client{"2001:db8:1:2::/64", true}) {
		t.Errorf("%v", got)
	}
}
