package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// windows asks for the test that takes minutes.
var windows = flag.Int("windows", 0, "whole minutes for which TestReplicas_AdmitTheLimitInEachWindow runs")

// replicas are hub processes on one database, with a token that may take.
type replicas struct {
	*testing.T
	address string
	token   string
	bases   []string
	client  *http.Client
	running []*process
}

// startReplicas builds the hub and starts n of them on PostgreSQL, with the bot crawler,
// which has these limits.
func startReplicas(t *testing.T, n int, limits store.Limits) *replicas {
	t.Helper()
	r := &replicas{T: t, address: storetest.Postgres(t), token: pat.New()}
	s := storetest.Open(t, r.address)
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.CreateAccount("alice", store.KindUser); err != nil {
			return err
		}
		alice, err := tx.Account("alice")
		if err != nil {
			return err
		}
		if err := tx.AddBot(&store.Bot{AccountID: alice.ID, BotID: "crawler", Limits: limits}); err != nil {
			return err
		}
		return tx.CreateToken(&store.Token{
			Hash: pat.Hash(r.token), Shown: pat.Shown(r.token), Name: "gateway", Owner: "alice",
			Scopes: "use:limit admin:resource",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	r.client = &http.Client{Transport: transport}
	for range n {
		r.start()
	}
	return r
}

// start starts one more hub.
func (r *replicas) start() {
	r.Helper()
	p := serve(r, r.address, "--db-connections", "8")
	r.bases, r.running = append(r.bases, p.base), append(r.running, p)
}

// end stops a hub with a signal, and waits for it.
func (r *replicas) end(i int, s syscall.Signal) {
	r.Helper()
	if err := r.running[i].Process.Signal(s); err != nil {
		r.Fatal(err)
	}
	_ = r.running[i].Wait()
	r.bases, r.running = slices.Delete(r.bases, i, i+1), slices.Delete(r.running, i, i+1)
}

func (r *replicas) do(ctx context.Context, method, address, body string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp, answer, err
}

// take takes one request at a hub. It reports whether it was admitted, and if not, after
// how long to come back.
func (r *replicas) take(base string) (admitted bool, after time.Duration) {
	admitted, after, _ = r.takeIn(base)
	return admitted, after
}

// rest finds how many seconds the first window of a RateLimit field goes on.
var rest = regexp.MustCompile(`;t=(\d+)`)

// takeIn is take. It also returns the minute in which the request was counted, as the hub
// says how long that goes on: a request can be sent in one minute and counted in the next.
func (r *replicas) takeIn(base string) (admitted bool, after time.Duration, window time.Time) {
	resp, body, err := r.do(r.Context(), http.MethodPost, base+"/v1/rate-limit/take?botId=crawler", "")
	if err != nil {
		if r.Context().Err() == nil {
			r.Error(err)
		}
		return false, 0, window
	}
	switch resp.StatusCode {
	case http.StatusOK:
		seconds, err := strconv.Atoi(cmp.Or(append(rest.FindStringSubmatch(resp.Header.Get("RateLimit")), "", "")[1], "-"))
		if err != nil {
			r.Errorf("RateLimit is %q", resp.Header.Get("RateLimit"))
		}
		return true, 0, time.Now().Add(time.Duration(seconds) * time.Second).Round(time.Minute).Add(-time.Minute)
	case http.StatusTooManyRequests:
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			r.Errorf("429 with Retry-After %q", resp.Header.Get("Retry-After"))
		}
		return false, time.Duration(seconds) * time.Second, window
	}
	r.Errorf("status %d: %s", resp.StatusCode, body)
	return false, 0, window
}

// usage returns what a hub says that the bot has used.
func (r *replicas) usage(base string) wire.Usage {
	r.Helper()
	_, body, err := r.do(r.Context(), http.MethodGet, base+"/v1/rate-limit?botId=crawler", "")
	var limit wire.RateLimit
	if err == nil {
		err = json.Unmarshal(body, &limit)
	}
	if err != nil {
		r.Fatalf("%v: %s", err, body)
	}
	return limit.Usage
}

const (
	windowLimit = 1000
	connections = 64
)

func TestReplicas_AdmitTheLimitExactly(t *testing.T) {
	limit := int64(windowLimit)
	r := startReplicas(t, 3, store.Limits{store.Year: &limit})
	var admitted sync.Map
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() {
			n, refused := 0, 0
			for refused < 20 && !t.Failed() {
				ok, _ := r.take(r.bases[i%len(r.bases)])
				if ok {
					n, refused = n+1, 0
					continue
				}
				refused++
			}
			admitted.Store(i, n)
		})
	}
	all.Wait()
	total := 0
	admitted.Range(func(_, n any) bool { total += n.(int); return true })
	if total != windowLimit {
		t.Errorf("%d requests were admitted, not %d", total, windowLimit)
	}
	for _, base := range r.bases {
		if used := r.usage(base).Year.Used; used != windowLimit {
			t.Errorf("%d are used, not %d", used, windowLimit)
		}
	}
	// The counters survive the end of all hubs, and a new configuration takes effect on each.
	for range 3 {
		r.end(0, syscall.SIGTERM)
	}
	r.start()
	r.start()
	for _, base := range r.bases {
		if used := r.usage(base).Year.Used; used != windowLimit {
			t.Errorf("after a restart %d are used", used)
		}
		if ok, _ := r.take(base); ok {
			t.Error("a request beyond the limit was admitted after a restart")
		}
	}
	r.set(`{"yearLimit": 2000}`)
	for _, base := range r.bases {
		if ok, _ := r.take(base); !ok {
			t.Error("the higher limit has no effect")
		}
	}
	r.set(`{"yearLimit": 0}`)
	for _, base := range r.bases {
		if ok, _ := r.take(base); ok {
			t.Error("the limit 0 has no effect")
		}
	}
}

func (r *replicas) set(limits string) {
	r.Helper()
	resp, body, err := r.do(r.Context(), http.MethodPost, r.bases[0]+"/v1/rate-limit?botId=crawler", limits)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.Fatalf("%v: %s", err, body)
	}
}

func TestReplicas_KilledHubWastesNothing(t *testing.T) {
	limit := int64(windowLimit)
	r := startReplicas(t, 2, store.Limits{store.Year: &limit})
	admitted := 0
	for range 200 {
		if ok, _ := r.take(r.bases[0]); ok {
			admitted++
		}
	}
	r.end(0, syscall.SIGKILL)
	for ok := true; ok; {
		if ok, _ = r.take(r.bases[0]); ok {
			admitted++
		}
	}
	if used := r.usage(r.bases[0]).Year.Used; used != windowLimit || admitted != windowLimit {
		t.Errorf("%d of %d were admitted, and %d are used", admitted, windowLimit, used)
	}
}

func TestReplicas_AdmitTheLimitInEachWindow(t *testing.T) {
	if *windows == 0 {
		t.Skip("takes minutes: run with -windows=20")
	}
	const perMinute = 100
	limit := int64(perMinute)
	r := startReplicas(t, 3, store.Limits{store.Minute: &limit})
	start := time.Now().Truncate(time.Minute).Add(time.Minute)
	time.Sleep(time.Until(start))
	end := start.Add(time.Duration(*windows) * time.Minute)
	var mu sync.Mutex
	admitted, returned, early := map[string]int{}, 0, 0
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() {
			for {
				if !time.Now().Before(end.Add(-time.Second)) || t.Failed() { // not in the window after the last one
					return
				}
				ok, after, window := r.takeIn(r.bases[i%len(r.bases)])
				arrived := time.Now()
				mu.Lock()
				if ok {
					admitted[window.Format("15:04")]++
				}
				mu.Unlock()
				switch {
				case ok:
				case i == 0 && after > 2*time.Second: // one waits as it is told to, and is admitted then
					time.Sleep(time.Until(arrived.Add(after)))
					if time.Now().After(end.Add(-time.Second)) {
						return
					}
					again, after, window := r.takeIn(r.bases[0])
					mu.Lock()
					returned++
					switch {
					case again:
						admitted[window.Format("15:04")]++
					case after < 30*time.Second: // else the others have used all of the new window
						early++
					}
					mu.Unlock()
				default:
					time.Sleep(500 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	for _, window := range slices.Sorted(maps.Keys(admitted)) {
		t.Logf("%s: %d admitted", window, admitted[window])
		if admitted[window] != perMinute {
			t.Errorf("in the window %s %d requests were admitted, not %d", window, admitted[window], perMinute)
		}
	}
	if len(admitted) != *windows {
		t.Errorf("%d windows, want %d", len(admitted), *windows)
	}
	if t.Logf("%d waited as they were told, %d of them not long enough", returned, early); early > 0 {
		t.Errorf("%d requests came back too early", early)
	}
}
