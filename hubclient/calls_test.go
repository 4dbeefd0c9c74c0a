package hubclient_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

func TestCalls_MatchContract(t *testing.T) {
	files, _ := someFiles()
	want := map[string]struct{ target, mediaType, body string }{
		"Whoami":   {"GET /v1/whoami", "", ""},
		"Limits":   {"GET /v1/openapi.json", "", ""},
		"Project":  {"GET /v1/projects/acme/web", "", ""},
		"Projects": {"GET /v1/projects?account=acme&limit=200", "", ""},
		"CreateProject": {"POST /v1/projects", "application/json",
			`{"account":"acme","slug":"web","stack":"acme/base","api":{"account":"acme","slug":"web"}}`},
		"EditProject":    {"PATCH /v1/projects/acme/web", "application/json", `{"visibility":"public"}`},
		"DeleteProject":  {"DELETE /v1/projects/acme/web", "", ""},
		"RestoreProject": {"POST /v1/projects/acme/web/restore", "application/json", `{"as":"web"}`},

		"DeletedProjects": {"GET /v1/deleted-projects?account=acme&limit=200", "", ""},

		"Config":         {"GET /v1/projects/acme/web/config", "", ""},
		"ConfigHistory":  {"GET /v1/projects/acme/web/config/history?limit=200", "", ""},
		"ConfigRevision": {"GET /v1/projects/acme/web/config?revision=" + revisionOf(settings), "", ""},
		"PutConfig": {"PUT /v1/projects/acme/web/client-config", "application/json",
			`{"settings":` + string(settings) + `}`},
		"RestoreConfig": {"PUT /v1/projects/acme/web/client-config?restore=1", "application/json",
			`{"settings":` + string(settings) + `}`},
		"CheckConfig": {"POST /v1/projects/acme/web/client-config?dryRun=1", "application/json",
			`{"settings":` + string(settings) + `}`},
		"CheckSettings": {
			"POST /v1/settings/check", "application/json",
			`{"schema":` + string(settings) + `,"settings":` + string(settings) + `}`,
		},
		"BaseFiles":      {"GET /v1/projects/acme/web/preview/base-files", "", ""},
		"PutBaseFiles":   {"PUT /v1/projects/acme/web/preview/base-files", wire.UploadType, "files"},
		"Stack":          {"GET /v1/stacks/acme/web", "", ""},
		"PublishVersion": {"PUT /v1/stacks/acme/web/versions/1.0.0", wire.UploadType, "files"},
		"UploadAPI":      {"POST /v1/apis/upload?account=acme", "application/octet-stream", "openapi: 3.1.0"},
		"ImportAPI": {"POST /v1/apis/import", "application/json",
			`{"account":"acme","url":"https://example.com/api.yaml"}`},
		"API":            {"GET /v1/apis/acme/web", "", ""},
		"UpdateAPI":      {"PUT /v1/apis/acme/web/document", "application/octet-stream", "openapi: 3.1.0"},
		"UpdateAPIFrom":  {"PUT /v1/apis/acme/web/document?url=https%3A%2F%2Fexample.com%2Fapi.yaml", "", ""},
		"DeleteAPI":      {"DELETE /v1/apis/acme/web", "", ""},
		"APIs":           {"GET /v1/apis?account=acme&limit=200", "", ""},
		"PatchConfig":    {"PATCH /v1/projects/acme/web/config", "application/json", `{"remove":["a"]}`},
		"RateLimit":      {"GET /v1/rate-limit?account=acme&botId=b", "", ""},
		"SetRateLimit":   {"POST /v1/rate-limit?account=acme&botId=b", "application/json", "{}"},
		"StartDevice":    {"POST /v1/device", "application/json", `{"client":"tool"}`},
		"DeviceToken":    {"POST /v1/device/token", "application/json", `{"deviceCode":"d"}`},
		"CreateLink":     {"POST /v1/links", "application/json", `{"page":"/@acme/web"}`},
		"Invite":         {"POST /v1/invitations", "application/json", `{"account":"acme","role":"writer"}`},
		"CreateToken":    {"POST /v1/tokens", "application/json", `{"name":"ci","project":{"account":"acme","slug":"web"}}`},
		"Tokens":         {"GET /v1/tokens", "", ""},
		"RevokeToken":    {"DELETE /v1/tokens/self", "", ""},
		"Members":        {"GET /v1/members?account=acme&limit=200", "", ""},
		"SetMember":      {"PUT /v1/members/acme/nora", "application/json", `{"role":"writer"}`},
		"RemoveMember":   {"DELETE /v1/members/acme/nora", "", ""},
		"Bots":           {"GET /v1/bots?account=acme&limit=200", "", ""},
		"CreateBot":      {"PUT /v1/bots/acme/web", "", ""},
		"CreateBotToken": {"POST /v1/bots/acme/web/tokens", "application/json", `{"name":"ci"}`},
		"BotTokens":      {"GET /v1/bots/acme/web/tokens", "", ""},
		"RevokeBotToken": {"DELETE /v1/bots/acme/web/tokens/1f0c2d9b8a77", "", ""},
		"DeleteBot":      {"DELETE /v1/bots/acme/web", "", ""},

		"BaseFilesRevision": {"GET /v1/projects/acme/web/preview/base-files?tree=" + files.Digest(), "", ""},

		"BaseFilesHistory": {"GET /v1/projects/acme/web/preview/base-files/history", "", ""},
		"RestoreBaseFiles": {"POST /v1/projects/acme/web/preview/base-files/restore", "application/json", `{"tree":"abc"}`},
	}
	for _, c := range allCalls() {
		t.Run(c.name, func(t *testing.T) {
			opts := hubclient.Options{Origin: origin, Token: token, UserAgent: "tool/9"}
			play1(t, opts, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if r.Header.Get("Content-Type") == wire.UploadType {
					body = []byte("files")
				}
				got := struct{ target, mediaType, body string }{r.Method + " " + r.RequestURI, r.Header.Get("Content-Type"),
					string(body)}
				if got != want[c.name] {
					t.Errorf("it is %+v", got)
				}
				h := r.Header
				if h.Get("Authorization") != "Bearer "+token || h.Get("User-Agent") != "tool/9" ||
					h.Get("Accept") != "application/json, application/problem+json" || h.Get("Accept-Encoding") != "" {
					t.Errorf("the header is %v", h)
				}
				c.success(w)
			}, func(ctx context.Context, b *hubclient.Client) {
				if err := c.do(ctx, b); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// play1 is play with options and one request.
func play1(t *testing.T, opts hubclient.Options, s step, do func(context.Context, *hubclient.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, opts, func(w http.ResponseWriter, r *http.Request, _ int) { s(w, r) })
		if do(t.Context(), b.Client); b.requests.Load() != 1 {
			t.Errorf("%d requests", b.requests.Load())
		}
	})
}

func TestCalls_WithoutTokenSendNone(t *testing.T) {
	play1(t, hubclient.Options{Origin: "http://hub.example.com"}, func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Header["Authorization"]; ok {
			t.Error("there is an Authorization")
		}
		answer(w, 200, wire.Whoami{User: "alice"})
	}, func(ctx context.Context, c *hubclient.Client) {
		if _, err := c.Whoami(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestCalls_SendConditions(t *testing.T) {
	body := wire.PutConfig{Settings: settings}
	files, open := someFiles()
	made := answered(201, wire.Project{Project: project, API: project})
	expect := func(header, value string, next step) step {
		return func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"If-Match", "If-None-Match"} {
				if got := r.Header.Get(name); name == header && got != value || name != header && got != "" {
					t.Errorf("%s %s: %s is %q", r.Method, r.URL, name, got)
				}
			}
			io.Copy(io.Discard, r.Body)
			next(w, r)
		}
	}
	steps := []step{
		expect("", "", answered(200, configOf(settings))),
		expect("If-None-Match", `"`+former+`"`, answered(200, configOf(settings))),
		expect("If-None-Match", `"`+former+`"`,
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Hub-Version", "1"); w.WriteHeader(304) }),
		expect("", "", answered(200, writtenOf(settings))),
		expect("If-Match", `"`+former+`"`, answered(200, writtenOf(settings))),
		expect("", "", made),
		expect("If-None-Match", "*", answered(200, writtenOf(settings))),
		expect("If-None-Match", "*", answered(200, wire.BaseFilesWritten{Project: project})),
		expect("", "", answered(200, wire.BaseFilesWritten{Project: project})),
	}
	play(t, steps, func(ctx context.Context, c *hubclient.Client) {
		for i, have := range []string{"", former, former} {
			if config, err := c.Config(ctx, project, have); err != nil || (config == nil) != (i == 2) {
				t.Errorf("%d: %+v, %v", i, config, err)
			}
		}
		for _, match := range []string{"", former} {
			if _, err := c.PutConfig(ctx, project, body, match); err != nil {
				t.Error(err)
			}
		}
		created, err := c.CreateProject(ctx, create)
		if err != nil {
			t.Fatal(err)
		}
		if created.Project().Project != project {
			t.Errorf("created %v", created.Project())
		}
		if _, err := created.SeedConfig(ctx, body); err != nil {
			t.Error(err)
		}
		if _, err := created.SeedBaseFiles(ctx, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}); err != nil {
			t.Error(err)
		}
		if _, err := c.Upload(project, hubclient.FileSet{Snapshot: files.Snapshot(), Open: open}).Put(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestCreateProject_Requires201AndSameProject(t *testing.T) {
	other := must(ref.New("acme", "other"))
	for name, s := range map[string]step{
		"200":             answered(200, wire.Project{Project: project, API: project}),
		"another project": answered(201, wire.Project{Project: other, API: project}),
		"no project":      answered(201, struct{}{}),
	} {
		t.Run(name, func(t *testing.T) {
			play(t, []step{s}, func(ctx context.Context, c *hubclient.Client) {
				_, err := c.CreateProject(ctx, create)
				wantCode(t, err, notAHub)
			})
		})
	}
	t.Run("an invalid name", func(t *testing.T) {
		play(t, nil, func(ctx context.Context, c *hubclient.Client) {
			_, err := c.CreateProject(ctx, wire.CreateProject{Account: "acme", Slug: "../x"})
			wantCode(t, err, hubclient.CodeInvalidName)
		})
	})
}

func TestBaseFiles_AbsentSetIsNil(t *testing.T) {
	absent := refused(404, wire.CodeNotFound)
	play(t, []step{absent, answered(200, wire.Project{Project: project, API: project})},
		func(ctx context.Context, c *hubclient.Client) {
			if set, err := c.BaseFiles(ctx, project); set != nil || err != nil {
				t.Errorf("%+v, %v", set, err)
			}
		})
	play(t, []step{absent, absent}, func(ctx context.Context, c *hubclient.Client) {
		_, err := c.BaseFiles(ctx, project)
		wantCode(t, err, wire.CodeNotFound)
	})
}

func TestProjects_ReadsAllPages(t *testing.T) {
	page := func(cursor string, slugs ...string) wire.Projects {
		p := wire.Projects{NextCursor: cursor}
		for _, slug := range slugs {
			p.Projects = append(p.Projects, wire.Project{Project: must(ref.New("acme", slug)), API: project})
		}
		return p
	}
	var asked []string
	turn := func(p wire.Projects) step {
		return func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Query().Get("cursor"))
			answer(w, 200, p)
		}
	}
	play(t, []step{turn(page("a b&c", "a", "b")), turn(page("", "c"))}, func(ctx context.Context, c *hubclient.Client) {
		all, err := c.Projects(ctx, "")
		var slugs []string
		for _, p := range all {
			slugs = append(slugs, p.Project.Slug())
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, slugs); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		if diff := cmp.Diff([]string{"", "a b&c"}, asked); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStackVersion_IsOnePathSegment(t *testing.T) {
	files, open := someFiles()
	play1(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if want := "/v1/stacks/acme/web/versions/" + url.PathEscape("../x?y#z"); r.RequestURI != want {
			t.Errorf("the path is %s", r.RequestURI)
		}
		refuse(w, 404, wire.CodeNotFound)
	}, func(ctx context.Context, c *hubclient.Client) {
		_, err := c.PublishVersion(ctx, project, "../x?y#z", hubclient.FileSet{Snapshot: files.Snapshot(), Open: open})
		wantCode(t, err, wire.CodeNotFound)
	})
}

func TestProblem_KeepsAllFields(t *testing.T) {
	const body = `{"type":"about:blank","title":"X","status":412,"detail":"the config\nis another","hint":"pull","code":"revision_changed","requestId":"r-1",
		"errors":[{"pointer":"/a","detail":"no"}],"current":{"revision":"r","updatedBy":"carol","updatedAt":"2026-01-02T03:04:05Z","updatedVia":"page"},"later":1}`
	want := hubclient.Error{
		Code: wire.CodeRevisionChanged, Status: 412, Detail: "the config is another", Hint: "pull", RequestID: "r-1",
		After:  7 * time.Second,
		Errors: []wire.FieldError{{Pointer: "/a", Detail: "no"}},
		Current: &wire.Edit{Revision: "r", UpdatedBy: "carol", UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			UpdatedVia: wire.ViaPage},
	}
	play1(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		raw(w, problem("412 X", body, "Retry-After: 7"))
	}, func(ctx context.Context, c *hubclient.Client) {
		_, err := c.Whoami(ctx)
		e := *failure(t, err)
		if diff := cmp.Diff(want, e, cmpopts.IgnoreUnexported(hubclient.Error{})); diff != "" {
			t.Error(diff)
		}
		if !hubclient.HasCode(err, wire.CodeNotFound, wire.CodeRevisionChanged) ||
			hubclient.HasCode(err, wire.CodeNotFound) || hubclient.HasCode(nil, "") {
			t.Error("HasCode does not agree")
		}
	})
}

func TestProblem_WithoutDetailNamesStatus(t *testing.T) {
	play1(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		raw(w, problem("418 I'm a kettle", `{"code":"short_and_stout"}`))
	}, func(ctx context.Context, c *hubclient.Client) {
		_, err := c.Whoami(ctx)
		if e := wantCode(t, err, "short_and_stout"); e.Detail != "the hub answered 418 I'm a teapot" {
			t.Error(e)
		}
	})
}

func TestProblem_KeepsTheHintOfTheHostOfPreviews(t *testing.T) {
	play1(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		raw(w, problem("421 X", `{"code":"unknown_route","detail":"only previews","hint":"the hub is at https://hub.test"}`))
	}, func(ctx context.Context, c *hubclient.Client) {
		_, err := c.Whoami(ctx)
		if e := failure(t, err); e.Hint != "the hub is at https://hub.test" {
			t.Errorf("the hint is %q", e.Hint)
		}
	})
}

func TestProblem_UnknownRouteMeansOlderHub(t *testing.T) {
	for name, body := range map[string]string{
		"route": `{"code":"unknown_route","detail":"no route","hint":"another"}`,
		"member": `{"code":"invalid_body","errors":[{"pointer":"/a","detail":"too long"},{"pointer":"/b","detail":"no such ` +
			`member"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			play1(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				raw(w, problem("404 X", body))
			}, func(ctx context.Context, c *hubclient.Client) {
				_, err := c.Whoami(ctx)
				if e := failure(t, err); e.Hint != "this program is newer than the hub (version 1.2.3): update the hub" {
					t.Errorf("the hint is %q", e.Hint)
				}
			})
		})
	}
}

func TestResponse_WithoutVersionIsNotAHub(t *testing.T) {
	for _, c := range allCalls() {
		play1(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			c.success(versionless{w})
		}, func(ctx context.Context, b *hubclient.Client) {
			e := wantCode(t, c.do(ctx, b), notAHub)
			if want := origin + " is not a hub (another web server answered)"; e.Detail != want {
				t.Errorf("%s: %v", c.name, e)
			}
		})
	}
}

func TestResponse_MissingMembersIsNotAHub(t *testing.T) {
	for _, c := range allCalls() {
		if slices.Contains([]string{"Projects", "DeletedProjects", "APIs", "ConfigHistory", "BaseFilesHistory", "Bots",
			"Tokens", "Members"}, c.name) { // an empty list or false is possible
			continue
		}
		status := http.StatusOK
		if c.method == http.MethodPost {
			status = http.StatusCreated
		}
		play1(t, hubclient.Options{}, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			answer(w, status, struct{}{})
		}, func(ctx context.Context, b *hubclient.Client) {
			if err := c.do(ctx, b); !hubclient.HasCode(err, notAHub) {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}

// versionless drops the header by which a hub is known.
type versionless struct{ http.ResponseWriter }

func (w versionless) WriteHeader(status int) {
	w.Header().Del("Hub-Version")
	w.ResponseWriter.WriteHeader(status)
}

func TestResponse_OfNewerHubIsRead(t *testing.T) {
	play1(t, hubclient.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		raw(w, ok(
			`{"user":"alice","mood":{"good":true},"accounts":[{"account":"acme","role":"owner","since":1}],"scopes":["write:later"]}`))
	}, func(ctx context.Context, c *hubclient.Client) {
		me, err := c.Whoami(ctx)
		if err != nil || me.User != "alice" || me.Accounts[0].Role != "owner" || me.Scopes[0] != "write:later" {
			t.Errorf("%+v, %v", me, err)
		}
	})
}

func TestTrace_EveryAttempt(t *testing.T) {
	var traced []hubclient.Attempt
	opts := hubclient.Options{Origin: origin, Token: token,
		Trace: func(a hubclient.Attempt) { traced = append(traced, a) }}
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, opts, func(w http.ResponseWriter, r *http.Request, n int) {
			switch n {
			case 1:
				lose(w, r)
			case 2:
				pass(r.Context(), 3*time.Second)
				w.Header().Set("X-Request-Id", "r2")
				refuse(w, 503, wire.CodeUnavailable)
			default:
				w.Header().Set("X-Request-Id", "r\u00853"+strings.Repeat("x", 1_000))
				answer(w, 200, wire.Projects{})
			}
		})
		if _, err := b.Projects(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
	})
	if len(traced) != 3 {
		t.Fatalf("%+v", traced)
	}
	last := &traced[2]
	if len(last.RequestID) > 300 || !strings.HasPrefix(last.RequestID, "r 3xx") {
		t.Errorf("the request id is %q", last.RequestID)
	}
	last.RequestID = "r3"
	for i := range traced {
		traced[i].HubVersion = ""
	}
	want := []hubclient.Attempt{
		{Method: "GET", Path: "/v1/projects"},
		{Method: "GET", Path: "/v1/projects", Status: 503, Took: 3 * time.Second, RequestID: "r2"},
		{Method: "GET", Path: "/v1/projects", Status: 200, RequestID: "r3"},
	}
	if diff := cmp.Diff(want, traced); diff != "" {
		t.Error(diff)
	}
}

func TestCall_WaitsForBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before time.Time
		answers := 0
		opts := hubclient.Options{Origin: origin, Token: token, Before: func() func() {
			time.Sleep(time.Second)
			before = time.Now()
			return func() { answers++ }
		}}
		b := newHub(t, opts, func(w http.ResponseWriter, r *http.Request, n int) {
			if before.IsZero() {
				t.Errorf("%s %s comes before", r.Method, r.URL.Path)
			}
			before = time.Time{}
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable) // is tried again
				return
			}
			answer(w, 200, wire.Whoami{User: "alice"})
		})
		if _, err := b.Whoami(t.Context()); err != nil || b.requests.Load() != 2 || answers != 2 {
			t.Errorf("%v after %d attempts, %d answers", err, b.requests.Load(), answers)
		}
		if err := b.DownloadBaseFiles(t.Context(), project, &wire.BaseFiles{}, nil); err == nil {
			t.Error("files came from nowhere")
		}
	})
}

// A proxy may answer with the response to another request.
func TestWrite_ResponseAboutAnotherIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		response any
		call     func(context.Context, *hubclient.Client) error
	}{
		"token": {wire.RevokedToken{ID: "ffffffffffff", Self: true}, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.RevokeToken(ctx, "1f0c2d9b8a77")
			return err
		}},
		"token of a bot": {wire.RevokedBotToken{Bot: project.String(), ID: "ffffffffffff"},
			func(ctx context.Context, c *hubclient.Client) error {
				_, err := c.RevokeBotToken(ctx, project, "1f0c2d9b8a77")
				return err
			}},
		"member": {wire.Member{User: "bob", Role: wire.Writer}, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.SetMember(ctx, "acme", "nora", wire.Writer)
			return err
		}},
		"role": {wire.Member{User: "nora", Role: wire.Admin}, func(ctx context.Context, c *hubclient.Client) error {
			_, err := c.SetMember(ctx, "acme", "nora", wire.Writer)
			return err
		}},
		"removed member": {wire.RemovedMember{Account: "acme", User: "bob", Existed: true},
			func(ctx context.Context, c *hubclient.Client) error {
				_, err := c.RemoveMember(ctx, "acme", "nora")
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, []step{answered(200, test.response)}, func(ctx context.Context, c *hubclient.Client) {
				wantCode(t, test.call(ctx, c), hubclient.CodeNotAHub)
			})
		})
	}
}

func TestRevokeToken_OwnTokenIsRevokedAfterALostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHub(t, hubclient.Options{Origin: origin, Token: token}, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				lose(w, r)
				return
			}
			refuse(w, 401, wire.CodeTokenRevoked)
		})
		if got, err := b.RevokeToken(t.Context(), wire.TokenSelf); err != nil || !got.Self {
			t.Errorf("%+v, %v", got, err)
		}
		_, err := b.RevokeToken(t.Context(), "1f0c2d9b8a77")
		wantCode(t, err, wire.CodeTokenRevoked)
	})
}

func TestTokenExpires_IsToldWhenAResponseStatesIt(t *testing.T) {
	var told []time.Time
	opts := hubclient.Options{Origin: origin, Token: token,
		Trace: func(a hubclient.Attempt) { told = append(told, a.TokenExpires) }}
	end := time.Date(2027, 2, 20, 10, 0, 0, 0, time.UTC)
	hub := newHub(t, opts, func(w http.ResponseWriter, _ *http.Request, n int) {
		if field := []string{end.Format(http.TimeFormat), "", "soon"}[n-1]; field != "" {
			w.Header().Set(wire.TokenExpires, field)
		}
		answer(w, 200, wire.Whoami{User: "alice"})
	})
	for range 3 {
		if _, err := hub.Whoami(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(told, []time.Time{end, {}, {}}) {
		t.Errorf("%v", told)
	}
}
