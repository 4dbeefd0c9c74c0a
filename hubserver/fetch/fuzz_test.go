package fetch_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"example.com/projecthub/hubserver/fetch"
)

// FuzzGet makes every name lead inside: then nothing may be dialled but addresses
// that are written out and public.
func FuzzGet(f *testing.F) {
	for _, url := range inward()[:40] {
		f.Add(url)
	}
	for _, url := range []string{"http://a@b:1/", "http://①②⑦.0.0.1", "http://[::ffff:1.2.3.4%25a]:443/?#", "https://a\\b",
		"http://1.1.1.1:080/"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		var dialled []netip.AddrPort
		fetcher := fetch.New(fetch.Options{
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			},
			Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				dialled = append(dialled, to)
				return nil, errors.New("no network")
			},
		})
		_, err := get(fetcher, url)
		var invalid *fetch.InvalidURL
		if !errors.As(err, &invalid) {
			wantRefused(t, err)
		}
		for _, to := range dialled {
			a := to.Addr().Unmap()
			if a.IsPrivate() || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() ||
				a.Zone() != "" ||
				to.Port() != 80 && to.Port() != 443 {
				t.Errorf("Get(%q) dialled %v", url, to)
			}
		}
	})
}
