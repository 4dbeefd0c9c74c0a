package hubclient_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/wire"
)

// step answers one request.
type step func(w http.ResponseWriter, r *http.Request)

// lost is an answer that does not arrive.
var lost step = lose

func answered(status int, v any) step {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, v) }
}

func refused(status int, code wire.Code) step {
	return func(w http.ResponseWriter, _ *http.Request) { refuse(w, status, code) }
}

// play runs do in a bubble, with a hub that takes one step a request, and all of them.
func play(t *testing.T, steps []step, do func(ctx context.Context, c *hubclient.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n > len(steps) {
				t.Errorf("request %d is one too many: %s %s", n, r.Method, r.URL)
				refuse(w, 500, wire.CodeInternal)
				return
			}
			steps[n-1](w, r)
		})
		do(t.Context(), b.Client)
		if n := int(b.requests.Load()); n < len(steps) {
			t.Errorf("%d requests, want %d", n, len(steps))
		}
	})
}

var (
	former = revisionOf([]byte(`{"old":1}`))
	empty  = revisionOf([]byte(`{}`))
)

// changedTo refuses a condition, and says what is stored.
func changedTo(revision string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Hub-Version", "1.2.3")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(412)
		fmt.Fprintf(w, `{"status":412,"code":"revision_changed","detail":"the reason","current":{"revision":%q}}`, revision)
	}
}

func TestAmbiguous_412IsSuccessWhenOwnWriteWasApplied(t *testing.T) {
	holdsIt := changedTo(revisionOf(settings))
	body := wire.PutConfig{Settings: settings}
	done := wire.ConfigWritten{Project: project, Config: configOf(settings).Config, Revision: revisionOf(settings),
		EnrichmentCount: 1}
	over := done
	over.OverwroteExistingConfig = true
	over.Replaced = &wire.Replaced{Edit: wire.Edit{Revision: former}}
	for name, test := range map[string]struct {
		steps []step
		match string
		want  wire.ConfigWritten
	}{
		"over a config":      {[]step{lost, holdsIt}, former, over},
		"over an empty one":  {[]step{lost, holdsIt}, empty, done},
		"lost twice":         {[]step{lost, lost, holdsIt}, former, over},
		"lost, then refused": {[]step{lost, refused(429, wire.CodeRateLimited), holdsIt}, former, over},
		"behind a gateway":   {[]step{refused(504, wire.CodeUnavailable), holdsIt}, former, over},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, test.steps, func(ctx context.Context, c *hubclient.Client) {
				got, err := c.PutConfig(ctx, project, body, test.match)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, *got, cmp.Comparer(sameRef)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	t.Run("of a seed", func(t *testing.T) {
		made := answered(201, wire.Project{Project: project, API: project})
		play(t, []step{made, lost, holdsIt}, func(ctx context.Context, c *hubclient.Client) {
			created, err := c.CreateProject(ctx, create)
			if err != nil {
				t.Fatal(err)
			}
			got, err := created.SeedConfig(ctx, body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(done, *got, cmp.Comparer(sameRef)); diff != "" {
				t.Error(diff)
			}
		})
	})
}

func TestAmbiguous_412IsFailureWhenOthersWrote(t *testing.T) {
	other, own := changedTo(revisionOf([]byte(`{"title":"Away"}`))), changedTo(revisionOf(settings))
	for name, test := range map[string]struct {
		steps []step
		body  wire.PutConfig
	}{
		"the hub holds another": {[]step{lost, other}, wire.PutConfig{Settings: settings}},
		"the hub does not tell": {[]step{lost, refused(412, wire.CodeRevisionChanged)},
			wire.PutConfig{Settings: settings}},
		"no attempt was lost": {[]step{own}, wire.PutConfig{Settings: settings}},
		"the former attempt was refused": {[]step{refused(429, wire.CodeRateLimited), own},
			wire.PutConfig{Settings: settings}},
		"nothing was to be written": {[]step{lost, own}, wire.PutConfig{}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, test.steps, func(ctx context.Context, c *hubclient.Client) {
				_, err := c.PutConfig(ctx, project, test.body, former)
				if e := wantCode(t, err, wire.CodeRevisionChanged); e.Status != 412 || e.Detail != "the reason" {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

func TestAmbiguous_SeedIsSuccessOnlyWhenApplied(t *testing.T) {
	files, open := someFiles()
	lacks := wire.PlannedBaseFiles{Missing: digestsOf(files)}
	same := wire.PlannedBaseFiles{Current: files.Digest(), Unchanged: true}
	others := wire.PlannedBaseFiles{Current: former, Missing: digestsOf(files)}
	exists, rate := refused(412, wire.CodeSetExists), refused(429, wire.CodeRateLimited)
	seeded := answered(200, wire.BaseFilesWritten{Project: project, Tree: files.Digest(), BaseFilesPushed: 3, Added: 3})
	for name, test := range map[string]struct {
		plans []wire.PlannedBaseFiles
		steps []step
		ok    bool
	}{
		"it holds them":   {[]wire.PlannedBaseFiles{same}, []step{lost}, true},
		"it holds others": {[]wire.PlannedBaseFiles{others}, []step{lost, exists}, false},
		"it holds none":   {[]wire.PlannedBaseFiles{lacks}, []step{lost, seeded}, true},

		"no attempt was lost":            {nil, []step{exists}, false},
		"the former attempt was refused": {[]wire.PlannedBaseFiles{same}, []step{rate, exists}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps := append([]step{answered(201, wire.Project{Project: project, API: project})}, test.steps...)
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, n int) { steps[n-1](w, r) })
				plans := test.plans
				b.plan = func(w http.ResponseWriter, r *http.Request) {
					answer(w, 200, plans[0])
					plans = plans[1:]
				}
				created, err := b.CreateProject(t.Context(), create)
				if err != nil {
					t.Fatal(err)
				}
				written, err := created.SeedBaseFiles(t.Context(), hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
				if n := int(b.requests.Load()); n != len(steps) || len(plans) != 0 {
					t.Errorf("%d requests, want %d; %d plans too few", n, len(steps), len(plans))
				}
				if !test.ok {
					wantCode(t, err, wire.CodeSetExists)
					return
				}
				if err != nil || written.Tree != files.Digest() || written.BaseFilesPushed != 3 || written.Added != 3 {
					t.Errorf("%+v, %v", written, err)
				}
			})
		})
	}
}

func TestDeleteProject_IsAmbiguousWhenALostAttemptMayHaveDeleted(t *testing.T) {
	gone, deleted := answered(200, wire.Deleted{Project: project}),
		answered(200, wire.Deleted{Project: project, Existed: true})
	for name, test := range map[string]struct {
		steps              []step
		existed, ambiguous bool
	}{
		"deleted":                        {[]step{deleted}, true, false},
		"gone already":                   {[]step{gone}, false, false},
		"lost, then gone":                {[]step{lost, gone}, false, true},
		"lost, then deleted":             {[]step{lost, deleted}, true, false},
		"gateway gave up, then gone":     {[]step{refused(504, wire.CodeUnavailable), gone}, false, true},
		"refused for the rate, was gone": {[]step{refused(429, wire.CodeRateLimited), gone}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, test.steps, func(ctx context.Context, c *hubclient.Client) {
				if d, err := c.DeleteProject(ctx, project); err != nil || d.Existed != test.existed ||
					d.Ambiguous != test.ambiguous {
					t.Errorf("%+v, %v", d, err)
				}
			})
		})
	}
}

func TestAmbiguous_DeletionThatWasNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{Origin: "http://hub.example.com"},
			func(w http.ResponseWriter, _ *http.Request, _ int) {
				answer(w, 200, wire.Deleted{Project: project})
			})
		broken(refusedDial)(b)
		if d, err := b.DeleteProject(t.Context(), project); err != nil || d.Existed || d.Ambiguous {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

func TestAmbiguous_VersionPublishedByOwnAttempt(t *testing.T) {
	files, open := someFiles()
	published := wire.Published{StackVersion: wire.StackVersion{Version: "1.0.0"}}
	fresh, same := answered(201, published), answered(200, published)
	for name, test := range map[string]struct {
		steps              []step
		already, ambiguous bool
	}{
		"published":            {[]step{fresh}, false, false},
		"there before":         {[]step{same}, true, false},
		"lost, then there":     {[]step{lost, same}, true, true},
		"refused, then there":  {[]step{refused(429, wire.CodeRateLimited), same}, true, false},
		"lost, then published": {[]step{lost, fresh}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, test.steps, func(ctx context.Context, c *hubclient.Client) {
				set := hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}
				p, err := c.PublishVersion(ctx, project, "1.0.0", set)
				if err != nil || p.Already != test.already || p.Ambiguous != test.ambiguous {
					t.Errorf("%+v, %v", p, err)
				}
			})
		})
	}
}

func TestAmbiguous_WriteSaysSo(t *testing.T) {
	for _, c := range allCalls() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { lose(w, r) })
				e := wantCode(t, c.do(t.Context(), b.Client), hubclient.CodeUnreachable)
				if says := strings.Contains(e.Hint, "may have been applied"); says != c.write {
					t.Errorf("%s: the hint is %q", c.method, e.Hint)
				}
			})
		})
	}
}

func TestAmbiguous_DryRunIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request, _ int) { lose(w, r) })
		_, planned := b.PlanProject(t.Context(), create)
		_, checked := b.CheckConfig(t.Context(), project, wire.PutConfig{Settings: settings}, "")
		for _, err := range []error{planned, checked} {
			if e := wantCode(t, err, hubclient.CodeUnreachable); e.Hint != "" || hubclient.Unsettled(err) {
				t.Errorf("the hint is %q", e.Hint)
			}
		}
	})
}

func TestAmbiguous_UnsentWriteIsNotAmbiguous(t *testing.T) {
	proxy := &net.OpError{Op: "proxyconnect", Net: "tcp", Err: refusedDial}
	for says, err := range map[string]error{
		"connection refused": refusedDial,
		"proxyconnect tcp: dial tcp: connect: connection refused": proxy,
		"lookup hub: server misbehaving": dialFault(
			&net.DNSError{Err: "server misbehaving", Name: "hub", IsTemporary: true}),
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newHub(t, hubclient.Options{Origin: "https://hub.example.com", Token: token}, nil)
			dialled := 0
			b.dial = func(context.Context, string) (net.Conn, error) {
				dialled++
				return nil, err
			}
			_, err := b.DeleteProject(t.Context(), project)
			e := wantCode(t, err, hubclient.CodeUnreachable)
			if e.Hint != "" || dialled < 5 || e.Detail != b.Origin()+" cannot be reached: "+says {
				t.Errorf("%d times: %+v", dialled, e)
			}
		})
	}
}
