package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/projecthub/hubserver/fetch"
)

// notPublic are addresses from every range that is not for hosts on the Internet.
var notPublic = strings.Fields(`
	0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
	169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1
	192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
	239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16
	:: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:10.0.0.1
	::ffff:0:127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 1fff::1
	2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 2001:db8:ffff::1 2002:7f00:1::
	2002:a9fe:a9fe:: 2002:808:808:: 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1
	fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 ffff::1`)

// publicAddresses are just outside those ranges.
var publicAddresses = strings.Fields(`
	1.0.0.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
	168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0
	192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 203.0.112.255 203.0.114.0
	223.255.255.255 ::ffff:8.8.8.8 2000::1 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2400:cb00::1 2606:4700::1111
	2620:4f:7fff::1 2a00:1450::1 3ffe::1 3fff:1000::1`)

// hostnames are names and spellings that lead inside, with what a resolver makes of
// them: the C library reads 0177.1 and the like as addresses.
var hostnames = map[string]string{
	"localhost": "127.0.0.1", "localhost.localdomain": "::1", "metadata.google.internal": "169.254.169.254",
	"metadata": "169.254.169.254", "127.0.0.1.nip.io": "127.0.0.1", "10.0.0.1.nip.io": "10.0.0.1",
	"intranet": "10.1.2.3", "hub": "192.168.1.1", "instance-data": "169.254.169.254", "ip6-localhost": "::1",
	"0": "0.0.0.0", "00": "0.0.0.0", "0x0": "0.0.0.0", "127.1": "127.0.0.1", "127.0.1": "127.0.0.1",
	"2130706433":   "127.0.0.1",
	"017700000001": "127.0.0.1", "0x7f000001": "127.0.0.1", "0x7f.1": "127.0.0.1", "0177.0.0.1": "127.0.0.1",
	"0177.1":           "127.0.0.1",
	"0x7f.0x0.0x0.0x1": "127.0.0.1", "127.0.0.01": "127.0.0.1",
	"2852039166": "169.254.169.254", "0xa9fea9fe": "169.254.169.254", "0251.0376.0251.0376": "169.254.169.254",
	"169.254.43518": "169.254.169.254", "169.16689662": "169.254.169.254", "0xa9.254.0251.254": "169.254.169.254",
	"127.0.0.1": "127.0.0.1",
}

// inward returns the addresses that lead inside: every address that is not public and every
// name, in several spellings.
func inward() []string {
	var urls []string
	for _, address := range notPublic {
		host := address
		if strings.Contains(address, ":") {
			host = "[" + address + "]"
		}
		urls = append(urls, "http://"+host+"/", "https://"+host+"/a?b#c", "http://"+host+":443/")
	}
	for name := range hostnames {
		urls = append(urls, "http://"+name+"/", "https://"+strings.ToUpper(name)+"./latest/meta-data/", "http://"+name+":443")
	}
	return append(urls,
		"http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://127．0．0．1/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://lo%63alhost/",
		"http://127.0.0.%31/",
		"http://[::1%25lo]/", "http://[fe80::1%25eth0]/", "http://[2606:4700::1111%25eth0]/",
		"http://[::ffff:127.0.0.1%25lo]/",
		"http://public.example:22/", "http://public.example:25/", "http://public.example:6379/",
		"http://public.example:8080/",
		"http://public.example:1/", "http://public.example:65535/", "https://public.example:5432/",
		"http://93.184.216.34:8443/",
		"http://mixed.example/", "http://mixed6.example/", "http://none.example/", "http://unknown.example/",
		"http://zone.example/",
	)
}

func TestGuard_DialsOnlyPublicAddresses(t *testing.T) {
	w := newWorld()
	for name, address := range hostnames {
		w.names[name] = []string{address}
	}
	w.names["public.example"], w.names["none.example"] = []string{public}, nil
	w.names["mixed.example"], w.names["mixed6.example"] = []string{public, "10.0.0.1"},
		[]string{"2606:4700::1111", "1.1.1.1", "::1"}
	w.names["zone.example"] = []string{"2606:4700::1111%eth0"}
	f := w.fetcher(fetch.Options{})
	urls := inward()
	if len(urls) < 120 {
		t.Fatalf("only %d addresses", len(urls))
	}
	for _, url := range urls {
		_, err := get(f, url)
		var invalid *fetch.InvalidURL
		if !errors.As(err, &invalid) {
			wantRefused(t, err)
		}
		if len(w.dialled) > 0 {
			t.Errorf("Get(%s) dialled %v", url, w.dialled)
			w.dialled = nil
		}
	}
	t.Logf("%d addresses, none dialled", len(urls))
}

func TestGuard_DialsEveryPublicAddress(t *testing.T) {
	for _, address := range publicAddresses {
		for _, port := range []string{"80", "443"} {
			w := newWorld()
			place := net.JoinHostPort(address, port)
			w.names["a.example"] = []string{address}
			w.site(place, ok("x"))
			for _, host := range []string{"a.example:" + port, place} {
				if got, err := get(w.fetcher(fetch.Options{}), "http://"+host); string(got) != "x" {
					t.Errorf("Get(%s) = %q, %v", host, got, errors.Unwrap(err))
				}
			}
		}
	}
}

// Here listeners are real, and what is not refused would reach them.
func TestGuard_NoSpellingReachesLoopback(t *testing.T) {
	var hits atomic.Int32
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	listeners := []*httptest.Server{httptest.NewServer(handler)}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		server := httptest.NewUnstartedServer(handler)
		server.Listener = l
		server.Start()
		listeners = append(listeners, server)
	}
	resolve := func(_ context.Context, host string) ([]netip.Addr, error) {
		if address, ok := hostnames[strings.ToLower(strings.TrimSuffix(host, "."))]; ok {
			return []netip.Addr{netip.MustParseAddr(address)}, nil
		}
		return nil, errors.New("no such host")
	}
	tries := 0
	for _, listener := range listeners {
		defer listener.Close()
		port := listener.Listener.Addr().(*net.TCPAddr).Port
		allow, err := fetch.ParseAllow(fmt.Sprintf("93.184.216.0/24:%d", port)) // the port, elsewhere
		if err != nil {
			t.Fatal(err)
		}
		guarded := fetch.New(fetch.Options{Resolve: resolve, Allow: []fetch.Allow{allow}})
		spellings := []string{"127.0.0.1", "0.0.0.0", "[::1]", "[::]", "[::ffff:7f00:1]", "[::ffff:127.0.0.1]", "[::1%25lo]",
			"①②⑦.⓪.⓪.①", "127。0。0。1"}
		for name, address := range hostnames {
			if netip.MustParseAddr(address).IsLoopback() || address == "0.0.0.0" {
				spellings = append(spellings, name, strings.ToUpper(name)+".")
			}
		}
		for _, host := range spellings {
			tries++
			_, err := get(guarded, fmt.Sprintf("http://%s:%d/", host, port))
			wantRefused(t, err)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d of %d spellings reached a listener", n, tries)
	}

	open := fetch.New(fetch.Options{Resolve: resolve, Allow: allowed(t, "127.0.0.0/8:"+portOf(listeners[0].URL))})
	for _, host := range []string{"127.0.0.1", "localhost", "2130706433", "[::ffff:7f00:1]"} {
		if _, err := get(open, "http://"+host+":"+portOf(listeners[0].URL)); err != nil {
			t.Errorf("%s, which is allowed now: %v", host, errors.Unwrap(err))
		}
	}
	if n := hits.Load(); n != 4 {
		t.Errorf("%d of 4 allowed fetches reached the listener", n)
	}
}

func portOf(url string) string { return url[strings.LastIndexByte(url, ':')+1:] }

func allowed(t *testing.T, texts ...string) []fetch.Allow {
	t.Helper()
	list := make([]fetch.Allow, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = fetch.ParseAllow(text); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// The address that was checked is the one that is dialled, whatever the name means a moment later.
func TestGuard_ResolvesOncePerHop(t *testing.T) {
	w := newWorld()
	w.site(public+":80", redirect("302", "/again"))
	answers := 0
	resolve := func(context.Context, string) ([]netip.Addr, error) {
		answers++
		return []netip.Addr{netip.MustParseAddr([]string{"127.0.0.1", public}[answers%2])}, nil
	}
	for range 500 {
		f := fetch.New(fetch.Options{Resolve: resolve, Dial: w.dial})
		answers = 0
		_, err := get(f, "http://rebinding.example/")
		wantRefused(t, err)
		if answers != 2 {
			t.Fatalf("the name was resolved %d times in 2 hops", answers)
		}
	}
	for _, place := range w.dialled {
		if place != public+":80" {
			t.Fatalf("%s was dialled", place)
		}
	}
	if len(w.dialled) != 500 {
		t.Errorf("%d dials, want 500", len(w.dialled))
	}
}

func TestGuard_ChecksDialledAddress(t *testing.T) {
	f := fetch.New(fetch.Options{Allow: allowed(t, "10.1.0.0/16:8080")})
	for address, want := range map[string]bool{
		public + ":80": true, "[2606:4700::1111]:443": true, "10.1.2.3:8080": true,
		"127.0.0.1:80": false, "[::1]:80": false, "10.1.2.3:80": false, "10.2.0.1:8080": false, public + ":22": false,
		"[fe80::1%eth0]:80": false, "[::ffff:8.8.8.8%eth0]:80": false, "[::ffff:8.8.8.8]:80": true,
		"[::ffff:127.0.0.1]:80": false, "localhost:80": false, "/run/docker.sock": false, "": false,
	} {
		if err := f.Control("tcp", address); (err == nil) != want {
			t.Errorf("%q: %v, want allowed %v", address, err, want)
		}
	}
}

func TestGuard_AllowsConfiguredRanges(t *testing.T) {
	w := newWorld()
	for _, place := range []string{"10.1.2.3:80", "10.1.2.3:443", "10.1.2.3:8080", "10.2.0.1:8080", "[fd00::1]:80",
		"[fd00::1]:9000", public + ":8080"} {
		w.site(place, ok("x"))
	}
	for list, want := range map[string]map[string]bool{
		"":                      {"10.1.2.3": false, "10.1.2.3:8080": false, public + ":8080": false},
		"10.1.0.0/16":           {"10.1.2.3": true, "10.1.2.3:443": true, "10.1.2.3:8080": false, "10.2.0.1:8080": false},
		"10.1.0.0/16:8080":      {"10.1.2.3": false, "10.1.2.3:8080": true, "10.2.0.1:8080": false, public + ":8080": false},
		"10.1.2.3/32 fd00::/8":  {"10.1.2.3": true, "[fd00::1]": true, "[fd00::1]:9000": false},
		"fd00::/8:9000":         {"[fd00::1]": false, "[fd00::1]:9000": true},
		"0.0.0.0/0:8080":        {"10.2.0.1:8080": true, public + ":8080": true, "[fd00::1]": false},
		"93.184.216.34/32:8080": {public + ":8080": true, "10.2.0.1:8080": false},
	} {
		f := w.fetcher(fetch.Options{Allow: allowed(t, strings.Fields(list)...)})
		for host, ok := range want {
			if _, err := get(f, "http://"+host+"/"); (err == nil) != ok {
				t.Errorf("allowed %q: %s: %v, want %v", list, host, errors.Unwrap(err), ok)
			}
		}
	}
}

func TestGuard_RejectsMalformedRange(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `"" is not of the form CIDR or CIDR:PORT, such as 10.1.0.0/16:8080`,
		"10.0.0.1":            `"10.0.0.1" is not of the form CIDR or CIDR:PORT, such as 10.1.0.0/16:8080`,
		"localhost:80":        `"localhost:80" is not of the form CIDR or CIDR:PORT, such as 10.1.0.0/16:8080`,
		"10.0.0.0/33":         `"10.0.0.0/33": "10.0.0.0/33" is not a range of addresses`,
		"10.0.0/8":            `"10.0.0/8": "10.0.0/8" is not a range of addresses`,
		"a/8:80":              `"a/8:80": "a/8" is not a range of addresses`,
		"fe80::1%eth0/64":     `"fe80::1%eth0/64": "fe80::1%eth0/64" is not a range of addresses`,
		"10.1.2.3/8":          `"10.1.2.3/8": the range begins at 10.0.0.0/8`,
		"::ffff:10.0.0.0/104": `"::ffff:10.0.0.0/104": write the IPv4 addresses as such`,
		"10.0.0.0/8:":         `"10.0.0.0/8:": its port is not a number from 1 to 65535`,
		"10.0.0.0/8:0":        `"10.0.0.0/8:0": its port is not a number from 1 to 65535`,
		"10.0.0.0/8:65536":    `"10.0.0.0/8:65536": its port is not a number from 1 to 65535`,
		"10.0.0.0/8:http":     `"10.0.0.0/8:http": its port is not a number from 1 to 65535`,
	} {
		if _, err := fetch.ParseAllow(text); err == nil || err.Error() != want {
			t.Errorf("ParseAllow(%q): %v, want %s", text, err, want)
		}
	}
}
