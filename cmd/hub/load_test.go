package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

// load is clients that create, push and publish without pause, and a ledger of what was
// acknowledged to them. What fails they send again, to any of the hubs, until they know
// the outcome: a POST with its Idempotency-Key, a PUT as it is.
type load struct {
	testing.TB
	address string
	token   string
	client  *http.Client
	bases   atomic.Pointer[[]string]

	writing    sync.WaitGroup
	stopped    chan struct{}
	stop       func()
	retried    atomic.Int64
	acked      atomic.Int64
	lastAck    atomic.Int64 // when, in nanoseconds since 1970
	mu         sync.Mutex
	projects   map[string]bool   // slugs
	pushed     map[string]int    // the number in a project's config
	files      map[string]int    // and in its base files
	unseen     map[string]bool   // projects that were pushed to since the last check
	versions   map[string]string // digests by path
	registered map[string]bool   // slugs of APIs, which the hub chooses
}

// newLoad prepares an empty database: the account alice with a token, a stack and an API.
func newLoad(t testing.TB, address string) *load {
	t.Helper()
	l := &load{
		TB: t, address: address, token: pat.New(), stopped: make(chan struct{}),
		projects: map[string]bool{}, pushed: map[string]int{}, files: map[string]int{}, unseen: map[string]bool{},
		versions: map[string]string{}, registered: map[string]bool{},
	}
	l.stop = sync.OnceFunc(func() { close(l.stopped) })
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	l.client = &http.Client{Transport: transport, Timeout: 70 * time.Second}
	s := storetest.Open(t, address)
	defer s.Close()
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.CreateAccount("alice", store.KindUser); err != nil {
			return err
		}
		return tx.CreateToken(&store.Token{
			Hash: pat.Hash(l.token), Shown: pat.Shown(l.token), Name: "load", Owner: "alice",
			Scopes: "write:catalog admin:resource",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.stop()
		l.writing.Wait()
		transport.CloseIdleConnections()
	})
	return l
}

// lead says where the hubs are.
func (l *load) lead(bases ...string) { l.bases.Store(&bases) }

// begin publishes what projects need, and starts n clients.
func (l *load) begin(n int) {
	l.Helper()
	l.publish("site", "1.0.0")
	l.register("Pets", "pets")
	for i := range n {
		l.writing.Go(func() { l.write(i) })
	}
}

// write is one client.
func (l *load) write(client int) {
	for n := 0; !l.Failed(); n++ {
		select {
		case <-l.stopped:
			return
		default:
		}
		slug := fmt.Sprintf("p%d-%d", client, n/8)
		switch n % 8 {
		case 0:
			l.create(slug)
		case 1:
			l.publish(fmt.Sprintf("s%d", client), fmt.Sprintf("1.0.%d", n))
		case 2:
			l.register("Same title", fmt.Sprintf("api-%d-%d", client, n))
		case 3:
			l.pushFiles(slug, n)
		default:
			l.push(slug, n)
		}
	}
}

func (l *load) create(slug string) {
	body := fmt.Sprintf(
		`{"account": "alice", "slug": %q, "stack": "alice/site", "api": {"account": "alice", "slug": "pets"}}`, slug)
	if l.send(http.MethodPost, "/v1/projects", "application/json", "create "+slug, body) != nil {
		l.note(func() { l.projects[slug] = true })
	}
}

func (l *load) push(slug string, n int) {
	if l.send(http.MethodPut, "/v1/projects/alice/"+slug+"/client-config", "application/json", "",
		fmt.Sprintf(`{"settings": {"n": %d}}`, n)) != nil {
		l.note(func() { l.pushed[slug], l.unseen[slug] = n, true })
	}
}

func (l *load) pushFiles(slug string, n int) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	text := fileOf(n)
	_ = w.WriteHeader(&tar.Header{Name: "file", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
	_, _ = w.Write(text)
	_ = w.Close()
	if l.send(http.MethodPut, "/v1/projects/alice/"+slug+"/preview/base-files", "application/x-tar", "",
		b.String()) != nil {
		l.note(func() { l.files[slug], l.unseen[slug] = n, true })
	}
}

// fileOf returns a file that is as hard to compress as it is large, and begins with a number.
func fileOf(n int) []byte {
	random := rand.New(rand.NewPCG(uint64(n), 0))
	text := fmt.Appendf(nil, "%d\n", n)
	for len(text) < 20<<10 {
		text = binary.LittleEndian.AppendUint64(text, random.Uint64())
	}
	return text
}

func (l *load) publish(stack, version string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	text := fmt.Sprintf(`{"name": "@alice/%s", "version": %q}`, stack, version)
	_ = w.WriteHeader(&tar.Header{Name: "stack.json", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
	_, _ = io.WriteString(w, text)
	_, _ = w.Close(), z.Close()
	path := "/v1/stacks/alice/" + stack + "/versions/" + version
	var published struct{ Digest string }
	answer := l.send(http.MethodPut, path, "application/gzip", "", b.String())
	if answer != nil && json.Unmarshal(answer, &published) == nil {
		l.note(func() { l.versions[path] = published.Digest })
	}
}

func (l *load) register(title, key string) {
	text := fmt.Sprintf(`{"openapi": "3.1.0", "info": {"title": %q, "version": "1"}, "paths": {}}`, title)
	var created struct{ API struct{ Slug string } }
	answer := l.send(http.MethodPost, "/v1/apis/upload?account=alice", "application/json", "register "+key, text)
	if answer == nil {
		return
	}
	if err := json.Unmarshal(answer, &created); err != nil || created.API.Slug == "" {
		l.Errorf("%v: %s", err, answer)
	}
	l.note(func() {
		if l.registered[created.API.Slug] {
			l.Errorf("two registrations were answered with %s", created.API.Slug)
		}
		l.registered[created.API.Slug] = true
	})
}

func (l *load) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.acked.Add(1)
	l.lastAck.Store(time.Now().UnixNano())
}

// send returns the body of the 2xx that ends the attempts; nil when the test failed.
func (l *load) send(method, path, mediaType, key, body string) []byte {
	end := time.Now().Add(2 * time.Minute)
	for try := 0; ; try++ {
		bases := *l.bases.Load()
		status, answer, err := l.once(method, bases[rand.N(len(bases))]+path, mediaType, key, body)
		switch {
		case err == nil && status/100 == 2:
			return answer
		case err == nil && status != http.StatusServiceUnavailable &&
			status != http.StatusBadGateway: // tool sends both again
			l.Errorf("%s %s, attempt %d: %d %s", method, path, try, status, answer)
			return nil
		case time.Now().After(end):
			l.Errorf("%s %s, attempt %d: %d %s %v", method, path, try, status, answer, err)
			return nil
		}
		if l.Failed() {
			return nil
		}
		l.retried.Add(1)
		time.Sleep(rand.N(20 * time.Millisecond)) // as a client backs off
	}
}

func (l *load) once(method, address, mediaType, key, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(context.WithoutCancel(l.Context()), method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+l.token)
	if body != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", strings.ReplaceAll(key, " ", "-"))
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// await waits until the clients have got n more acknowledgements.
func (l *load) await(n int64) {
	l.Helper()
	for end, want := time.Now().Add(2*time.Minute), l.acked.Load()+n; l.acked.Load() < want; time.Sleep(time.Millisecond) {
		if l.Failed() || time.Now().After(end) {
			l.Fatalf("%d of %d writes were acknowledged", l.acked.Load(), want)
		}
	}
}

// end stops the clients, and checks that the database has all that was acknowledged, once
// and nothing else.
func (l *load) end() {
	l.Helper()
	l.stop()
	l.writing.Wait()
	if l.Failed() {
		return
	}
	base := (*l.bases.Load())[0]
	for slug, n := range l.pushed {
		if got := l.configAt(base, slug); got != n {
			l.Errorf("the config of %s has %d, and %d was acknowledged", slug, got, n)
		}
	}
	for slug, n := range l.files {
		if got := l.filesAt(base, slug); got != n {
			l.Errorf("the base files of %s have %d, and %d was acknowledged", slug, got, n)
		}
	}
	for path, digest := range l.versions {
		var got struct{ Digest string }
		if err := json.Unmarshal(l.get(base+path), &got); err != nil || got.Digest != digest {
			l.Errorf("%s has %q, not %q: %v", path, got.Digest, digest, err)
		}
	}
	for table, want := range map[string]int{"projects": len(l.projects), "stack_versions": len(l.versions),
		"apis": len(l.registered)} {
		if n := count(l.TB, l.address, table); n != want {
			l.Errorf("there are %d %s, and %d were acknowledged", n, table, want)
		}
	}
	l.Logf("%d writes were acknowledged, %d attempts failed, none was lost or applied twice", l.acked.Load(),
		l.retried.Load())
}

// check checks that a hub that was started anew has what was acknowledged since the last
// check. No client may know the hub yet: what it sent may be applied, or not.
func (l *load) check(base string) {
	l.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for slug := range l.unseen {
		if n, config := l.pushed[slug], l.configAt(base, slug); config < n {
			l.Errorf("the config of %s has %d, and %d was acknowledged", slug, config, n)
		}
		if n, files := l.files[slug], l.filesAt(base, slug); files < n {
			l.Errorf("the base files of %s have %d, and %d was acknowledged", slug, files, n)
		}
	}
	clear(l.unseen)
}

// get returns what a hub responds.
func (l *load) get(address string) []byte {
	l.Helper()
	status, answer, err := l.once(http.MethodGet, address, "", "", "")
	if err != nil || status != http.StatusOK && status != http.StatusNotFound {
		l.Errorf("GET %s: %d %s %v", address, status, answer, err)
	}
	return answer
}

// configAt returns the number in the config of a project, 0 for none.
func (l *load) configAt(base, slug string) int {
	l.Helper()
	var got struct{ Config struct{ N int } }
	if err := json.Unmarshal(l.get(base+"/v1/projects/alice/"+slug+"/config"), &got); err != nil {
		l.Error(err)
	}
	return got.Config.N
}

// filesAt returns the number in the base files of a project, 0 for none.
func (l *load) filesAt(base, slug string) (n int) {
	l.Helper()
	archive := tar.NewReader(bytes.NewReader(l.get(base + "/v1/projects/alice/" + slug + "/preview/base-files/archive")))
	for {
		header, err := archive.Next()
		if err != nil {
			return n
		}
		if header.Name != "file" {
			continue
		}
		text, err := io.ReadAll(archive)
		if _, scanErr := fmt.Sscan(string(text), &n); err != nil || scanErr != nil || !bytes.Equal(text, fileOf(n)) {
			l.Errorf("the base file of %s: %v %v, %d bytes", slug, err, scanErr, len(text))
		}
	}
}

// count returns how many rows a table has.
func count(t testing.TB, address, table string) (n int) {
	t.Helper()
	db := openSQL(t, address)
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// openSQL opens a database for what no command does.
func openSQL(t testing.TB, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path := store.Path(address); path != "" {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
