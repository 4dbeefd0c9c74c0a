package hubserver_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/hubserver/fetch"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
	"example.com/projecthub/store/storetest"
)

// testHub is a hub behind a real listener, with the org acme, on which anna is
// admin, alice writer and rita reader, and a stranger, sam.
type testHub struct {
	testing.TB
	server  *hubserver.Server
	store   *store.Store
	address string // of the database
	url     string
	log     *lockedBuffer
	client  *http.Client
	mu      *sync.Mutex // of callers
	callers map[string]*caller
}

const (
	publicURL  = "http://hub.test"
	hubVersion = "1.2.3-test"
)

// each runs f on a fresh hub, once a database.
func each(t *testing.T, f func(*testing.T, *testHub)) { eachWith(t, nil, f) }

// eachWith is each with a hub that change has made special.
func eachWith(t *testing.T, change func(*hubserver.Config), f func(*testing.T, *testHub)) {
	t.Helper()
	t.Parallel() // most of the time goes into waiting for the disk
	storetest.Each(t, func(t *testing.T, address string) {
		t.Parallel()
		f(t, newHub(t, address, change))
	})
}

// one returns a hub on SQLite, for what no database has a part in.
func one(t testing.TB, change func(*hubserver.Config)) *testHub {
	t.Helper()
	return newHub(t, storetest.SQLite(t), change)
}

func newHub(t testing.TB, address string, change func(*hubserver.Config)) *testHub {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hub := newHubOn(t, listener, (&net.Dialer{}).DialContext, address, change)
	hub.url = "http://" + listener.Addr().String()
	return hub
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func newHubOn(t testing.TB, listener net.Listener, dial dialer, address string,
	change func(*hubserver.Config)) *testHub {
	t.Helper()
	log := &lockedBuffer{}
	cfg := hubserver.Config{
		Store: storetest.OpenCopy(t, address), PublicURL: publicURL, Version: hubVersion,
		Log:    slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Limits: hubserver.DefaultLimits, Fetch: fetch.New(fetch.Options{}),
	}
	if change != nil {
		change(&cfg)
	}
	hub := &testHub{TB: t, server: hubserver.New(cfg), store: cfg.Store, address: address, url: publicURL, log: log,
		mu: &sync.Mutex{}, callers: map[string]*caller{}}
	hub.write(func(tx *store.Tx) error { return makeAccounts(tx) })
	server := hub.server.HTTPServer(nil)
	go server.Serve(hub.server.Listener(listener))
	transport := &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 16}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	hub.client = &http.Client{
		Transport:     &recorder{t: t, next: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return hub
}

// makeAccounts creates the accounts, unless another hub on the database has done so.
func makeAccounts(tx *store.Tx) error {
	if _, err := tx.Account("acme"); err == nil {
		return nil
	}
	if err := tx.CreateAccount("acme", store.KindOrg); err != nil {
		return err
	}
	for _, user := range []struct{ name, role string }{{"anna", "admin"}, {"alice", "writer"}, {"rita", "reader"},
		{"sam", ""}} {
		if err := tx.CreateAccount(user.name, store.KindUser); err != nil {
			return err
		}
		if user.role == "" {
			continue
		}
		if err := tx.SetMember("acme", user.name, user.role); err != nil {
			return err
		}
	}
	return nil
}

// write changes the database without the hub.
func (h *testHub) write(f func(*store.Tx) error) {
	h.Helper()
	if err := h.store.Write(h.Context(), f); err != nil {
		h.Fatal(err)
	}
}

// sql runs a statement without the hub, on a connection of its own.
func (h *testHub) sql(statement string) {
	h.Helper()
	db := h.open()
	defer db.Close()
	if _, err := db.ExecContext(h.Context(), statement); err != nil {
		h.Fatalf("%s: %v", statement, err)
	}
}

// count returns the number that a query returns, without the hub.
func (h *testHub) count(query string) (n int) {
	h.Helper()
	db := h.open()
	defer db.Close()
	if err := db.QueryRowContext(h.Context(), query).Scan(&n); err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	return n
}

func (h *testHub) open() *sql.DB {
	h.Helper()
	driver, address := "pgx", h.address
	if path := sqldb.Path(h.address); path != "" {
		driver, address = "sqlite", path
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		h.Fatal(err)
	}
	return db
}

// token makes a token of user with these scopes.
func (h *testHub) token(user string, scopes ...wire.Scope) string {
	h.Helper()
	return h.tokenUntil(user, 0, scopes...)
}

func (h *testHub) tokenUntil(user string, end store.Time, scopes ...wire.Scope) string {
	h.Helper()
	token := pat.New()
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	h.write(func(tx *store.Tx) error {
		return tx.CreateToken(&store.Token{
			Hash: pat.Hash(token), Shown: pat.Shown(token), Name: "test", Owner: user, Scopes: strings.Join(names, " "),
			ExpiresAt: end,
		})
	})
	return token
}

// as returns user with a token that has every scope.
func (h *testHub) as(user string) *caller {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.callers[user] == nil {
		h.callers[user] = h.with(h.token(user, wire.Scopes...))
	}
	return h.callers[user]
}

// with returns a client with token; "" is an anonymous one.
func (h *testHub) with(token string) *caller { return &caller{hub: h, token: token} }

// caller sends requests as somebody.
type caller struct {
	hub    *testHub
	token  string
	cookie string // of a session, as name=value
}

// typed is a body with its Content-Type, "" for none.
type typed struct {
	mediaType string
	data      []byte
}

// header are the headers of one request.
type header map[string]string

func (c *caller) get(path string, h ...header) *answer { return c.do("GET", path, nil, h...) }
func (c *caller) put(path string, body any, h ...header) *answer {
	return c.do("PUT", path, body, h...)
}
func (c *caller) post(path string, body any, h ...header) *answer {
	return c.do("POST", path, body, h...)
}
func (c *caller) patch(path string, body any, h ...header) *answer {
	return c.do("PATCH", path, body, h...)
}
func (c *caller) delete(path string) *answer { return c.do("DELETE", path, nil) }

// do sends one request. The body is nil, JSON as a string or as something that
// becomes JSON, or typed.
func (c *caller) do(method, path string, body any, headers ...header) *answer {
	c.hub.Helper()
	a, err := c.try(method, path, body, headers...)
	if err != nil {
		c.hub.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (c *caller) try(method, path string, body any, headers ...header) (*answer, error) {
	return c.tryWithin(c.hub.Context(), method, path, body, headers...)
}

func (c *caller) tryWithin(ctx context.Context, method, path string, body any, headers ...header) (*answer, error) {
	req, err := c.request(method, path, body, headers...)
	if err != nil {
		return nil, err
	}
	return c.send(req.WithContext(ctx))
}

// send sends a request that [caller.request] has made.
func (c *caller) send(req *http.Request) (*answer, error) {
	resp, err := c.hub.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return &answer{t: c.hub, call: req.Method + " " + strings.TrimPrefix(req.URL.String(), c.hub.url),
		status: resp.StatusCode, header: resp.Header, body: data}, err
}

func (c *caller) request(method, path string, body any, headers ...header) (*http.Request, error) {
	mediaType, content := "", io.Reader(nil)
	switch body := body.(type) {
	case nil:
	case typed:
		mediaType, content = body.mediaType, bytes.NewReader(body.data)
	case string:
		mediaType, content = "application/json", strings.NewReader(body)
	default:
		data, err := wire.Encode(body)
		if err != nil {
			return nil, err
		}
		mediaType, content = "application/json", bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(c.hub.Context(), method, c.hub.url+path, content)
	if err != nil {
		return nil, err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.cookie != "" {
		req.Header.Set("Cookie", c.cookie)
	}
	for _, h := range headers {
		for name, value := range h {
			req.Header[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	return req, nil
}

// answer is what a hub said.
type answer struct {
	t      testing.TB
	call   string
	status int
	header http.Header
	closes bool // the connection ends with it; reported for raw connections only
	body   []byte
}

// want fails the test unless the answer has this status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %s", a.call, a.status, status, a.body)
	}
	return a
}

// problem fails the test unless the answer is a problem of this status and code.
func (a *answer) problem(status int, code wire.Code) wire.Problem {
	a.t.Helper()
	var p wire.Problem
	a.want(status).into(&p)
	if p.Code != code {
		a.t.Fatalf("%s: code %s, want %s: %s", a.call, p.Code, code, a.body)
	}
	return p
}

// into decodes the answer, strictly.
func (a *answer) into(v any) {
	a.t.Helper()
	if err := wire.Decode(a.body, v); err != nil {
		a.t.Fatalf("%s: %v in %s", a.call, err, a.body)
	}
}

// decoded is into for a value that is to be returned.
func decoded[T any](a *answer) (v T) {
	a.t.Helper()
	a.into(&v)
	return v
}

func (a *answer) etag() string { return a.header.Get("ETag") }

// recorder holds every exchange that passes against the contract.
type recorder struct {
	t    testing.TB
	next http.RoundTripper
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{method: req.Method, path: req.URL.Path, query: req.URL.Query(), header: req.Header}
	if strings.Contains(req.URL.RawPath, "%2F") {
		x.path = req.URL.RawPath // an escaped slash separates nothing
	}
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		if x.body, err = io.ReadAll(body); err != nil {
			return nil, err
		}
		if req.Header.Get("Content-Encoding") == "zstd" && req.Header.Get("Content-Type") == "application/json" {
			x.body = inflated(x.body)
		}
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	x.status, x.answerHeader, x.answer = resp.StatusCode, resp.Header, body
	if err != nil {
		return resp, nil // a broken answer is for the test to judge
	}
	x.hold(r.t)
	return resp, nil
}

// inflated is a body without its compression; one that has none, or a wrong one, as it is.
func inflated(body []byte) []byte {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(32<<20))
	if err != nil {
		return body
	}
	defer z.Close()
	if plain, err := z.DecodeAll(body, nil); err == nil {
		return plain
	}
	return body
}

// hold fails the test unless the exchange is one that the contract knows.
func (x *exchange) hold(t testing.TB) {
	t.Helper()
	for _, fault := range theContract().check(x) {
		t.Errorf("%s %s %v, %d: %v\nrequest %.500s\nanswer %.2000s", x.method, x.path, x.query, x.status, fault, x.body,
			x.answer)
	}
}

// lockedBuffer is a log that many write and one reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// at is a moment some time from now.
func at(d time.Duration) store.Time { return store.At(time.Now().Add(d)) }

// yesterday is a moment at which a token expires that has expired.
func yesterday() store.Time { return store.At(time.Now().Add(-24 * time.Hour)) }

// rows returns what a query finds, as text.
func (h *testHub) rows(db *sql.DB, query string) (all [][]string) {
	h.Helper()
	rows, err := db.QueryContext(h.Context(), query)
	if err != nil {
		h.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		h.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			h.Fatal(err)
		}
		line := make([]string, len(columns))
		for i, v := range values {
			line[i] = fmt.Sprintf("%v", *v.(*any))
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		h.Fatal(err)
	}
	return all
}

// resource returns the id of what has a name.
func (h *testHub) resource(account, kind, slug string) int64 {
	h.Helper()
	r, err := h.store.View(h.Context()).ResourceByName(account, kind, slug)
	if err != nil {
		h.Fatal(err)
	}
	return r.ID
}

// collect removes the blobs of a project of acme that nothing names, and returns how many.
func (h *testHub) collect(slug string, grace time.Duration) int {
	h.Helper()
	n, err := h.store.Collect(h.Context(), h.resource("acme", store.KindProject, slug), grace)
	if err != nil {
		h.Error(err)
	}
	return n
}
