package golden_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A network that delays, cuts, resets and goes silent lets a push succeed or makes it end with one clear
// error. Once the network is well, the same push succeeds, and nothing is stored in part or twice.
func TestTrust_PushThroughFaultyNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"basePath": "src", "n": 0}`)
	network := newFaultyNetwork(t, w.hub.listen)
	w.origin = "http://" + network.listen
	w.must("login", "--origin", w.origin, "--token", w.token, "--workspace")
	former, config, failed := w.holds(), 0, 0
	for i := range rounds(4, 500) {
		n := i + 1
		want := w.scatter(6, 40<<10)
		w.setting(fmt.Sprintf(`{"basePath": "src", "n": %d}`, n))
		toxic := network.fail(i)
		var stdout, stderr bytes.Buffer
		c := w.command("push", "web", "--base-files", "--force", "--no-input", "--timeout", "1500ms")
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		network.heal()
		switch now, number := w.archived(), w.number(); {
		case err == nil && (!same(now, want) || number != n):
			t.Fatalf("%s: a push that was acknowledged is not stored", toxic)
		case !same(now, want) && !same(now, former) || number != n && number != config:
			t.Fatalf("%s: a push is stored in part", toxic)
		}
		if err != nil {
			failed++
			text := "\n" + stderr.String() // warnings about attempts, then the error
			if codeOf(t, err) != 1 || stdout.Len() > 0 ||
				strings.Count(text, "\nerror: push web to @alice/web: ")+strings.Count(text, "error:") != 2 || len(text) > 2000 {
				t.Errorf("%s: %v, stdout %q, stderr %q", toxic, err, &stdout, text)
			}
			w.must("push", "web", "--base-files", "--force", "--no-input")
		}
		if now, number := w.archived(), w.number(); !same(now, want) || number != n {
			t.Fatalf("%s: after another push, the set is %d files and n is %d", toxic, len(now), number)
		}
		former, config = want, n
	}
	configs, sets := w.history("/config/history", "revision"), w.history("/preview/base-files/history", "tree")
	t.Logf("%d pushes, %d of them failed with one error and succeeded later; %d configs and %d sets, none twice", config,
		failed, configs, sets)
	w.hub.admin(t, "fsck")
}

// history counts what a project's history names by a member, each of which has to be there once.
func (w *world) history(path, member string) int {
	w.t.Helper()
	seen := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Entries    []map[string]any
			NextCursor string
		}
		if err := json.Unmarshal([]byte(w.get(aliceWeb+path+"?limit=100&cursor="+url.QueryEscape(cursor))),
			&page); err != nil {
			w.t.Fatal(err)
		}
		for _, e := range page.Entries {
			name, _ := e[member].(string)
			if name == "" || seen[name] {
				w.t.Errorf("%s has %q twice, or without a name", path, name)
			}
			seen[name] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			return len(seen)
		}
	}
}

// toxics are what toxiproxy does to connections: kinds with their attributes, each at random up to a number.
var toxics = []struct {
	kind, stream string
	most         map[string]int
}{
	{"latency", "downstream", map[string]int{"latency": 300, "jitter": 100}}, // milliseconds
	{"reset_peer", "upstream", map[string]int{"timeout": 30}},
	{"limit_data", "upstream", map[string]int{"bytes": 300 << 10}},
	{"timeout", "downstream", map[string]int{"timeout": 3000}},
	{"slicer", "upstream", map[string]int{"average_size": 2000, "size_variation": 1, "delay": 300}}, // microseconds
	{"limit_data", "downstream", map[string]int{"bytes": 3000}},
	{"reset_peer", "downstream", map[string]int{"timeout": 100}},
}

// faultyNetwork is a toxiproxy in front of a hub.
type faultyNetwork struct {
	t      *testing.T
	api    string
	listen string
}

func newFaultyNetwork(t *testing.T, upstream string) *faultyNetwork {
	t.Helper()
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	c := exec.Command(need(t, "toxiproxy-server",
		"go -C .ci/toxiproxy build -o DIR/toxiproxy-server github.com/Shopify/toxiproxy/v2/cmd/server"), "-port", port)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	f := &faultyNetwork{t: t, api: "http://" + address}
	awaitAnswer(t, f.api+"/version")
	var proxy struct{ Listen string }
	f.call("POST", "/proxies", map[string]any{"name": "hub", "listen": "127.0.0.1:0", "upstream": upstream,
		"enabled": true}, &proxy)
	f.listen = proxy.Listen
	return f
}

// fail makes the network fail in the way number i, and describes it.
func (f *faultyNetwork) fail(i int) string {
	toxic := toxics[i%len(toxics)]
	attributes := map[string]int{}
	for name, most := range toxic.most {
		attributes[name] = 1 + rand.IntN(most)
	}
	probability := []float64{1, 0.5}[i/len(toxics)%2] // of a connection
	f.call("POST", "/proxies/hub/toxics",
		map[string]any{"name": "toxic", "type": toxic.kind, "stream": toxic.stream, "toxicity": probability,
			"attributes": attributes}, nil)
	return fmt.Sprintf("%s %s %v for %.0f %% of connections", toxic.kind, toxic.stream, attributes, 100*probability)
}

func (f *faultyNetwork) heal() { f.call("POST", "/reset", nil, nil) }

func (f *faultyNetwork) call(method, path string, body, answer any) {
	f.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	req, err := http.NewRequest(method, f.api+path, bytes.NewReader(text))
	if err != nil {
		f.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err = io.ReadAll(resp.Body); err != nil || !slices.Contains([]int{200, 201, 204}, resp.StatusCode) {
		f.t.Fatalf("toxiproxy: %s %s: %s %s %v", method, path, resp.Status, text, err)
	}
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			f.t.Fatal(err)
		}
	}
}
