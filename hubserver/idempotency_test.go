package hubserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver"
	"example.com/projecthub/store/storetest"
)

func key(k string) header { return header{"Idempotency-Key": k} }

// sameAnswer reports how two answers differ in what a caller acts upon.
func sameAnswer(a, b *answer) string {
	type part struct {
		Status         int
		Body, Location string
		Type           string
	}
	of := func(a *answer) part {
		return part{a.status, string(a.body), a.header.Get("Location"), a.header.Get("Content-Type")}
	}
	return cmp.Diff(of(a), of(b))
}

func TestIdempotencyKey_ReplaysFirstResponse(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		alice := hub.as("alice")
		for name, c := range map[string]struct {
			path   string
			body   any
			status int
		}{
			"a create":  {"/v1/projects", newProject("web"), 201},
			"an upload": {"/v1/apis/upload?account=acme", pets, 201},
		} {
			first := alice.post(c.path, c.body, key("key of "+strings.ReplaceAll(name, " ", "-")))
			if first.status != 422 { // a key with a space is invalid
				t.Errorf("%s: a key with a space: status %d", name, first.status)
			}
			k := key(strings.ReplaceAll(name, " ", "-"))
			first = alice.post(c.path, c.body, k).want(c.status)
			for range 2 {
				if diff := sameAnswer(first, alice.post(c.path, c.body, k)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		}
		if list := decoded[wire.Projects](alice.get("/v1/projects?account=acme").want(200)); len(list.Projects) != 1 {
			t.Errorf("%d projects", len(list.Projects))
		}
		alice.get("/v1/apis/acme/pets-2").want(200)
		alice.get("/v1/apis/acme/pets-3").problem(404, wire.CodeNotFound)
	})
}

func TestIdempotencyKey_RefusalIsTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.as("alice").post("/v1/apis/upload?account=acme&slug=pets", pets).want(201)
		first := hub.as("alice").post("/v1/projects", newProject("web"), key("k"))
		first.problem(422, wire.CodeStackNotPublished)
		hub.as("alice").put(site+"/versions/1.0.0", bundle(t, "1.0.0")).want(201)
		created := hub.as("alice").post("/v1/projects", newProject("web"), key("k")).want(201)
		if diff := sameAnswer(created, hub.as("alice").post("/v1/projects", newProject("web"), key("k"))); diff != "" {
			t.Error(diff)
		}
		hub.as("alice").post("/v1/projects", newProject("web"), key("another")).problem(409, wire.CodeProjectExists)
	})
}

// What an import finds at its address may be another thing the next time.
func TestImportAPI_ARefusalIsNotRepeated(t *testing.T) {
	var answers atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch answers.Add(1) {
		case 1:
			w.WriteHeader(http.StatusNotFound)
		case 2:
			io.WriteString(w, "<html>")
		default:
			io.WriteString(w, pets)
		}
	}))
	defer target.Close()
	hub := one(t, importer(target))
	alice := hub.as("alice")
	req := wire.ImportAPI{Account: "acme", URL: target.URL}
	alice.post("/v1/apis/import", req, key("k")).problem(422, wire.CodeAddressRefused)
	alice.post("/v1/apis/import", req, key("k")).problem(422, wire.CodeInvalidDescription)
	first := alice.post("/v1/apis/import", req, key("k")).want(201)
	if diff := sameAnswer(first, alice.post("/v1/apis/import", req, key("k"))); diff != "" {
		t.Error(diff)
	}
}

func TestIdempotencyKey_DoesNotReplay5xx(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.sql("ALTER TABLE apis RENAME TO hidden")
		hub.as("alice").post("/v1/apis/upload", pets, key("k")).problem(500, wire.CodeInternal)
		hub.sql("ALTER TABLE hidden RENAME TO apis")
		hub.as("alice").post("/v1/apis/upload", pets, key("k")).want(201)
	})
}

func TestIdempotencyKey_BelongsToCallerMethodPathAndBody(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		alice := hub.as("alice")
		alice.post("/v1/projects", newProject("web"), key("k")).want(201)
		alice.post("/v1/projects", newProject("other"), key("k")).problem(422, wire.CodeIdempotencyMismatch)
		hub.as("anna").post("/v1/projects", newProject("web"), key("k")).problem(409, wire.CodeProjectExists)
		alice.post("/v1/apis/upload", pets, key("k")).want(201)
		alice.post("/v1/apis/upload?slug=x", pets, key("k")).problem(422, wire.CodeIdempotencyMismatch)
		// Another token of the same user is the same caller.
		again := hub.with(hub.token("alice", wire.ScopeWriteCatalog)).post("/v1/projects", newProject("web"), key("k"))
		again.want(201)
	})
}

func TestIdempotencyKey_ChecksPermissionFirst(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.as("alice").post("/v1/projects", newProject("web"), key("k")).want(201)
		hub.with(hub.token("alice")).post("/v1/projects", newProject("web"), key("k")).problem(403, wire.CodeMissingScope)
		hub.demote("alice")
		hub.as("alice").post("/v1/projects", newProject("web"), key("k")).problem(403, wire.CodeNotPermitted)
	})
}

func TestIdempotencyKey_RejectsMalformed(t *testing.T) {
	hub := one(t, nil)
	hub.catalog()
	for _, k := range []string{"a b", "é", strings.Repeat("k", 256), "\u00a0"} {
		hub.as("alice").post("/v1/projects", newProject("web"), key(k)).problem(422, wire.CodeInvalidBody)
	}
	hub.as("alice").post("/v1/projects", newProject("web"), key(strings.Repeat("~", 255))).want(201)
}

// gate is a server that holds its answers back.
type gate struct {
	*httptest.Server
	entered, leave chan struct{}
}

func newGate(t *testing.T) *gate {
	g := &gate{entered: make(chan struct{}, 16), leave: make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.entered <- struct{}{}
		select {
		case <-g.leave:
			w.Write([]byte(pets))
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func TestIdempotencyKey_OfTwoImportsAtOnceOneCreates(t *testing.T) {
	g := newGate(t)
	hub := one(t, importer(g.Server))
	alice := hub.as("alice")
	var answers [2]*answer
	var running sync.WaitGroup
	for i := range answers {
		running.Go(func() {
			var err error
			if answers[i], err = alice.try("POST", "/v1/apis/import", wire.ImportAPI{URL: g.URL}, key("k")); err != nil {
				t.Error(err)
			}
		})
	}
	<-g.entered
	<-g.entered
	close(g.leave)
	running.Wait()
	if diff := sameAnswer(answers[0].want(201), answers[1]); diff != "" {
		t.Error(diff)
	}
	if n := hub.count("SELECT count(*) FROM apis"); n != 1 {
		t.Errorf("%d APIs were created", n)
	}
}

func TestIdempotencyKey_RefusedImportKeepsKey(t *testing.T) {
	g := newGate(t)
	hub := one(t, importer(g.Server))
	alice := hub.as("alice")
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if a, err := alice.try("POST", "/v1/apis/import", wire.ImportAPI{URL: g.URL}); err != nil || a.status != 201 {
				t.Errorf("%v, %v", a, err)
			}
		})
	}
	for range 4 {
		<-g.entered
	}
	a := alice.post("/v1/apis/import", wire.ImportAPI{URL: g.URL}, key("k"))
	a.problem(429, wire.CodeRateLimited)
	if a.header.Get("Retry-After") == "" {
		t.Error("nothing says when to come back")
	}
	close(g.leave)
	running.Wait()
	alice.post("/v1/apis/import", wire.ImportAPI{URL: g.URL}, key("k")).want(201)
}

func TestIdempotencyKey_CallerMayAskAgainAfterDisconnect(t *testing.T) {
	g := newGate(t)
	hub := one(t, importer(g.Server))
	alice := hub.as("alice")
	req, err := alice.request("POST", "/v1/apis/import", wire.ImportAPI{URL: g.URL}, key("k"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, goAway := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if resp, err := hub.client.Do(req.WithContext(ctx)); err == nil {
			t.Errorf("an answer after all: %d", resp.StatusCode)
		}
	})
	<-g.entered
	goAway()
	running.Wait()
	close(g.leave)
	a := alice.post("/v1/apis/import", wire.ImportAPI{URL: g.URL}, key("k"))
	a.want(201)
}

func TestIdempotencyKey_OfManyRequestsOneCreates(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.as("alice")
		// A second hub on the same database shares nothing else with the first.
		second := hubserver.New(hub.server.Hub.Config)
		server := httptest.NewServer(second)
		defer server.Close()
		for _, create := range []struct {
			path  string
			body  any
			count string
		}{
			{"/v1/apis/upload?account=alice", pets,
				"SELECT count(*) FROM resources WHERE kind = 'api' AND account_id = (SELECT id FROM accounts WHERE name = 'alice')"},
			{"/v1/projects", newProject("web"), "SELECT count(*) FROM projects"},
		} {
			const tries = 32
			answers := make([]*answer, tries)
			var all sync.WaitGroup
			for i := range tries {
				to := *hub
				if i%2 == 1 {
					to.url = server.URL
				}
				all.Go(func() {
					var err error
					if answers[i], err = (&caller{hub: &to, token: hub.as("alice").token}).try("POST", create.path, create.body,
						key("k")); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			var first *answer
			for _, a := range answers {
				switch {
				case a == nil:
				case first == nil:
					first = a.want(201)
				default:
					if diff := sameAnswer(first, a); diff != "" {
						t.Error(diff)
					}
				}
			}
			if n := hub.count(create.count); n != 1 {
				t.Errorf("%s: %d were created", create.path, n)
			}
			if diff := sameAnswer(first, hub.as("alice").post(create.path, create.body, key("k"))); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// A create whose response is lost is sent again, to another hub, and creates one project.
func TestIdempotencyKey_LostResponsesCreateOneObjectEach(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		var to []http.Handler
		for _, h := range hub.replicas(t, 2) {
			to = append(to, h.server)
		}
		var known sync.Map
		var lost atomic.Int64
		cutter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, again := known.LoadOrStore(r.Header.Get("Idempotency-Key"), true); again {
				to[1].ServeHTTP(w, r)
				return
			}
			committed := httptest.NewRecorder()
			if to[0].ServeHTTP(committed, r); committed.Code == http.StatusCreated {
				lost.Add(1)
			} else { // too many at once
				known.Delete(r.Header.Get("Idempotency-Key"))
			}
			panic(http.ErrAbortHandler)
		}))
		defer cutter.Close()
		client, err := hubclient.New(hubclient.Options{Origin: cutter.URL, Token: hub.as("alice").token})
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdle()
		creates := rounds(8, 200)
		var all sync.WaitGroup
		for i := range creates {
			all.Go(func() {
				if _, err := client.CreateProject(t.Context(), newProject(fmt.Sprint("web-", i))); err != nil {
					t.Errorf("create %d: %v", i, err)
				}
			})
		}
		all.Wait()
		if n := hub.count("SELECT count(*) FROM projects"); n != creates || lost.Load() != int64(creates) {
			t.Errorf("%d projects of %d creates, of which %d lost their response", n, creates, lost.Load())
		}
		if n := hub.count("SELECT count(*) FROM audit WHERE action = 'project.create'"); n != creates {
			t.Errorf("%d creates are in the audit", n)
		}
		t.Logf("%d lost responses", lost.Load())
	})
}

func TestIdempotencyKey_DoesNotWaitForAHubThatDied(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		g := newGate(t)
		hub := newHub(t, address, importer(g.Server))
		// As far as the second hub can tell, the first one never comes to its answer.
		dead := httptest.NewServer(hubserver.New(hub.server.Hub.Config))
		defer dead.Close()
		alice, onDead := hub.as("alice"), *hub
		onDead.url = dead.URL
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			(&caller{hub: &onDead, token: alice.token}).tryWithin(ctx, "POST", "/v1/apis/import", wire.ImportAPI{URL: g.URL},
				key("k"))
		})
		<-g.entered
		all.Go(func() {
			a, err := alice.try("POST", "/v1/apis/import", wire.ImportAPI{URL: g.URL}, key("k"))
			if err != nil {
				t.Error(err)
			} else if a.status != 201 {
				t.Errorf("status %d: %s", a.status, a.body)
			}
		})
		<-g.entered // it runs, though the first one holds the same key
		end()
		close(g.leave)
		all.Wait()
		if n := hub.count("SELECT count(*) FROM apis"); n != 1 {
			t.Errorf("%d were created", n)
		}
	})
}
