package hubserver_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
)

// write sends bytes as they are.
func (l *line) write(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		l.t.Fatal(err)
	}
}

// responses reads responses until the hub closes the connection, and returns their statuses.
func (l *line) responses() (statuses []int) {
	l.t.Helper()
	for {
		resp, err := http.ReadResponse(l.in, nil)
		if err != nil {
			return statuses
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			l.t.Fatal(err)
		}
		statuses = append(statuses, resp.StatusCode)
	}
}

// chunked is the header of a body in chunks.
const chunked = "Transfer-Encoding: chunked\r\n"

// ambiguous are the first lines and headers of requests whose end a proxy in front of the hub
// may see elsewhere, each with the status of the only response.
var ambiguous = map[string]struct {
	head   string
	status int
}{
	"length, then chunks":     {"POST /healthz HTTP/1.1\r\nContent-Length: 40\r\n" + chunked, 405},
	"chunks, then length":     {"POST /healthz HTTP/1.1\r\ntransfer-encoding: CHUNKED\r\ncontent-length:0\r\n", 405},
	"chunks, kept alive":      {"POST /healthz HTTP/1.1\r\n" + chunked + "Connection: keep-alive\r\n", 405},
	"chunks of a GET":         {"GET /healthz HTTP/1.1\r\n" + chunked, 200},
	"folded chunks":           {"POST /healthz HTTP/1.1\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n", 405},
	"chunks behind a bare LF": {"POST /healthz HTTP/1.1\r\nX: y\n" + chunked + "Content-Length: 5\r\n", 405},
	"space before the colon":  {"POST /healthz HTTP/1.1\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n", 400},
	"another coding":          {"POST /healthz HTTP/1.1\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n", 501},
	"two codings": {"POST /healthz HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n",
		501},
	"chunked twice":      {"POST /healthz HTTP/1.1\r\n" + chunked + chunked, 501},
	"two lengths":        {"POST /healthz HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n", 400},
	"list of lengths":    {"POST /healthz HTTP/1.1\r\nContent-Length: 5, 6\r\n", 400},
	"signed length":      {"POST /healthz HTTP/1.1\r\nContent-Length: +5\r\n", 400},
	"chunks in HTTP/1.0": {"POST /healthz HTTP/1.0\r\n" + chunked + "Connection: keep-alive\r\n", 405},
	"both in HTTP/1.0": {"POST /healthz HTTP/1.0\r\nContent-Length: 5\r\n" + chunked +
		"Connection: keep-alive\r\n", 405},
	"chunks that are awaited": {"POST /healthz HTTP/1.1\r\nContent-Length: 5\r\n" + chunked + "Expect: 100-continue\r\n",
		405},
	"chunks that are refused":  {"PUT " + clientCfg + " HTTP/1.1\r\nContent-Length: 5\r\n" + chunked, 401},
	"chunks for no route":      {"POST /nothing HTTP/1.1\r\nContent-Length: 5\r\n" + chunked, 404},
	"chunks for the next host": {"POST http://a/healthz HTTP/1.1\r\nContent-Length: 5\r\n" + chunked, 405},
}

const smuggled = "Host: a\r\n\r\n0\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"

func TestConnection_HandlesNoSmuggledRequest(t *testing.T) {
	hub := one(t, nil)
	for name, c := range ambiguous {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := hub.dial()
			l.t = t
			l.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + c.head + smuggled)
			if got := l.responses(); !slices.Equal(got, []int{200, c.status}) {
				t.Errorf("the statuses are %v, want 200 and %d", got, c.status)
			}
		})
	}
}

func TestConnection_RefusesMalformedChunks(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	const body = `{"settings": {}}`
	for name, chunks := range map[string]string{
		"bare LF after a size":          "10\n" + body + "\r\n0\r\n\r\n",
		"bare LF after a chunk":         "10\r\n" + body + "\n0\r\n\r\n",
		"bare LF after the last size":   "10\r\n" + body + "\r\n0\n\r\n",
		"bare LF in an extension":       "10;a\nb\r\n" + body + "\r\n0\r\n\r\n",
		"chunk longer than its size":    "10\r\n" + body + "x\r\n0\r\n\r\n",
		"size that is not hexadecimal":  "1g\r\n" + body + "\r\n0\r\n\r\n",
		"size with a prefix":            "0x10\r\n" + body + "\r\n0\r\n\r\n",
		"signed size":                   "+10\r\n" + body + "\r\n0\r\n\r\n",
		"size that is too large":        "10000000000000010\r\n" + body + "\r\n0\r\n\r\n",
		"NUL in a size":                 "1\x000\r\n" + body + "\r\n0\r\n\r\n",
		"bare CR in a size":             "10\r;\r\n" + body + "\r\n0\r\n\r\n",
		"no size":                       "\r\n" + body + "\r\n0\r\n\r\n",
		"size with an underscore in it": "1_0\r\n" + body + "\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := hub.dial()
			l.t = t
			l.send("PUT " + clientCfg + " HTTP/1.1\nAuthorization: Bearer " + hub.as("alice").token +
				"\nContent-Type: application/json\nTransfer-Encoding: chunked")
			l.write(chunks + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
			a := l.answer()
			if p := a.problem(400, wire.CodeInvalidBody); !strings.Contains(p.Detail, "the body is malformed: ") {
				t.Errorf("detail %q", p.Detail)
			}
			l.closed()
		})
	}
}

func TestConnection_LimitsHeads(t *testing.T) {
	hub := one(t, nil)
	for name, c := range map[string]struct {
		headers string
		status  int
	}{
		"15 KiB":        {"X: " + strings.Repeat("x", 15<<10) + "\r\n", 200},
		"24 KiB":        {"X: " + strings.Repeat("x", 24<<10) + "\r\n", 431},
		"100 fields":    {strings.Repeat("A:\r\n", 100), 200}, // Host is not one of them
		"101 fields":    {strings.Repeat("A:\r\n", 101), 431},
		"4,000 fields":  {strings.Repeat("A:\r\n", 4000), 431},
		"10,700 fields": {strings.Repeat("A:\r\n", 10_700), 431},
	} {
		l := hub.dial()
		// The hub may close the connection before all is written.
		_, _ = io.WriteString(l, "GET /healthz HTTP/1.1\r\nHost: a\r\n"+c.headers+"\r\n")
		resp, err := http.ReadResponse(l.in, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != c.status || resp.Close != (c.status == 431) {
			t.Errorf("%s: status %d, want %d, closes: %t, %v", name, resp.StatusCode, c.status, resp.Close, err)
		}
		if name == "101 fields" && !strings.Contains(string(body), "101 header fields") {
			t.Errorf("the problem is %s", body)
		}
	}
}

func TestHTTP2_LimitsFields(t *testing.T) {
	hub := secureHub(t, "h2")
	for n, want := range map[int]int{50: 200, 101: 431, 400: 431} {
		resp, err := hub.client.Transport.(*recorder).next.RoundTrip(&http.Request{
			Method: "GET", URL: mustParse(t, hub.url+"/healthz"), Header: http.Header{"A": make([]string, n)},
		})
		if err != nil {
			t.Fatalf("%d fields: %v", n, err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || resp.ProtoMajor != 2 {
			t.Errorf("%d fields: status %d, want %d", n, resp.StatusCode, want)
		}
	}
}
