package golden_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The ordinary run repeats each kind of work a few times. What is promised is flat for
// two hours, under forty requests a second and a whole life of a project every ten seconds:
//
//	go test ./golden -run Trust_Soak -soak 2h -timeout 3h -v
var soak = flag.Duration("soak", 0, "how long TestTrust_Soak works on each database; 0: each kind of work a few times")

// Work of all kinds on one hub leaves neither goroutines, nor open files, nor memory behind.
func TestTrust_Soak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process uses is read from /proc")
	}
	for name, db := range map[string]database{"sqlite": sqlite, "postgres": postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSoaked(t, db)
			defer s.client.CloseIdleConnections()
			if *soak > 0 {
				s.long()
				return
			}
			s.some(20, 1)
			s.client.CloseIdleConnections()
			before := s.hub.gauges(t)
			s.some(200, 1)
			s.client.CloseIdleConnections()
			took := s.hub.awaitGauges(t, before, 10) // connections to the database, which are kept
			t.Logf("%d requests and %d projects; before: %v; %v after: %v", s.requests.Load(), s.projects, before,
				took.Round(time.Millisecond), s.hub.gauges(t))
		})
	}
}

// soaked is a hub with callers of all kinds.
type soaked struct {
	*world
	client   *http.Client
	requests atomic.Int64
	projects int // whose whole life is over
}

func newSoaked(t *testing.T, db database) *soaked {
	s := &soaked{world: newLocalOn(t, db, `{"n": 0, "basePath": "src"}`, withGauges...)}
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	s.write("src/index.html", "<p>")
	s.must("project", "create", "web", "--visibility", "public")
	s.must("push", "web", "--base-files", "--force")
	return s
}

// some does n requests of each of four callers at once, and so many lives of a project.
func (s *soaked) some(n, lives int) {
	var callers sync.WaitGroup
	for i := range 4 {
		callers.Go(func() {
			for j := range n / 4 {
				s.request(i + 4*j)
			}
		})
	}
	for range lives {
		s.life()
	}
	callers.Wait()
}

// long works at a moderate rate, and compares what the hub uses soon after the beginning
// and at the end.
func (s *soaked) long() {
	ctx, stop := context.WithTimeout(s.t.Context(), *soak)
	defer stop()
	var callers sync.WaitGroup
	defer callers.Wait()
	every := func(pause time.Duration, work func(i int)) {
		callers.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for i := 0; ; i++ {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					work(i)
				}
			}
		})
	}
	for i := range 4 {
		every(100*time.Millisecond, func(j int) { s.request(i + 4*j) })
	}
	for range 8 { // that stay open
		callers.Go(func() { s.watch(ctx, func(string) bool { return false }) })
	}
	every(10*time.Second, func(int) { s.life() })
	var samples []gauges
	callers.Go(func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				s.judge(samples)
				return
			case <-tick.C:
				samples = append(samples, s.hub.gauges(s.t))
				if len(samples)%6 == 0 {
					s.t.Logf("%v: %v", time.Duration(len(samples))*10*time.Second, samples[len(samples)-1])
				}
			}
		}
	})
}

// judge compares the fifth and the last tenth of the samples: in two hours, SQLite's caches are
// full after 48 minutes. Of the live heap, to which requests in progress add, the lowest sample
// of a tenth counts, of the others the median.
func (s *soaked) judge(samples []gauges) {
	s.t.Logf("%d requests and %d lives of a project in %v", s.requests.Load(), s.projects, *soak)
	if len(samples) < 20 {
		s.t.Errorf("too few samples: %d", len(samples))
		return
	}
	for _, of := range []struct {
		name  string
		part  int // 2: the median counts; as many as there are samples: the lowest
		value func(gauges) float64
	}{
		{"goroutines", 2, func(g gauges) float64 { return float64(g.goroutines) }},
		{"descriptors", 2, func(g gauges) float64 { return float64(g.descriptors) }},
		{"MiB resident", 2, func(g gauges) float64 { return g.resident }},
		{"MiB of live heap", len(samples), func(g gauges) float64 { return g.heap }},
	} {
		var tenths []float64
		for i := range 10 {
			var part []float64
			for _, g := range samples[len(samples)*i/10 : len(samples)*(i+1)/10] {
				part = append(part, of.value(g))
			}
			slices.Sort(part)
			tenths = append(tenths, part[len(part)/of.part])
		}
		s.t.Logf("by tenths: %s %.1f", of.name, tenths)
		if grown := tenths[9]/tenths[4] - 1; grown > 0.05 {
			s.t.Errorf("%s grew by %.1f %%", of.name, 100*grown)
		}
	}
}

// request is one request of a mix, chosen by i.
func (s *soaked) request(i int) {
	const project = aliceWeb
	switch i % 20 {
	case 0:
		s.watch(s.t.Context(), func(line string) bool { return strings.HasPrefix(line, "data: ") })
	case 1:
		s.visit()
	case 2, 3:
		s.call("PATCH", project+"/config", fmt.Sprintf(`{"set": {"n": %d}}`, rand.IntN(1000)), http.StatusOK)
	case 4:
		s.call("PUT", project+"/client-config", fmt.Sprintf(`{"settings": {"basePath": "src", "n": %d}}`, rand.IntN(1000)),
			http.StatusOK)
	case 5:
		s.call("GET", "/@alice/web", "", http.StatusOK)
	case 6:
		s.call("GET", project+"/preview/base-files/archive", "", http.StatusOK)
	case 7:
		s.call("POST", project+"/preview/base-files/plan", "{", http.StatusBadRequest)
	case 8:
		s.call("GET", "/v1/projects/alice/none", "", http.StatusNotFound)
	case 9:
		s.call("GET", project+"/config/history", "", http.StatusOK)
	default:
		s.call("GET", project+"/config", "", http.StatusOK)
	}
}

// call makes a request that has to be answered with a status.
func (s *soaked) call(method, path, body string, status int) {
	req, err := http.NewRequest(method, s.hub.origin+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + s.token, "Content-Type": "application/json",
		"If-Match": "*"} {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
		return
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != status {
		s.t.Errorf("%s %s: %s %v %.300s", method, path, resp.Status, err, text)
	}
	s.requests.Add(1)
}

// visit signs in as a browser does, looks at a page, and signs out.
func (s *soaked) visit() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	browser := &http.Client{Jar: jar, Transport: s.client.Transport}
	for _, form := range []struct {
		path   string
		fields url.Values
	}{{"/sign-in", url.Values{"token": {s.token}, "to": {"/@alice/web/files"}}}, {"/sign-out", url.Values{}}} {
		req, err := http.NewRequest("POST", s.hub.origin+form.path, strings.NewReader(form.fields.Encode()))
		if err != nil {
			s.t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := browser.Do(req)
		if err != nil {
			s.t.Errorf("%s: %v", form.path, err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			s.t.Errorf("%s: %s", form.path, resp.Status)
		}
		s.requests.Add(2) // and the page to which it leads
	}
}

// watch reads a stream of events until a line is the last one, or ctx ends.
func (s *soaked) watch(ctx context.Context, last func(line string) bool) {
	req, err := http.NewRequestWithContext(ctx, "GET", s.hub.origin+aliceWeb+"/events", nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			s.t.Errorf("events: %v", err)
		}
		return
	}
	defer resp.Body.Close()
	s.requests.Add(1)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if last(lines.Text()) {
			return
		}
	}
	if ctx.Err() == nil {
		s.t.Errorf("the events ended: %s", resp.Status)
	}
}

// life is all that happens to a project: its owner logs in and publishes a stack, creates the
// project from it, pushes and pulls settings and files, and deletes it.
func (s *soaked) life() {
	s.projects++
	n, slug := s.projects, fmt.Sprintf("p%d", s.projects)
	s.write(".tool/web/stack.json", fmt.Sprintf(`{"name": "@alice/s%d", "version": "1.0.%d"}`, n/20, n%20))
	s.write("src/index.html", fmt.Sprint("<p>", n))
	for _, line := range []string{
		"login --origin " + s.origin + " --token " + s.token, "publish web", "project create SLUG --from web --no-input",
		"push web --project @alice/SLUG --base-files --force --no-record",
		"pull web --project @alice/SLUG --base-files --force", "status web", "project rm @alice/SLUG --force",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "SLUG", slug))
		if out, err := s.command(args...).CombinedOutput(); err != nil {
			s.t.Errorf("tool %s: %v\n%s", args[0], err, out)
		}
	}
}
