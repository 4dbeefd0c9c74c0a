package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/hubserver/fetch"
)

var fetchOptions = fetch.Options{}

func TestFetch_NamesMalformedURL(t *testing.T) {
	w := newWorld()
	f := w.fetcher(fetchOptions)
	const scheme, host, user, port, none = "its scheme is neither http nor https", "it names no host",
		"it has a user name or a password in it", "its port is not a number from 1 to 65535", "it is not a URL"
	for url, want := range map[string]string{
		"": scheme, "pets.example/a.yaml": scheme, "//pets.example": scheme, "/etc/passwd": scheme, "localhost:4680": scheme,
		"file:///etc/passwd": scheme, "file://localhost/etc/passwd": scheme, "gopher://127.0.0.1:6379/_x": scheme,
		"ftp://pets.example": scheme, "dict://127.0.0.1:11211": scheme, "ldap://127.0.0.1": scheme, "data:,x": scheme,
		"jar:http://pets.example!/": scheme, "unix:///run/docker.sock": scheme, "ws://pets.example": scheme,
		"httpx://a": scheme,
		"http:":     host, "http:pets.example": host, "http:/pets.example": host, "http://": host, "http:///a": host,
		"http://:80": host, "https://?a": host,
		"http://alice@pets.example": user, "http://alice:hunter2@pets.example": user, "http://@pets.example": user,
		"http://pets.example@127.0.0.1": user,
		"http://pets.example:0":         port, "http://pets.example:65536": port, "http://pets.example:99999999999": port,
		"http://pets.example:http": none, "http://pets.example:-1": none, "http://pets.example\\@127.0.0.1": none,
		"http://pets .example": none, "http://pets\t.example": none, "http://pets\r\nHost: x": none, "http://[::1": none,
		"http://[::1]]": none, "http://%zz": none, "http://pets.example/\x7f": none, "http://a:hunter2@b:c": none,
		"://": none,
		"http://pets.example/" + strings.Repeat("a", 2048): "it is longer than 2048 bytes",
	} {
		_, err := get(f, url)
		var invalid *fetch.InvalidURL
		if !errors.As(err, &invalid) || err.Error() != "the url cannot be fetched: "+want {
			t.Errorf("Get(%.60q): %v, want %q", url, err, want)
		}
	}
	if len(w.asked)+len(w.dialled) > 0 {
		t.Errorf("%v were looked up, %v dialled", w.asked, w.dialled)
	}
}

// Whatever is behind an address, the caller sees the same response.
func TestFetch_RefusalsReadAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.names["inside.example"], w.names["filtered.example"] = []string{"10.0.0.1"}, []string{"1.0.0.9"}
		answers := []string{"", "garbage", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 206 Partial Content\r\n\r\nx",
			"HTTP/1.1 401 Unauthorized\r\n\r\n",
			"HTTP/1.1 403 Forbidden\r\n\r\nSSH-2.0", "HTTP/1.1 404 Not Found\r\n\r\n", "HTTP/1.1 500 Oops\r\n\r\nstack",
			"HTTP/1.1 101 Switching\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx", redirect("302", "http://inside.example"),
			redirect("302", "ftp://x")}
		for i, answer := range answers {
			w.site(netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, 0, 1, byte(i)}), 80).String(), answer)
		}
		stall := func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if to.Addr().String() == "1.0.0.9" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return w.dial(ctx, to)
		}
		f := fetch.New(fetch.Options{Resolve: w.resolve, Dial: stall})
		urls := []string{"http://inside.example", "http://filtered.example", "http://unknown.example", "http://8.8.8.8",
			"https://8.8.8.8",
			"http://127.0.0.1", "http://[::1]", "http://169.254.169.254/latest"}
		for i := range answers {
			urls = append(urls, "http://"+netip.AddrFrom4([4]byte{1, 0, 1, byte(i)}).String())
		}
		for _, port := range strings.Fields(
			"1 7 21 22 23 25 53 81 110 111 135 139 143 389 445 1433 1521 2049 2375 3306 3389 5432 6379 8080 8443 9200 11211 27017 65535") {
			urls = append(urls, "http://"+public+":"+port, "http://127.0.0.1:"+port)
		}
		const want = "nothing can be fetched from this address: it has to be public, on port 80 or 443, and to answer " +
			"with status 200, uncompressed, within 30s and after at most 5 redirects"
		causes := map[string]bool{}
		for _, url := range urls {
			_, err := get(f, url)
			refused := wantRefused(t, err)
			if refused.Error() != want {
				t.Errorf("Get(%s): %v", url, err)
			}
			causes[errors.Unwrap(refused).Error()] = true
		}
		if len(causes) < len(urls)*2/3 {
			t.Errorf("the log gets only %d causes of %d", len(causes), len(urls))
		}
	})
}

func TestFetch_CauseIsAvailableForLog(t *testing.T) {
	w := newWorld()
	w.names["none.example"], w.names["inside.example"] = nil, []string{public, "10.0.0.1"}
	w.site("1.0.0.1:80", "HTTP/1.1 404 Not Found\r\n\r\n")
	w.site("1.0.0.2:80", redirect("302", "https://user:hunter2@inside.example/"))
	w.site("1.0.0.3:80", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
	w.site("1.0.0.4:80", redirect("302", "/?hunter2"))
	f := w.fetcher(fetchOptions)
	for url, want := range map[string]string{
		"http://none.example/?key=hunter2": "get from none.example: none.example has no address",
		"http://inside.example/?hunter2":   "get from inside.example: 10.0.0.1:80 is not a public address",
		"http://8.8.8.8:22/":               "get from 8.8.8.8:22: 8.8.8.8:22 is on another port than 80 and 443",
		"http://[fe80::1%25eth0]/":         "get from [fe80::1%eth0]: [fe80::1%eth0]:80 names a network interface",
		"http://1.0.0.1/":                  "get from 1.0.0.1: status 404 Not Found",
		"http://1.0.0.2/":                  "redirect from 1.0.0.2: it has a user name or a password in it",
		"http://1.0.0.3/":                  `get from 1.0.0.3: content encoding "gzip"`,
		"http://1.0.0.4/":                  "more than 5 redirects, the last one to 1.0.0.4",
		"http://unknown.example/":          "get from unknown.example: lookup unknown.example: no such host",
	} {
		_, err := get(f, url)
		if got := errors.Unwrap(wantRefused(t, err)).Error(); got != want {
			t.Errorf("Get(%s) is refused because %s, want %s", url, got, want)
		}
	}
}

// endless answers with head and then a chunk again and again, and adds up what got through.
func (w *world) endless(head, chunk string, written *atomic.Int64) func(net.Conn) {
	return func(conn net.Conn) {
		w.readHead(conn)
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		for {
			n, err := io.WriteString(conn, chunk)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

func TestFetch_CutsOffEndlessResponse(t *testing.T) {
	const limit = 1 << 20
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 100*limit))
	z.Close()
	for name, test := range map[string]struct {
		head, chunk string
		tooLarge    bool
		most        int64 // bytes that may get through
	}{
		"body": {"HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("a", 4096), true, limit + 64<<10},
		"chunked body": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			"1000\r\n" + strings.Repeat("a", 4096) + "\r\n", true, limit + 64<<10},
		"tiny chunks": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\na\r\n", 500),
			true, 8 * limit},
		"chunk extensions": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			"1;" + strings.Repeat("x", 2000) + "\r\na\r\n", false, limit},
		"trailers":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n", false, 64 << 10},
		"announced body":  {"HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", "a", true, 64 << 10},
		"terabytes":       {"HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n", "a", true, 64 << 10},
		"headers":         {"HTTP/1.1 200 OK\r\n", "A: b\r\n", false, 128 << 10},
		"one long header": {"HTTP/1.1 200 OK\r\nA: ", strings.Repeat("b", 1000), false, 128 << 10},
		"long status":     {"HTTP/1.1 200 ", strings.Repeat("b", 1000), false, 128 << 10},
		"1xx":             {"", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", false, 128 << 10},
		"100":             {"", "HTTP/1.1 100 Continue\r\n\r\n", false, 128 << 10},
		"HTTP/0.9":        {"<html>", strings.Repeat("a", 1000), false, 128 << 10},
		"gzip bomb": {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", bomb.String(), false,
			int64(bomb.Len()) + 64<<10},
		"other encoding": {"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n", "a", false, 64 << 10},
		"body of a redirect": {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", strings.Repeat("a", 4096), false,
			64 << 10},
		"body of an error": {"HTTP/1.1 500 Oops\r\n\r\n", strings.Repeat("a", 4096), false, 64 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			var written atomic.Int64
			w := newWorld()
			w.sites[public+":80"] = w.endless(test.head, test.chunk, &written)
			_, err := get(w.fetcher(fetch.Options{MaxBytes: limit}), "http://"+public)
			var tooLarge *fetch.TooLarge
			if errors.As(err, &tooLarge) != test.tooLarge {
				t.Errorf("the error is %v", err)
			} else if !test.tooLarge {
				wantRefused(t, err)
			} else if err.Error() != "the document is larger than 1048576 bytes" {
				t.Errorf("the error is %v", err)
			}
			if n := written.Load(); n > test.most {
				t.Errorf("%d bytes got through, want at most %d", n, test.most)
			}
		})
	}
}

func TestFetch_AllowsExactLimit(t *testing.T) {
	w := newWorld()
	f := w.fetcher(fetchOptions)
	full := strings.Repeat("a", 16<<20)
	w.site(public+":80", ok(full))
	if got, err := get(f, "http://"+public); string(got) != full {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	w.site(public+":80", ok(full+"b"))
	var tooLarge *fetch.TooLarge
	if _, err := get(f, "http://"+public); !errors.As(err, &tooLarge) || tooLarge.Limit != 16<<20 {
		t.Errorf("one byte more: %v", err)
	}
}

// Whatever a target delays, and however little it sends at a time, is over in 30 seconds of the
// bubble's clock.
func TestFetch_TimesOutAfter30Seconds(t *testing.T) {
	drip := func(head, drop string) func(*world, net.Conn) {
		return func(w *world, conn net.Conn) {
			w.readHead(conn)
			io.WriteString(conn, head)
			for err := error(nil); !errors.Is(err, io.EOF); _, err = conn.Read(make([]byte, 1)) {
				io.WriteString(conn, drop)
				conn.SetReadDeadline(time.Now().Add(time.Second))
			}
		}
	}
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, test := range map[string]struct {
		site    func(*world, net.Conn)
		resolve bool // hangs
		dial    bool // hangs
	}{
		"name":           {resolve: true},
		"connection":     {dial: true},
		"silence":        {site: (*world).silent},
		"headers":        {site: drip("HTTP/1.1 200 OK\r\n", "A: b\r\n")},
		"header":         {site: drip("HTTP/1.1 200 OK\r\nA: ", "b")},
		"body":           {site: drip("HTTP/1.1 200 OK\r\n\r\n", "a")},
		"announced body": {site: drip("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "a")},
		"redirect":       {site: drip("HTTP/1.1 302 Found\r\n", "A: b\r\n")},
		"informational":  {site: drip("", "HTTP/1.1 102 Processing\r\n\r\n")},
		"TLS":            {site: (*world).silent},
		"many redirects": {site: drip("", redirect("302", "/"))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.names["a.example"] = []string{public}
				site := func(conn net.Conn) { test.site(w, conn) }
				w.sites[public+":80"], w.sites[public+":443"] = site, site
				f := fetch.New(fetch.Options{
					Resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
						if test.resolve {
							return nil, hang(ctx)
						}
						return w.resolve(ctx, host)
					},
					Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
						if test.dial {
							return nil, hang(ctx)
						}
						return w.dial(ctx, to)
					},
				})
				url := "http://a.example"
				if name == "TLS" {
					url = "https://a.example"
				}
				begin := time.Now()
				_, err := get(f, url)
				wantRefused(t, err)
				if took := time.Since(begin); took > 30*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// The bubble does not end while a goroutine of it is left.
func TestFetch_LeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		w := newWorld()
		f := w.fetcher(fetchOptions)
		w.site("1.0.0.1:80", ok("x"))
		w.site("1.0.0.2:80", redirect("302", "http://1.0.0.1/"))
		w.site("1.0.0.3:80", "HTTP/1.1 500 Oops\r\nContent-Length: 1000\r\n\r\n")
		w.site("1.0.0.4:80", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\nunasked")
		for range 100 {
			for _, host := range []string{"1.0.0.1", "1.0.0.2", "1.0.0.3", "1.0.0.4", "1.0.0.5", "127.0.0.1"} {
				get(f, "http://"+host)
			}
		}
	})
}
