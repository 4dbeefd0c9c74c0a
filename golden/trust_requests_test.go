package golden_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var mutations = flag.Int("mutations", 0,
	"how many requests TestTrust_MutatedRequests sends at least: a million take eight minutes")

// Requests of every kind, with bytes changed, removed, doubled and moved, make a hub neither fail
// nor end. A failure names the request.
func TestTrust_MutatedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"a": {"b": [1, "x"]}}`)
	w.write("index.html", "<p>")
	w.must("push", "web", "--base-files", "--force")
	samples := w.requests()
	m := &mutator{world: w, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), statuses: map[int]int{}}
	for range max(*mutations, rounds(4_000, 1_000_000)) {
		m.send(m.mutate(samples[m.random.IntN(len(samples))]))
	}
	m.close()
	w.must("push", "web", "--base-files", "--force")
	log := w.hub.log.String()
	for _, at := range regexp.MustCompile(`msg="?(http: )?panic|\npanic: |\ngoroutine \d`).FindAllStringIndex(log, 3) {
		t.Errorf("the hub panicked: %.4000s", log[strings.LastIndexByte(log[:at[0]], '\n')+1:])
	}
	t.Logf("statuses of the responses, 0 for none: %v", m.statuses)
}

// requests are sound requests, as they go through a connection.
func (w *world) requests() (all [][]byte) {
	w.t.Helper()
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/v1/whoami", ""}, {"GET", "/v1/projects?account=alice&limit=2", ""}, {"GET", aliceWeb, ""},
		{"HEAD", aliceWeb + "/config", ""}, {"GET", aliceWeb + "/config/history?limit=3", ""},
		{"GET", aliceWeb + "/preview/base-files/archive", ""}, {"GET", "/v1/stacks/alice/web/versions/1.0.0/bundle", ""},
		{"GET", "/@alice/web/history", ""}, {"GET", "/static/style.css", ""}, {"GET", "/v1/openapi.json", ""},
		{"PATCH", aliceWeb + "/config", `{"set": {"a.b": [1, {"c": null}]}, "remove": ["x"]}`},
		{"PUT", aliceWeb + "/client-config", `{"settings": {"a": {"b": 1e3, "c\\": "é"}}}`},
		{"POST", "/v1/projects",
			`{"account": "alice", "slug": "x", "stack": "alice/web", "stackVersion": "latest", "api": {"account": "alice", "slug": "pets"}, "visibility": "private"}`},
		{"POST", "/v1/apis/upload?account=alice&slug=pets",
			`{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200": {"description": "x"}}}}}}`},
		{"POST", aliceWeb + "/preview/base-files/plan", `{"tree": "` + strings.Repeat("0", 64) +
			`", "files": [{"path": "a", "mode": "0644", "size": 1, "sha256": "` + strings.Repeat("0", 64) + `"}]}`},
		{"PUT", aliceWeb + "/preview/base-files", "not an archive"},
		{"POST", "/v1/rate-limit?account=alice&botId=b", `{"minuteLimit": 5}`}, {"POST", "/v1/device", `{}`},
		{"POST", "/sign-in", "token=hubpat_x"},
	} {
		all = append(all, fmt.Appendf(nil,
			"%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nIf-Match: *\r\nContent-Length: %d\r\n\r\n%s",
			r.method, r.path, w.hub.listen, w.token, len(r.body), r.body))
	}
	return all
}

// mutator sends malformed requests, each through a connection of its own.
type mutator struct {
	*world
	random   *rand.Rand
	conn     net.Conn
	answers  *bufio.Reader
	statuses map[int]int
}

// odd are bytes that parsers tell apart.
var odd = []string{"\r\n", "\n", "\x00", "\xff", "%", "%2f", "../", "{", "]", "\"", "\\u0000", "1e999", "-", ":", ",",
	";", " ", "*", "Transfer-Encoding: chunked\r\n", "Content-Length: 9\r\n", "Content-Encoding: zstd\r\n",
	"If-None-Match: *\r\n", "\ufeff"}

func (m *mutator) mutate(request []byte) []byte {
	request = bytes.Clone(request)
	for range 1 + m.random.IntN(4) {
		at := m.random.IntN(len(request))
		end := min(len(request), at+1+m.random.IntN(8))
		switch m.random.IntN(5) {
		case 0:
			request[at] = byte(m.random.IntN(256))
		case 1:
			request = append(request[:at:at], request[end:]...)
		case 2:
			request = append(request[:end:end], request[at:]...)
		default:
			request = append(request[:at:at], append([]byte(odd[m.random.IntN(len(odd))]), request[at:]...)...)
		}
		if len(request) == 0 {
			return []byte{'\n'}
		}
	}
	return request
}

// send sends a request and reads the response, and fails the test if it blames the hub.
func (m *mutator) send(request []byte) {
	m.t.Helper()
	if m.conn == nil {
		conn, err := net.DialTimeout("tcp", m.hub.listen, 10*time.Second)
		if err != nil {
			m.t.Fatalf("the hub is gone: %v", err)
		}
		m.conn, m.answers = conn, bufio.NewReader(conn)
	}
	m.conn.Write(request)
	m.conn.(*net.TCPConn).CloseWrite() // a request that lacks its end gets a response, too
	resp, err := http.ReadResponse(m.answers, nil)
	if err != nil {
		m.statuses[0]++
	} else {
		m.statuses[resp.StatusCode]++
		gone := resp.StatusCode == http.StatusServiceUnavailable // the hub noticed that nothing more comes
		if resp.StatusCode >= 500 && !gone && resp.StatusCode != http.StatusNotImplemented &&
			resp.StatusCode != http.StatusHTTPVersionNotSupported {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
			m.t.Errorf("%q is answered by %s: %s", request, resp.Status, body)
		}
	}
	m.close()
}

func (m *mutator) close() {
	if m.conn != nil {
		m.conn.Close()
		m.conn = nil
	}
}

// A token is shown once: neither the database nor a backup has it.
func TestTrust_DatabaseHoldsNoToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startHub(t, sqlite(t, dir))
	h.admin(t, "account", "create", "alice")
	var tokens []string
	for range rounds(10, 1000) {
		tokens = append(tokens, h.token(t, "alice"))
	}
	h.admin(t, "backup", filepath.Join(dir, "backup"))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range tokens {
			if secret, _ := strings.CutPrefix(token, "hubpat_"); bytes.Contains(text, []byte(secret[:12])) {
				t.Fatalf("%s has a token", filepath.Base(file))
			}
		}
	}
	t.Logf("%d tokens, none in %d files", len(tokens), len(files))
}
