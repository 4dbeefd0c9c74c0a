package hubserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

func mustRef(s string) ref.Ref {
	r, err := ref.Parse(s)
	if err != nil {
		panic(err)
	}
	return r
}

const emptyRevision = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

func TestCreateProject_Stores(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		created := hub.as("alice").post("/v1/projects",
			`{"account": "acme", "slug": "web", "stack": "acme/site", "api": {"account": "acme", "slug": "pets"}}`).want(201)
		p := decoded[wire.Project](created)
		want := wire.Project{
			Project: mustRef("@acme/web"), Stack: "acme/site", StackVersion: "latest", ResolvedStackVersion: "1.0.0",
			API: mustRef("@acme/pets"), Visibility: wire.Private, URL: publicURL + "/@acme/web", CreatedBy: "alice",
			CreatedAt: p.CreatedAt,
			Config:    wire.ConfigState{Edit: wire.Edit{Revision: emptyRevision}},
		}
		if diff := cmp.Diff(want, p, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		if p.CreatedAt.IsZero() || created.header.Get("Location") != web {
			t.Errorf("created at %v, Location %q", p.CreatedAt, created.header.Get("Location"))
		}
		if again := hub.as("rita").get(web).want(200); string(again.body) != string(created.body) {
			t.Errorf("a reader sees\n%s, the creator got\n%s", again.body, created.body)
		}
	})
}

func TestCreateProject_TakenNameIsConflict(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.settings(`{"a": 1}`)
		before := hub.as("alice").get(web).body
		other := newProject("web")
		other.Visibility, other.StackVersion = wire.Public, "9.9.9" // the conflict comes before what is wrong with the stack
		p := hub.as("anna").post("/v1/projects", other).problem(409, wire.CodeProjectExists)
		if !strings.Contains(p.Detail, "@acme/web") || p.Hint == "" {
			t.Errorf("%+v names no project or gives no hint", p)
		}
		if after := hub.as("alice").get(web).body; string(after) != string(before) {
			t.Errorf("the project was\n%s, and is\n%s", before, after)
		}
	})
}

func TestCreateProject_OneOfManyWins(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		token, hubs, tries := hub.as("alice").token, hub.replicas(t, 3), rounds(12, 100)
		for n := range rounds(1, 100) {
			count := atOnce(t, tries, func(i int) (*answer, error) {
				return hubs[i%len(hubs)].with(token).try("POST", "/v1/projects", newProject(fmt.Sprint("web-", n)))
			})
			if diff := cmp.Diff(map[int]int{201: 1, 409: tries - 1}, count); diff != "" {
				t.Fatal(diff)
			}
		}
		if n := hub.count("SELECT count(*) FROM projects"); n != rounds(1, 100) {
			t.Errorf("%d projects were created", n)
		}
		t.Logf("%d names, %d creators each, %d hubs", rounds(1, 100), tries, len(hubs))
	})
}

// atOnce asks n times at once, and counts the statuses of the answers.
func atOnce(t *testing.T, n int, ask func(i int) (*answer, error)) map[int]int {
	t.Helper()
	statuses := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			a, err := ask(i)
			if err != nil {
				t.Error(err)
				return
			}
			statuses[i] = a.status
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	return count
}

func TestCreateProject_FailureLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.write(func(tx *store.Tx) error { return tx.CreateAccount("other", store.KindOrg) })
		ok := `{"account": "acme", "slug": "web", "stack": "acme/site", "api": {"account": "acme", "slug": "pets"}`
		for name, c := range map[string]struct {
			body    string
			status  int
			code    wire.Code
			pointer string
		}{
			"no JSON":                {`{`, 400, wire.CodeInvalidJSON, ""},
			"nothing":                {``, 400, wire.CodeInvalidJSON, ""},
			"a member twice":         {ok + `, "slug": "x"}`, 400, wire.CodeInvalidJSON, ""},
			"invalid UTF-8":          {ok + ", \"visibility\": \"\xff\"}", 400, wire.CodeInvalidJSON, ""},
			"two values":             {ok + `} {}`, 400, wire.CodeInvalidJSON, ""},
			"an array":               {`[]`, 422, wire.CodeInvalidBody, ""},
			"null":                   {`null`, 422, wire.CodeInvalidBody, ""},
			"an unknown member":      {ok + `, "owner": "sam"}`, 422, wire.CodeInvalidBody, "/owner"},
			"a member in upper case": {ok + `, "VISIBILITY": "public"}`, 422, wire.CodeInvalidBody, "/VISIBILITY"},
			"a wrong type":           {ok + `, "visibility": 1}`, 422, wire.CodeInvalidBody, "/visibility"},
			"a read-only member":     {ok + `, "createdBy": "sam"}`, 422, wire.CodeInvalidBody, "/createdBy"},
			"no such visibility":     {ok + `, "visibility": "secret"}`, 422, wire.CodeInvalidBody, "/visibility"},
			"no version":             {ok + `, "stackVersion": "v1"}`, 422, wire.CodeInvalidBody, "/stackVersion"},
			"a bad slug":             {strings.Replace(ok, `"web"`, `"-web"`, 1) + `}`, 422, wire.CodeInvalidBody, "/slug"},
			"a null slug":            {strings.Replace(ok, `"web"`, `null`, 1) + `}`, 422, wire.CodeInvalidBody, "/slug"},
			"no account": {strings.Replace(ok, `"account": "acme", "slug": "web"`, `"slug": "web"`, 1) + `}`, 422,
				wire.CodeInvalidBody, "/account"},
			"a scoped stack": {strings.Replace(ok, `"acme/site"`, `"@acme/site"`, 1) + `}`, 422, wire.CodeInvalidBody,
				"/stack"},
			"no API": {`{"account": "acme", "slug": "web", "stack": "acme/site"}`, 422, wire.CodeInvalidBody,
				"/api"},
			"a null API": {`{"account": "acme", "slug": "web", "stack": "acme/site", "api": null}`, 422,
				wire.CodeInvalidBody, "/api"},
			"somebody else's account": {strings.Replace(ok, `"acme", "slug": "web"`, `"other", "slug": "web"`, 1) + `}`, 403,
				wire.CodeNotPermitted, ""},
			"somebody else's stack": {strings.Replace(ok, `"acme/site"`, `"other/site"`, 1) + `}`, 403, wire.CodeNotPermitted,
				""},
			"somebody else's API": {strings.Replace(ok, `{"account": "acme"`, `{"account": "other"`, 1) + `}`, 403,
				wire.CodeNotPermitted, ""},
			"an unknown stack": {strings.Replace(ok, `"acme/site"`, `"acme/none"`, 1) + `}`, 422,
				wire.CodeStackNotPublished, ""},
			"an unpublished version": {ok + `, "stackVersion": "1.0.1"}`, 422, wire.CodeStackNotPublished, ""},
			"an unknown API":         {strings.Replace(ok, `"pets"`, `"none"`, 1) + `}`, 422, wire.CodeAPINotFound, ""},
		} {
			p := hub.as("alice").post("/v1/projects", c.body).problem(c.status, c.code)
			if c.pointer != "" && (len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer) {
				t.Errorf("%s: blames %+v, want %s", name, p.Errors, c.pointer)
			}
		}
		if list := decoded[wire.Projects](hub.as("alice").get("/v1/projects?account=acme").want(200)); len(
			list.Projects) != 0 {
			t.Errorf("%+v came to be", list.Projects)
		}
	})
}

func TestCreateProject_NullMeansDefault(t *testing.T) {
	hub := one(t, nil)
	hub.catalog()
	p := decoded[wire.Project](hub.as("alice").post("/v1/projects",
		`{"account": "acme", "slug": "web", "stack": "acme/site", "stackVersion": null, "api": {"account": "acme", "slug": "pets"}, "visibility": null}`).want(201))
	if p.StackVersion != "latest" || p.Visibility != wire.Private {
		t.Errorf("version %s, %s", p.StackVersion, p.Visibility)
	}
}

func TestProject_ExactVersionStaysAndLatestFollows(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		pinned := newProject("pinned")
		pinned.StackVersion = "1.0.0"
		alice.post("/v1/projects", pinned).want(201)
		alice.put(site+"/versions/1.1.0", bundle(t, "1.1.0")).want(201)
		for path, want := range map[string]string{web: "1.1.0", "/v1/projects/acme/pinned": "1.0.0"} {
			if p := decoded[wire.Project](alice.get(path).want(200)); p.ResolvedStackVersion != want {
				t.Errorf("%s is on %s, want %s", path, p.ResolvedStackVersion, want)
			}
		}
	})
}

func TestDeleteProject_IsIdempotent(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		for _, existed := range []bool{true, false} {
			got := decoded[wire.Deleted](hub.as("alice").delete(web).want(200))
			if got.Existed != existed || got.RestorableUntil.IsZero() == existed {
				t.Errorf("answer %+v, want existed %v", got, existed)
			}
		}
	})
}

func TestListProjects_ShowsReadableProjectsInPages(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		alice := hub.as("alice")
		for i := range 5 {
			p := newProject(fmt.Sprintf("p%d", i))
			if i%2 == 0 {
				p.Visibility = wire.Public
			}
			alice.post("/v1/projects", p).want(201)
		}
		slugs := func(c *caller, query string) (all []string) {
			for {
				page := decoded[wire.Projects](c.get("/v1/projects?" + query).want(200))
				for _, p := range page.Projects {
					all = append(all, p.Project.Slug())
				}
				if page.NextCursor == "" {
					return all
				}
				query, _, _ = strings.Cut(query, "&cursor=")
				query += "&cursor=" + page.NextCursor
			}
		}
		everything, public := []string{"p0", "p1", "p2", "p3", "p4"}, []string{"p0", "p2", "p4"}
		for _, c := range []struct {
			who, query string
			want       []string
		}{
			{"rita", "", everything},
			{"rita", "account=acme", everything},
			{"rita", "account=acme&limit=2", everything},
			{"rita", "limit=1", everything},
			{"rita", "limit=5", everything},
			{"rita", "limit=200", everything},
			{"rita", "account=rita", nil},
			{"rita", "account=nobody", nil},
			{"sam", "", nil},
			{"sam", "account=acme", public},
			{"sam", "account=acme&limit=2", public},
		} {
			if diff := cmp.Diff(c.want, slugs(hub.as(c.who), c.query)); diff != "" {
				t.Errorf("%s asks for %q: %s", c.who, c.query, diff)
			}
		}
		for _, query := range []string{"limit=0", "limit=201", "limit=x", "limit=1.5", "cursor=x", "cursor=@acme",
			"account=ACME", "account=%00"} {
			alice.get("/v1/projects?"+query).problem(422, wire.CodeInvalidBody)
		}
	})
}

func TestWhoami(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		me := decoded[wire.Whoami](hub.with(hub.token("alice", wire.ScopeWriteConfig)).get("/v1/whoami").want(200))
		want := wire.Whoami{
			User: "alice", TokenName: "test", Scopes: []wire.Scope{wire.ScopeWriteConfig},
			Accounts: []wire.AccountRole{{Account: "acme", Role: wire.Writer}, {Account: "alice", Role: wire.Admin}},
		}
		if diff := cmp.Diff(want, me, cmp.Comparer(func(a, b ref.Ref) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		end := store.Time(4102444800000000) // 2100
		me = decoded[wire.Whoami](hub.with(hub.tokenUntil("sam", end)).get("/v1/whoami").want(200))
		if len(me.Scopes) != 0 || me.ExpiresAt == nil || !me.ExpiresAt.Equal(end.Time()) {
			t.Errorf("%+v, want no scope and the end %v", me, end.Time())
		}
		hub.write(func(tx *store.Tx) error { _, err := tx.SetDisabled("acme", true); return err })
		me = decoded[wire.Whoami](hub.as("alice").get("/v1/whoami").want(200))
		if diff := cmp.Diff([]wire.AccountRole{{Account: "alice", Role: wire.Admin}}, me.Accounts); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEditProject_ChangesOnlyWhatItNames(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.put(site+"/versions/1.1.0", bundle(t, "1.1.0")).want(201)
		alice.post("/v1/apis/upload?account=acme&slug=cats", pets).want(201)
		before := decoded[wire.Project](alice.get(web).want(200))
		for _, body := range []string{`{}`, `{"visibility": null, "stackVersion": ""}`,
			`{"visibility": "private", "stackVersion": "latest"}`} {
			if got := decoded[wire.Project](alice.patch(web, body).want(200)); got.Visibility != wire.Private ||
				got.StackVersion != "latest" || got.API != before.API {
				t.Errorf("%s: %+v", body, got)
			}
		}
		hub.with("").get(web).problem(401, wire.CodeUnauthorized)
		if got := decoded[wire.Project](
			alice.patch(web, `{"visibility": "public"}`).want(200)); got.Visibility != wire.Public ||
			got.StackVersion != "latest" {
			t.Errorf("%+v", got)
		}
		hub.with("").get(web).want(200)
		got := decoded[wire.Project](alice.patch(web,
			`{"stackVersion": "1.0.0", "api": {"account": "acme", "slug": "cats"}}`).want(200))
		if got.StackVersion != "1.0.0" || got.ResolvedStackVersion != "1.0.0" || got.API != mustRef("@acme/cats") ||
			got.Visibility != wire.Public || got.CreatedAt != before.CreatedAt {
			t.Errorf("%+v", got)
		}
		for body, code := range map[string]wire.Code{
			`{"visibility": "secret"}`: wire.CodeInvalidBody, `{"stackVersion": "v1"}`: wire.CodeInvalidBody,
			`{"slug": "X"}`: wire.CodeInvalidBody, `{"api": "acme/cats"}`: wire.CodeInvalidBody,
			`{"api": null}`:                                wire.CodeInvalidBody,
			`{"stackVersion": "9.9.9"}`:                    wire.CodeStackNotPublished,
			`{"api": {"account": "acme", "slug": "none"}}`: wire.CodeAPINotFound,
		} {
			alice.patch(web, body).problem(422, code)
		}
		alice.patch(web, `{"visibility": "private", "stackVersion": "9.9.9"}`).want(422)
		if after := decoded[wire.Project](alice.get(web).want(200)); after.Visibility != wire.Public ||
			after.StackVersion != "1.0.0" {
			t.Errorf("a refused edit left %+v", after)
		}
	})
}

const shop = "/v1/projects/acme/shop"

func TestRenameProject_TheFormerNameLeadsToIt(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, anna := hub.as("alice"), hub.as("anna")
		_, restricted := alice.create(wire.CreateToken{
			Name: "ci", Scopes: []wire.Scope{wire.ScopeWriteConfig}, Restriction: onlyProject("acme", "web"),
		})
		alice.patch(web, `{"slug": "shop"}`).problem(403, wire.CodeNotPermitted)
		p := decoded[wire.Project](anna.patch(web, `{"slug": "shop"}`).want(200))
		if p.Project != mustRef("@acme/shop") || p.URL != publicURL+"/@acme/shop" {
			t.Errorf("%+v", p)
		}
		alice.get(shop).want(200)
		a := alice.get(web + "/config/history?limit=5")
		if p := a.problem(308, wire.CodeRenamed); p.Detail != "@acme/web is @acme/shop now" {
			t.Error(p.Detail)
		}
		if to := a.header.Get("Location"); to != shop+"/config/history?limit=5" {
			t.Error(to)
		}
		// Writes go through, also those of a token that is restricted to the project.
		written := alice.put(web+"/client-config", `{"settings": {"title": "x"}}`).want(200)
		if at := written.header.Get("Content-Location"); at != shop+"/client-config" {
			t.Error(at)
		}
		restricted.put(web+"/client-config", `{"settings": {"title": "x"}}`).want(200)
		restricted.get(shop + "/config").want(200)
		anna.patch(web, `{"slug": "shop"}`).want(200)
		if copied := decoded[wire.Project](alice.post("/v1/projects", wire.CreateProject{
			Account: "acme", Slug: "copy", CopyOf: mustRef("@acme/web"),
		}).want(201)); copied.Stack != "acme/site" {
			t.Errorf("%+v", copied)
		}
		if made, _ := alice.create(wire.CreateToken{Name: "x",
			Restriction: onlyProject("acme", "web")}); made.Project != mustRef("@acme/shop") {
			t.Errorf("%+v", made)
		}

		// A chain leads to the last name, which another project does not get.
		anna.patch(shop, `{"slug": "store"}`).want(200)
		if to := alice.get(web).header.Get("Location"); to != "/v1/projects/acme/store" {
			t.Error(to)
		}
		anna.patch(web, `{"slug": "copy"}`).problem(409, wire.CodeProjectExists)

		// A former name is free: then it leads nowhere else.
		alice.post(web+"/restore", nil).problem(404, wire.CodeNotFound)
		alice.post(planned, newProject("web")).want(200)
		alice.post("/v1/projects", newProject("web")).want(201)
		if p := decoded[wire.Project](alice.get(web).want(200)); p.Config.HasConfig {
			t.Errorf("%+v", p)
		}
		anna.patch("/v1/projects/acme/store", `{"slug": "web"}`).problem(409, wire.CodeProjectExists)

		// What another project had is restored, or taken, and leads there no more.
		anna.delete(web).want(200)
		alice.get(web).problem(404, wire.CodeNotFound)
		anna.patch("/v1/projects/acme/store", `{"slug": "web"}`).want(200)
		alice.get(web).want(200)
		alice.get(shop).problem(308, wire.CodeRenamed)
		anna.post(web+"/restore", `{"as": "store"}`).want(200)
		if p := decoded[wire.Project](alice.get("/v1/projects/acme/store").want(200)); p.Config.HasConfig {
			t.Errorf("%+v", p)
		}
		// A deletion by a former name deletes the project.
		if d := decoded[wire.Deleted](anna.delete(shop).want(200)); d.Project != mustRef("@acme/web") || !d.Existed {
			t.Errorf("%+v", d)
		}
		alice.get(shop).problem(404, wire.CodeNotFound)
	})
}

func TestRenameProject_EveryGetIsSentOn(t *testing.T) {
	hub := one(t, nil)
	hub.project()
	hub.as("anna").patch(web, `{"slug": "shop"}`).want(200)
	for _, e := range slices.Concat(wire.Endpoints, page.Endpoints()) {
		if e.Method != http.MethodGet || e.Kind() != store.KindProject {
			continue
		}
		last := []string{"x"}[:strings.Count(e.Path, "{")-2]
		from, to := e.Expand(append([]string{"acme", "web"}, last...)...),
			e.Expand(append([]string{"acme", "shop"}, last...)...)
		if got := hub.as("rita").get(from).want(308).header.Get("Location"); got != to {
			t.Errorf("%s leads to %s", from, got)
		}
		// Whoever may not read the project does not get to know its name.
		for name, stranger := range map[string]*caller{"nobody": hub.with(""), "sam": hub.as("sam")} {
			if a := stranger.get(from); a.status == 308 || a.header.Get("Location") == to {
				t.Errorf("%s: %s leads to %s", name, from, to)
			}
		}
	}
	hub.as("anna").patch(shop, `{"visibility": "public"}`).want(200)
	if to := hub.with("").get("/@acme/web/history").want(308).header.Get("Location"); to != "/@acme/shop/history" {
		t.Error(to)
	}
	hub.with("").get(web+"/config").problem(308, wire.CodeRenamed)
	hub.with("").put(web+"/client-config", `{"settings": {"title": "x"}}`).problem(401, wire.CodeUnauthorized)
}

func TestEditProject_NeedsReaderOnWhatItBinds(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		alice := hub.as("alice")
		alice.post("/v1/projects", wire.CreateProject{Account: "alice", Slug: "mine", Stack: "acme/site",
			API: mustRef("@acme/pets")}).want(201)
		hub.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "alice"); return err })
		const mine = "/v1/projects/alice/mine"
		alice.patch(mine, `{"stackVersion": "1.0.0"}`).problem(403, wire.CodeNotPermitted)
		alice.patch(mine, `{"api": {"account": "acme", "slug": "none"}}`).problem(403, wire.CodeNotPermitted)
		alice.patch(mine,
			`{"visibility": "public", "stackVersion": "latest", "api": {"account": "acme", "slug": "pets"}}`).want(200)
	})
}

func TestEditProject_RefusesOtherBodies(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.patch(web, `{`).problem(400, wire.CodeInvalidJSON)
		alice.patch(web, `{"visibility": "public", "visibility": "private"}`).problem(400, wire.CodeInvalidJSON)
		alice.patch(web, typed{"text/plain", []byte(`{}`)}).problem(415, wire.CodeUnsupportedMediaType)
		alice.patch(web, `{"stackVersion": "`+strings.Repeat("1", 65<<10)+`"}`).problem(413, wire.CodeTooLarge)
	})
}

func TestListProjects_Searches(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").post("/v1/projects", newProject("portal")).want(201)
		for q, want := range map[string]string{"": "portal web", "PORT": "portal", "acme/w": "web", "none": "", "%25": ""} {
			var slugs []string
			for _, p := range decoded[wire.Projects](hub.as("alice").get("/v1/projects?q=" + q).want(200)).Projects {
				slugs = append(slugs, p.Project.Slug())
			}
			if got := strings.Join(slugs, " "); got != want {
				t.Errorf("%q finds %q, want %q", q, got, want)
			}
		}
		hub.as("alice").get("/v1/projects?q="+strings.Repeat("x", 130)).problem(422, wire.CodeInvalidBody)
	})
}
