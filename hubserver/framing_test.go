package hubserver_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
)

// write sends bytes as they are.
func (l *line) write(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l, text); err != nil {
		l.t.Fatal(err)
	}
}

// refused reads a problem of the connection itself, and the end of the connection.
func (l *line) refused(status int, code wire.Code) wire.Problem {
	l.t.Helper()
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	a := &answer{t: l.t, call: "raw", status: resp.StatusCode, header: resp.Header, closes: resp.Close, body: body}
	p := a.problem(status, code)
	if id := resp.Header.Get("X-Request-Id"); id == "" || id != p.RequestID || p.Status != status || p.Detail == "" {
		l.t.Errorf("X-Request-Id %q of %s", id, body)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" || resp.Header.Get("Hub-Version") != hubVersion || !resp.Close {
		l.t.Errorf("Content-Type %q, Hub-Version %q, closes: %v", got, resp.Header.Get("Hub-Version"), resp.Close)
	}
	l.closed()
	return p
}

// malformed are requests that a hub refuses, each with its status and a word of the detail.
var malformed = map[string]struct {
	request string
	status  int
	code    wire.Code
	detail  string
}{
	"bare LF after the request line":  {"GET /healthz HTTP/1.1\nHost: a\r\n\r\n", 400, wire.CodeMalformedRequest, "LF"},
	"bare LF after a header":          {"GET /healthz HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400, wire.CodeMalformedRequest, "LF"},
	"bare LF at the end of the head":  {"GET /healthz HTTP/1.1\r\nHost: a\r\n\n", 400, wire.CodeMalformedRequest, "LF"},
	"bare LF everywhere":              {"GET /healthz HTTP/1.1\nHost: a\n\n", 400, wire.CodeMalformedRequest, "LF"},
	"bare LF in the first bytes":      {"GE\n/healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"two bare LF in the first bytes":  {"GE\n\n\n\n", 400, wire.CodeMalformedRequest, ""},
	"bare CR":                         {"GET /healthz HTTP/1.1\r\nX: a\rb\r\nHost: a\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"folded header":                   {"GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", 400, wire.CodeMalformedRequest, "continued"},
	"header folded with a tab":        {"GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\r\n\tz\r\n\r\n", 400, wire.CodeMalformedRequest, "continued"},
	"folded Transfer-Encoding":        {"POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400, wire.CodeMalformedRequest, "continued"},
	"fold before the first header":    {"GET /healthz HTTP/1.1\r\n Host: a\r\n\r\n", 400, wire.CodeMalformedRequest, "continued"},
	"line of spaces":                  {"GET /healthz HTTP/1.1\r\nHost: a\r\n  \r\n\r\n", 400, wire.CodeMalformedRequest, "continued"},
	"length, then chunks":             {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, wire.CodeMalformedRequest, "both"},
	"chunks, then length":             {"POST /healthz HTTP/1.1\r\nHost: a\r\ntransfer-encoding: CHUNKED\r\ncontent-length:0\r\n\r\n0\r\n\r\n", 400, wire.CodeMalformedRequest, "both"},
	"length and another coding":       {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello", 400, wire.CodeMalformedRequest, "both"},
	"two lengths":                     {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400, wire.CodeMalformedRequest, "both"},
	"list of lengths":                 {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello", 400, wire.CodeMalformedRequest, "number"},
	"signed length":                   {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello", 400, wire.CodeMalformedRequest, "number"},
	"negative length":                 {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello", 400, wire.CodeMalformedRequest, "number"},
	"empty length":                    {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400, wire.CodeMalformedRequest, "number"},
	"endless length":                  {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400, wire.CodeMalformedRequest, "number"},
	"length after many spaces":        {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length:" + strings.Repeat(" ", 100) + "5\r\n\r\nhello", 400, wire.CodeMalformedRequest, "too long"},
	"chunks in HTTP/1.0":              {"POST /healthz HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, wire.CodeMalformedRequest, "HTTP/1.1"},
	"NUL in a value":                  {"GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"NUL in a name":                   {"GET /healthz HTTP/1.1\r\nHost: a\r\nX\x00: a\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"NUL in the path":                 {"GET /healthz\x00 HTTP/1.1\r\nHost: a\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"NUL in the method":               {"G\x00T /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"space before the colon":          {"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello", 400, wire.CodeMalformedRequest, ""},
	"no Host":                         {"GET /healthz HTTP/1.1\r\n\r\n", 400, wire.CodeMalformedRequest, "Host"},
	"two Hosts":                       {"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"no HTTP":                         {"hello, world\r\n\r\n", 400, wire.CodeMalformedRequest, ""},
	"another expectation":             {"GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: money\r\n\r\n", 417, wire.CodeMalformedRequest, "100-continue"},
	"large header":                    {"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431, wire.CodeTooLarge, "headers"},
	"another coding":                  {"POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, wire.CodeMalformedRequest, "chunked"},
	"two codings":                     {"POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, wire.CodeMalformedRequest, "chunked"},
	"chunked twice":                   {"POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501, wire.CodeMalformedRequest, "chunked"},
	"another version":                 {"GET /healthz HTTP/3.0\r\nHost: a\r\n\r\n", 505, wire.CodeMalformedRequest, "version"},
	"smuggled request after a length": {"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n\r\n", 400, wire.CodeMalformedRequest, "both"},
}

func TestConnection_RefusesMalformedRequests(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	get := "GET " + config + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + hub.as("alice").token + "\r\n\r\n"
	put := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"settings\": {}}", clientCfg, hub.as("alice").token)
	chunked := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n6;x=y\r\n{\"sett\r\na \r\nings\": {}}\r\n0\r\nT: u\r\n\r\n", clientCfg, hub.as("alice").token)
	for name, c := range malformed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(l *line) {
				t.Helper()
				l.t = t
				if p := l.refused(c.status, c.code); !strings.Contains(p.Detail, c.detail) {
					t.Errorf("detail %q", p.Detail)
				}
			}
			ok := func(l *line) {
				t.Helper()
				resp, err := http.ReadResponse(l.in, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
					t.Fatalf("status %d, %v", resp.StatusCode, err)
				}
			}
			l := hub.dial()
			l.write(c.request)
			check(l)
			for _, first := range []string{get, put, chunked} {
				l := hub.dial() // kept alive
				l.write(first)
				ok(l)
				l.write(c.request)
				check(l)

				l = hub.dial() // pipelined
				l.write(first + first + c.request)
				ok(l)
				ok(l)
				check(l)
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
		"bare LF at the end":            "10\r\n" + body + "\r\n0\r\n\n",
		"bare LF after a trailer":       "10\r\n" + body + "\r\n0\r\nX: y\n\r\n",
		"bare LF in an extension":       "10;a\nb\r\n" + body + "\r\n0\r\n\r\n",
		"folded trailer":                "10\r\n" + body + "\r\n0\r\nX: y\r\n z\r\n\r\n",
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
			l.write(fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%sGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
				clientCfg, hub.as("alice").token, chunks))
			if p := l.refused(400, wire.CodeInvalidBody); !strings.Contains(p.Detail, "the body is malformed: ") {
				t.Errorf("detail %q", p.Detail)
			}
		})
	}
}

func TestConnection_RefusesHeadWithoutBody(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	get := "GET " + config + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + hub.as("alice").token + "\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"another expectation": {"HEAD /healthz HTTP/1.1\r\nHost: a\r\nExpect: money\r\n\r\n", 417},
		"no Host":             {"HEAD /healthz HTTP/1.1\r\n\r\n", 400},
		"bare LF":             {"HEAD /healthz HTTP/1.1\nHost: a\r\n\r\n", 400},
		"long line":           {"HEAD /" + strings.Repeat("x", 80<<10) + " HTTP/1.1\r\n\r\n", 431},
	} {
		for _, more := range []struct {
			first int // requests that come before it
			then  string
		}{{0, ""}, {0, get}, {2, get}} {
			t.Run(fmt.Sprintf("%s after %d", name, more.first), func(t *testing.T) {
				l := hub.dial()
				l.t = t
				l.write(strings.Repeat(get, more.first) + c.request + more.then)
				for range more.first {
					resp, err := http.ReadResponse(l.in, nil)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						t.Fatal(err)
					}
				}
				resp, err := http.ReadResponse(l.in, &http.Request{Method: http.MethodHead})
				if err != nil || resp.StatusCode != c.status || resp.ContentLength <= 0 {
					t.Fatalf("%v, %v; want status %d with the length of its problem", resp, err, c.status)
				}
				l.closed()
			})
		}
	}
	l := hub.dial() // a HEAD that is answered is not taken for the request after it
	l.write("HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := http.ReadResponse(l.in, &http.Request{Method: http.MethodHead}); err != nil {
		t.Fatal(err)
	}
	l.write("GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: money\r\n\r\n")
	l.refused(417, wire.CodeMalformedRequest)
}

// A request that was read whole is answered although what follows it is malformed.
func TestConnection_AnswersBeforeMalformedRequest(t *testing.T) {
	g := newGate(t)
	hub := one(t, importer(g.Server))
	l := hub.dial()
	body := `{"account": "alice", "url": "` + g.URL + `"}`
	l.write(fmt.Sprintf("POST /v1/apis/import HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		hub.as("alice").token, len(body), body))
	<-g.entered
	l.write("GET /healthz HTTP/1.1\nHost: a\r\n\r\n")
	l.write(strings.Repeat("x", 10<<10))
	close(g.leave)
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 201 {
		t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	l.refused(400, wire.CodeMalformedRequest)
}

// A response may hold text that looks like the beginning of another one.
func TestConnection_LeavesResponsesAlone(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	content := strings.Repeat("HTTP/1.1 400 Bad Request\r\n\r\n", 10_000)
	hub.as("alice").put(baseFiles, archive(t, file{name: "a", content: content})).want(200)
	for range 3 {
		got := hub.as("alice").get(baseFiles + "/archive").want(200)
		if !bytes.Contains(got.body, []byte(content)) {
			t.Error("the archive does not hold the file as it was pushed")
		}
	}
}

// requests writes n valid requests, and returns where each of them begins.
func requests(r *rand.Rand, n int) (text string, starts []int) {
	var b strings.Builder
	for range n {
		starts = append(starts, b.Len())
		body := strings.Repeat([]string{"x", "\n", "\r\n", "GET / HTTP/1.1\n", "\x00", "0\r\n\r\n"}[r.IntN(6)], r.IntN(50))
		fmt.Fprintf(&b, "%s /%d HTTP/1.1\r\nHost: a\r\n", []string{"GET", "POST", "HEAD", "DELETE"}[r.IntN(4)], r.IntN(100))
		for range r.IntN(4) {
			fmt.Fprintf(&b, "X-%d:%s%s\r\n", r.IntN(9), strings.Repeat(" ", r.IntN(3)), strings.Repeat("v", r.IntN(200)))
		}
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "%s:%s%d\r\n\r\n%s", []string{"Content-Length", "content-length"}[r.IntN(2)], strings.Repeat(" ", r.IntN(3)), len(body), body)
		case 1:
			b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
			for len(body) > 0 {
				k := 1 + r.IntN(len(body))
				fmt.Fprintf(&b, "%0*x%s\r\n%s\r\n", r.IntN(4), k, []string{"", ";a", ";a=\"b\"", " "}[r.IntN(4)], body[:k])
				body = body[k:]
			}
			fmt.Fprintf(&b, "0\r\n%s\r\n", []string{"", "T: u\r\n", "T: u\r\nV: w\r\n"}[r.IntN(3)])
		default:
			b.WriteString("\r\n")
		}
	}
	return b.String(), starts
}

// scan follows text, which comes in parts of random sizes.
func scan(r *rand.Rand, text string) error {
	f := hubserver.NewFraming()
	for len(text) > 0 {
		n := 1 + r.IntN(len(text))
		if _, err := f.Scan([]byte(text[:n])); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// begins follows text byte by byte, and returns where requests begin.
func begins(text string) (starts []int, err error) {
	f := hubserver.NewFraming()
	for i := range len(text) {
		between := f.Between()
		if _, err := f.Scan([]byte{text[i]}); err != nil {
			return starts, err
		}
		if between && !f.Between() {
			starts = append(starts, i)
		}
	}
	return starts, nil
}

// parsed returns where net/http sees requests begin, and whether it refuses one.
func parsed(text string) (starts []int, err error) {
	source := strings.NewReader(text)
	in := bufio.NewReader(source)
	post := false
	for {
		if post { // as http.Server does
			peeked, _ := in.Peek(4)
			in.Discard(len(peeked) - len(bytes.TrimLeft(peeked, "\r\n")))
		}
		at := len(text) - source.Len() - in.Buffered()
		if _, err := in.Peek(1); err != nil {
			return starts, nil
		}
		req, err := http.ReadRequest(in)
		if err != nil {
			return starts, err
		}
		starts = append(starts, at)
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return starts, err
		}
		post = req.Method == "POST"
	}
}

func TestFraming_AcceptsValidRequests(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		text, want := requests(r, 1+r.IntN(6))
		if err := scan(r, text); err != nil {
			t.Fatalf("seed %d: %v\n%q", seed, err, text)
		}
		got, err := begins(text)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: requests at %v, want %v, %v\n%q", seed, got, want, err, text)
		}
		if theirs, err := parsed(text); err != nil || fmt.Sprint(theirs) != fmt.Sprint(want) {
			t.Fatalf("seed %d: net/http sees requests at %v, want %v, %v\n%q", seed, theirs, want, err, text)
		}
	}
}

// FuzzFraming checks that what framing and net/http both accept means the same to both.
func FuzzFraming(f *testing.F) {
	for _, c := range malformed {
		f.Add(c.request)
	}
	for seed := range uint64(20) {
		text, _ := requests(rand.New(rand.NewPCG(seed, 2)), 3)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ours, refused := begins(text)
		whole := hubserver.NewFraming()
		if _, err := whole.Scan([]byte(text)); !errors.Is(err, refused) {
			t.Fatalf("byte by byte %v, at once %v", refused, err)
		}
		theirs, err := parsed(text)
		if len(theirs) > len(ours) && refused == nil {
			t.Fatalf("net/http sees requests at %v, framing at %v", theirs, ours)
		}
		for i := range min(len(ours), len(theirs)) {
			if ours[i] != theirs[i] {
				t.Fatalf("net/http sees requests at %v, framing at %v", theirs, ours)
			}
		}
		if refused == nil && err == nil && len(ours) != len(theirs) {
			t.Fatalf("net/http sees requests at %v, framing at %v", theirs, ours)
		}
	})
}
