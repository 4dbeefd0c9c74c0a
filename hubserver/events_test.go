package hubserver_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
	"example.com/projecthub/store/storetest"
)

const events = web + "/events"

// eventStream is an open stream of events.
type eventStream struct {
	t      testing.TB
	lines  chan string // closed with the stream
	status int
	close  func()
}

// stream opens a stream of events, beside the client whose exchanges are recorded.
func (c *caller) stream(path string) *eventStream {
	c.hub.Helper()
	ctx, cancel := context.WithCancel(c.hub.Context())
	req, err := c.request("GET", path, nil)
	if err != nil {
		c.hub.Fatal(err)
	}
	transport := &http.Transport{}
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		c.hub.Fatal(err)
	}
	s := &eventStream{t: c.hub, lines: make(chan string, 100), status: resp.StatusCode}
	s.close = func() {
		cancel()
		resp.Body.Close()
		transport.CloseIdleConnections()
	}
	c.hub.Cleanup(s.close)
	go func() {
		defer close(s.lines)
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			s.lines <- lines.Text()
		}
	}()
	return s
}

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// next returns the next event, its name and its data; "" when the stream has ended.
func (s *eventStream) next() string {
	s.t.Helper()
	name := ""
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				return ""
			}
			if value, ok := strings.CutPrefix(line, "event: "); ok {
				name = value
			}
			if value, ok := strings.CutPrefix(line, "data: "); ok {
				return name + " " + value
			}
		case <-time.After(patience):
			s.t.Fatal("no event")
		}
	}
}

func (s *eventStream) want(text string) {
	s.t.Helper()
	if got := s.next(); got != text {
		s.t.Errorf("the event is %s, want %s", got, text)
	}
}

func configEvent(revision, by string, via wire.Via) string {
	return fmt.Sprintf(`config {"revision":"%s","by":"%s","via":"%s"}`, revision, by, via)
}

const emptyConfig = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

func init() {
	rows["GET /v1/projects/{account}/{slug}/events"] = row{public: true, role: wire.Reader,
		request: project("/events", nil), there: ok(200), absent: gone}
	rows["PUT /v1/projects/{account}/{slug}/presence"] = row{
		role: wire.Reader, request: project("/presence", tabAt("")), there: ok(200), absent: gone,
	}
}

// tabAt is a tab in which a key is edited.
func tabAt(key string) wire.PutPresence { return wire.PutPresence{Tab: "tab-0001", Key: key} }

func TestPresence_IsToldToMembers(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.publicProject("shop")
		const shop = "/v1/projects/acme/shop"
		alice, rita := hub.as("alice"), hub.as("rita")
		alone := decoded[wire.Presence](alice.put(shop+"/presence", tabAt("title")).want(200))
		if alone.People == nil || len(alone.People) != 0 {
			t.Errorf("%+v without anybody who follows the events", alone)
		}
		member, stranger := rita.stream(shop+"/events"), hub.as("sam").stream(shop+"/events")
		member.want(configEvent(emptyConfig, "", ""))
		stranger.want(configEvent(emptyConfig, "", ""))
		alice.put(shop+"/presence", tabAt("title")).want(200)
		member.want(`presence {"people":[{"user":"alice","key":"title"}]}`)
		both := decoded[wire.Presence](rita.put(shop+"/presence", tabAt("")).want(200))
		if diff := cmp.Diff([]wire.Person{{User: "alice", Key: "title"}, {User: "rita"}}, both.People); diff != "" {
			t.Error(diff)
		}
		member.want(`presence {"people":[{"user":"alice","key":"title"},{"user":"rita"}]}`)
		hub.as("sam").put(shop+"/presence", tabAt("")).problem(403, wire.CodeNotPermitted)

		hub.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "rita"); return err })
		alice.put(shop+"/presence", tabAt("colour")).want(200)
		alice.put(shop+"/client-config", `{"settings": {"a": 1}}`).want(200)
		for _, s := range []*eventStream{member, stranger} { // the former member is no longer told who is there
			s.want(configEvent(sha([]byte(`{"a":1}`)), "alice", wire.ViaPush))
		}
	})
}

func TestPresence_IsBounded(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	alice := hub.as("alice")
	alice.stream(events).want(configEvent(emptyConfig, "", ""))
	for i := range 10 {
		alice.put(web+"/presence", wire.PutPresence{Tab: fmt.Sprintf("tab-%04d", i)}).want(200)
	}
	alice.put(web+"/presence", tabAt("a")).want(200)
	alice.put(web+"/presence", wire.PutPresence{Tab: "tab-more"}).problem(429, wire.CodeRateLimited)
	hub.as("rita").put(web+"/presence", tabAt("")).want(200)
	alice.put(web+"/presence", wire.PutPresence{Tab: "x"}).problem(422, wire.CodeInvalidBody)
	alice.put(web+"/presence", tabAt(strings.Repeat("x", 1025))).problem(422, wire.CodeInvalidBody)
	refusesBodies(web+"/presence", alice.put)
}

func TestEvents_TellOfWrites(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		s := hub.as("rita").stream(events)
		s.want(configEvent(emptyConfig, "", ""))
		one := decoded[wire.ConfigWritten](hub.as("alice").put(clientCfg, `{"settings": {"a": 1}}`))
		s.want(configEvent(one.Revision, "alice", wire.ViaPush))
		tree := hub.pushFiles(file{name: "a", content: "alpha"})
		s.want(`base-files {"tree":"` + tree + `","by":"alice","via":"push"}`)
		other := hub.as("rita").stream(events) // begins with what there is
		other.want(configEvent(one.Revision, "alice", wire.ViaPush))
		other.want(`base-files {"tree":"` + tree + `","by":"alice","via":"push"}`)
		two := decoded[wire.ConfigWritten](hub.as("anna").patch(config, `{"set": {"a": 2}}`, header{"If-Match": "*"}))
		for _, s := range []*eventStream{s, other} {
			s.want(configEvent(two.Revision, "anna", wire.ViaAPI))
		}
		hub.as("anna").delete(web).want(200)
		for _, s := range []*eventStream{s, other} {
			s.want("")
		}
		hub.as("rita").do("HEAD", "/v1/projects/acme/none/events", nil).want(404)
	})
}

func TestEvents_TellOfWritesThroughOtherHubs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, address string) {
		hub := newHub(t, address, nil)
		hub.project()
		s := hub.as("rita").stream(events)
		s.want(configEvent(emptyConfig, "", ""))
		beside := storetest.Open(t, address)
		project := hub.resource("acme", store.KindProject, "web")
		before, err := beside.View(t.Context()).Newest(project, store.Config)
		if err != nil {
			t.Fatal(err)
		}
		write, err := store.PrepareConfig(before, []byte(`{"a":1}`), store.Author{User: "carol", Via: "page"})
		if err != nil {
			t.Fatal(err)
		}
		err = beside.Write(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.WriteConfig(project, write, store.Condition{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.want(configEvent(sha([]byte(`{"a":1}`)), "carol", wire.ViaPage))
	})
}

func TestEvents_EndWithTheCallersRights(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		hub := newHub(t, address, nil)
		hub.server.RecheckOften()
		hub.project()
		hub.publicProject("open")
		token := hub.token("rita")
		byToken := hub.with(token).stream(events)
		byRole := hub.as("alice").stream(events)
		anonymous := hub.with("").stream("/v1/projects/acme/open/events")
		for _, s := range []*eventStream{byToken, byRole, anonymous} {
			s.want(configEvent(emptyConfig, "", ""))
		}
		hub.revoke(token)
		byToken.want("")
		hub.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "alice"); return err })
		byRole.want("")
		hub.as("anna").patch("/v1/projects/acme/open", `{"visibility": "private"}`).want(200)
		anonymous.want("")
	})
}

func TestEvents_AreBounded(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	hub.publicProject("open")
	rita := hub.as("rita")
	var all []*eventStream
	for range 32 {
		s := rita.stream(events)
		s.want(configEvent(emptyConfig, "", ""))
		all = append(all, s)
	}
	rita.get(events).problem(429, wire.CodeRateLimited)
	hub.as("alice").stream(events).want(configEvent(emptyConfig, "", ""))
	all[0].close()
	for { // the hub has noticed that the caller is gone
		if s := rita.stream(events); s.status == 200 {
			break
		}
	}
}

func TestShutdown_EndsEvents(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := hub.server.HTTPServer(nil)
	go server.Serve(hub.server.Listener(listener))
	hub.url = "http://" + listener.Addr().String()
	s := hub.as("rita").stream(events)
	s.want(configEvent(emptyConfig, "", ""))
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want("")
}

func TestEvents_ReachBots(t *testing.T) {
	storetest.Each(t, func(t *testing.T, address string) {
		hub := newHub(t, address, nil)
		hub.server.RecheckOften()
		hub.project()
		s := hub.bot("acme", "watcher").stream(events)
		s.want(configEvent(emptyConfig, "", ""))
		one := decoded[wire.ConfigWritten](hub.as("alice").put(clientCfg, `{"settings": {"a": 1}}`))
		s.want(configEvent(one.Revision, "alice", wire.ViaPush))
		if other := hub.bot("alice", "foreign").stream(events); other.status != 403 {
			t.Errorf("status %d for a bot of another account", other.status)
		}
	})
}
