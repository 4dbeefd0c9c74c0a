package hubserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/store/sqldb"
)

// slow is a request whose body comes when the test says so.
type slow struct {
	method, path string
	body         typed
	header       header
}

// send starts the request and returns once the hub reads its body, which is after it
// has let the caller in. finish sends the body and returns the answer.
func (s slow) send(c *caller) (finish func() *answer) {
	c.hub.Helper()
	req, err := c.request(s.method, s.path, s.body, s.header)
	if err != nil {
		c.hub.Fatal(err)
	}
	read, write := io.Pipe()
	req.Body, req.GetBody = read, nil
	req.Header.Set("Expect", "100-continue")
	admitted := make(chan struct{})
	req = req.WithContext(httptrace.WithClientTrace(c.hub.Context(),
		&httptrace.ClientTrace{Got100Continue: func() { close(admitted) }}))
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	done := make(chan *answer, 1)
	go func() {
		defer close(done)
		defer transport.CloseIdleConnections()
		resp, err := transport.RoundTrip(req)
		if err != nil {
			c.hub.Errorf("%s %s: %v", s.method, s.path, err)
			return
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			c.hub.Error(err)
		}
		done <- &answer{t: c.hub, call: s.method + " " + s.path, status: resp.StatusCode, header: resp.Header, body: data}
	}()
	select {
	case <-admitted:
	case a := <-done:
		c.hub.Fatalf("%s %s was answered at once: %+v", s.method, s.path, a)
	}
	return func() *answer {
		c.hub.Helper()
		io.Copy(write, bytes.NewReader(s.body.data))
		write.Close()
		a := <-done
		if a == nil {
			c.hub.FailNow()
		}
		return a
	}
}

// writes are a request for each route that writes, by route; those without a body
// are tested below.
func writes(t testing.TB, former, etag, target string) map[string]slow {
	jsonOf := func(v any) typed {
		data, err := wire.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return typed{"application/json", data}
	}
	contents := noisy(8, 400<<10)
	contents["empty"] = ""
	files := treeOf(t, contents)
	withKey := header{"Idempotency-Key": "k"}
	return map[string]slow{
		"POST /v1/projects": {"POST", "/v1/projects", jsonOf(newProject("other")), withKey},
		"POST of a copy":    {"POST", "/v1/projects", jsonOf(copyOfWeb("other")), nil},
		"PATCH /v1/projects/{account}/{slug}/config": {"PATCH", config,
			typed{"application/json", []byte(`{"set": {"a": 2}}`)}, header{"If-Match": etag}},
		"PATCH /v1/projects/{account}/{slug}": {"PATCH", web,
			typed{"application/json", []byte(`{"visibility": "public"}`)}, nil},
		"PUT /v1/projects/{account}/{slug}/client-config": {"PUT", clientCfg,
			typed{"application/json", []byte(`{"settings": {"a": 3}}`)}, nil},
		"PUT /v1/projects/{account}/{slug}/preview/base-files": {"PUT", baseFiles,
			archive(t, file{name: "a", content: "new"}, file{name: "b", content: contents["f00"]}), nil},
		"PUT of frames": {"PUT", baseFiles, uploadOf(files, all(contents)...), nil},
		"PUT of a few":  {"PUT", baseFiles, uploadOf(treeOf(t, map[string]string{"a": "b"}), "b"), nil},
		"POST /v1/projects/{account}/{slug}/preview/base-files/restore": {"POST", baseFiles + "/restore",
			jsonOf(wire.RestoreBaseFiles{Tree: treeOf(t, map[string]string{"a": "stored"}).Digest()}), header{"If-Match": "*"}},
		"POST /v1/projects/{account}/{slug}/config/restore": {"POST", config + "/restore",
			jsonOf(wire.RestoreConfig{Revision: former}), header{"If-Match": "*"}},
		"POST /v1/apis/upload": {"POST", "/v1/apis/upload?account=acme",
			typed{"application/json", []byte(pets)}, withKey},
		"POST /v1/apis/import": {"POST", "/v1/apis/import",
			jsonOf(wire.ImportAPI{Account: "acme", URL: target}), withKey},
		"PUT /v1/apis/{account}/{slug}/document": {"PUT", "/v1/apis/acme/pets/document",
			typed{"application/json", []byte(petsYAML)}, nil},
		"PUT /v1/stacks/{account}/{slug}/versions/{version}": {"PUT", site + "/versions/2.0.0", bundle(t, "2.0.0"), nil},
		"POST /v1/rate-limit": {"POST", "/v1/rate-limit?account=acme&botId=b",
			typed{"application/json", []byte(`{"minuteLimit": 1}`)}, nil},
	}
}

// withoutSample are writing routes without a request here: a caller takes from a budget
// and makes links and tokens with no role on acme, checks and a plan only read, a draft and presence need
// the role reader, to which some callers here are lowered, and a restoration has no body, as the deletion in
// TestWrites_WaitForARevocation. Those that need an admin are left out, too: the callers here are writers.
var withoutSample = map[wire.Op]bool{
	wire.OpTakeRateLimit: true, wire.OpCreateLink: true, wire.OpCreateToken: true,
	wire.OpRestoreProject: true, wire.OpCheckConfig: true, wire.OpCheckSettings: true, wire.OpPlanBaseFiles: true,
	wire.OpCreateDraft: true, wire.OpPutPresence: true,
}

// written describes all that the routes write.
func (h *testHub) written() string {
	h.Helper()
	var all []string
	for _, table := range []string{"resources", "projects", "revisions", "blobs", "apis", "stacks", "stack_versions",
		"bots", "answers", "audit", "drafts"} {
		all = append(all, fmt.Sprint(table, " ", h.count("SELECT count(*) FROM "+table)))
	}
	all = append(all, fmt.Sprint("changed configs ",
		h.count("SELECT count(*) FROM revisions WHERE by_user NOT IN ('', 'alice')")))
	all = append(all, fmt.Sprint("uploaded again ", h.count("SELECT count(*) FROM blobs WHERE at > 1")))
	return strings.Join(all, ", ")
}

// endings are the ways in which a caller loses what a request was admitted for.
var endings = map[string]struct {
	status int
	end    func(h *testHub, tx *store.Tx, user, token string) error
}{
	"the token is revoked": {401, func(h *testHub, tx *store.Tx, _, token string) error {
		_, err := tx.RevokeToken(pat.Hash(token))
		return err
	}},
	"the owner is disabled": {401, func(h *testHub, tx *store.Tx, user, _ string) error {
		_, err := tx.SetDisabled(user, true)
		return err
	}},
	"the role is lowered": {403, func(h *testHub, tx *store.Tx, user, _ string) error {
		return tx.SetMember("acme", user, "reader")
	}},
	"the role is removed": {403, func(h *testHub, tx *store.Tx, user, _ string) error {
		_, err := tx.RemoveMember("acme", user)
		return err
	}},
}

// passing is a writer on acme, for one test.
func (h *testHub) passing(name string) *caller {
	h.Helper()
	h.write(func(tx *store.Tx) error {
		if err := tx.CreateAccount(name, store.KindUser); err != nil {
			return err
		}
		return tx.SetMember("acme", name, "writer")
	})
	return h.with(h.token(name, wire.Scopes...))
}

func TestWrites_AreRefusedAfterRightsWereLost(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, pets) }))
	t.Cleanup(target.Close)
	eachWith(t, importer(target), func(t *testing.T, hub *testHub) {
		hub.project()
		former := strings.Trim(hub.settings(`{"a": 0}`), `"`)
		etag := hub.settings(`{"a": 1}`)
		hub.as("alice").push(map[string]string{"a": "stored"})
		hub.sql("UPDATE blobs SET at = 1") // so that a lease shows
		requests := writes(t, former, etag, target.URL)
		for _, e := range endpoints {
			route := e.Method + " " + e.Path
			if _, ok := requests[route]; !ok && !withoutSample[e.Op] && e.Account != wire.Anonymous && e.Role != wire.Admin &&
				e.Method != "GET" && e.Method != "DELETE" {
				t.Errorf("%s has no request here", route)
			}
		}
		before, n := hub.written(), 0
		for ending, e := range endings {
			for route, s := range requests {
				n++
				name := fmt.Sprintf("u%d", n)
				user := hub.passing(name)
				finish := s.send(user)
				hub.write(func(tx *store.Tx) error { return e.end(hub, tx, name, user.token) })
				if a := finish(); a.status != e.status {
					t.Errorf("%s: %s: status %d, want %d: %s", ending, route, a.status, e.status, a.body)
				}
				if after := hub.written(); after != before {
					t.Fatalf("%s: %s wrote something:\nbefore %s\nafter  %s", ending, route, before, after)
				}
			}
		}
	})
}

// A revocation comes first, and a request without a body is held up by nothing else between its
// admission and its transaction. On SQLite, that holds for one that is being made, too.
func TestWrites_WaitForARevocation(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for ending, e := range endings {
			name := "user-" + strings.Fields(ending)[3] + "-" + strings.Fields(ending)[1]
			user := hub.passing(name)
			refused := func(ending string) {
				if a, err := user.try("DELETE", web, nil); err != nil || a.status != e.status {
					t.Errorf("%s: %v, %+v", ending, err, a)
				}
			}
			var done sync.WaitGroup
			hub.write(func(tx *store.Tx) error {
				if err := e.end(hub, tx, name, user.token); err != nil {
					return err
				}
				if sqldb.Path(hub.address) != "" {
					done.Go(func() { refused(ending) })
				}
				return nil
			})
			done.Wait()
			refused(ending)
		}
		hub.as("rita").get(web).want(200)
	})
}
