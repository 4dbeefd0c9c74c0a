package hubserver_test

import (
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
)

// copyOfWeb is the body that makes @acme/<slug> a copy of @acme/web.
func copyOfWeb(slug string) wire.CreateProject {
	return wire.CreateProject{Account: "acme", Slug: slug, CopyOf: mustRef("@acme/web")}
}

// furnished makes @acme/web with settings and base files, and returns the digest of these.
func (h *testHub) furnished() (digest string) {
	h.Helper()
	h.project()
	h.settings(`{"a": 1, "b": "two"}`)
	h.as("alice").push(map[string]string{"src/index.html": "<h1>", "empty": "", "same": "<h1>"})
	return h.as("alice").get(web).project().BaseFiles.Tree
}

func (a *answer) project() wire.Project {
	a.t.Helper()
	return decoded[wire.Project](a)
}

func TestCreateProject_CopiesWithBlobsOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		tree := hub.furnished()
		source := hub.as("alice").get(web).project()
		p := hub.as("alice").post("/v1/projects", copyOfWeb("pr-7")).want(201).project()
		if p.Stack != source.Stack || p.StackVersion != source.StackVersion || p.API != source.API ||
			p.Visibility != wire.Private {
			t.Errorf("%+v is no copy of %+v", p, source)
		}
		if p.Config.Revision != source.Config.Revision || p.Config.UpdatedVia != wire.ViaCreate ||
			p.Config.UpdatedBy != "alice" || p.BaseFiles == nil || p.BaseFiles.Tree != tree {
			t.Errorf("config %+v, base files %+v, want those of %+v", p.Config, p.BaseFiles, source)
		}
		if n := hub.count(
			"SELECT count(*) FROM blobs b JOIN resources r ON r.id = b.resource_id WHERE r.slug = 'pr-7'"); n != 2 {
			t.Errorf("the copy has %d blobs, want 2", n)
		}
		// What happens to one of them does not happen to the other.
		hub.settings(`{"a": 2}`)
		hub.as("anna").delete(web).want(200)
		hub.purge()
		copied := "/v1/projects/acme/pr-7"
		if c := decoded[wire.Config](hub.as("alice").get(copied + "/config").want(200)); string(
			c.Config) != `{"a":1,"b":"two"}` {
			t.Errorf("the copy's config is %s", c.Config)
		}
		hub.as("alice").get(copied + "/preview/base-files/archive").want(200)
		for _, history := range []string{"/config/history", "/preview/base-files/history"} {
			if a := hub.as("alice").get(copied + history).want(200); strings.Count(string(a.body), `"updatedBy"`) != 1 {
				t.Errorf("%s of the copy: %s", history, a.body)
			}
		}
	})
}

func TestCreateProject_CopiesToAnotherAccount(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		tree := hub.furnished()
		req := wire.CreateProject{Account: "alice", Slug: "mine", CopyOf: mustRef("@acme/web")}
		for range 2 {
			p := hub.as("alice").post("/v1/projects", req).want(201).project()
			if p.BaseFiles == nil || p.BaseFiles.Tree != tree {
				t.Fatalf("base files %+v, want %s", p.BaseFiles, tree)
			}
			a := hub.as("alice").get("/v1/projects/alice/" + req.Slug + "/preview/base-files/archive").want(200)
			if !strings.Contains(string(a.body), "<h1>") {
				t.Errorf("%q", a.body)
			}
			req.Slug = "second"
		}
		if n := hub.count(
			"SELECT count(*) FROM blobs b JOIN resources r ON r.id = b.resource_id WHERE r.slug IN ('mine', 'second')"); n != 4 {
			t.Errorf("the copies have %d blobs, want 4", n)
		}
	})
}

func TestCreateProject_CopyNeverChangesAProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		hub.as("alice").post("/v1/projects", newProject("other")).want(201)
		before := hub.as("alice").get("/v1/projects/acme/other").body
		hub.as("alice").post("/v1/projects", copyOfWeb("other")).problem(409, wire.CodeProjectExists)
		hub.as("alice").post("/v1/projects", copyOfWeb("web")).problem(409, wire.CodeProjectExists)
		if after := hub.as("alice").get("/v1/projects/acme/other").body; string(after) != string(before) {
			t.Errorf("the project was\n%s, and is\n%s", before, after)
		}
	})
}

func TestCreateProject_CopyNeedsRightsOnAllItBinds(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		hub.publicProject("open")
		to := func(account string, source string) wire.CreateProject {
			return wire.CreateProject{Account: account, Slug: "copy", CopyOf: mustRef(source)}
		}
		hub.as("rita").post("/v1/projects", to("acme", "@acme/web")).problem(403, wire.CodeNotPermitted)
		hub.as("sam").post("/v1/projects", to("sam", "@acme/web")).problem(403, wire.CodeNotPermitted)
		hub.as("sam").post("/v1/projects", to("sam", "@acme/none")).problem(403, wire.CodeNotPermitted)
		// Everyone may read a public project, but not the stack and the API that it uses.
		hub.as("sam").post("/v1/projects", to("sam", "@acme/open")).problem(403, wire.CodeNotPermitted)
		hub.as("rita").post("/v1/projects", to("rita", "@acme/open")).want(201)
		hub.with(hub.token("alice", wire.ScopeWriteConfig)).post("/v1/projects", to("acme", "@acme/web")).problem(403,
			wire.CodeMissingScope)
	})
}

func TestCreateProject_RefusesMalformedCopies(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		start := `{"account": "acme", "slug": "copy", "copyOf": {"account": "acme", "slug": "web"}`
		for body, pointer := range map[string]string{
			start + `, "stack": "acme/site"}`:                           "/stack",
			start + `, "stackVersion": "latest"}`:                       "/stackVersion",
			start + `, "api": {"account": "acme", "slug": "pets"}}`:     "/api",
			start + `, "visibility": "secret"}`:                         "/visibility",
			start + `, "expiresAt": "2001-02-03T04:05:06Z"}`:            "/expiresAt",
			start + `, "expiresAt": "tomorrow"}`:                        "/expiresAt",
			strings.Replace(start, `"web"`, `"none"`, 1) + `}`:          "/copyOf",
			strings.Replace(start, `"slug": "copy", `, "", 1) + `}`:     "/slug",
			strings.Replace(start, `"account": "acme", `, "", 1) + `}`:  "/account",
			strings.Replace(start, `"web"`, `"web", "x": 1`, 1) + `}`:   "/copyOf/x",
			`{"account": "acme", "slug": "copy", "copyOf": "acme/web"}`: "/copyOf",
		} {
			p := hub.as("alice").post("/v1/projects", body).problem(422, wire.CodeInvalidBody)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
				t.Errorf("%s: %+v, want %s", body, p.Errors, pointer)
			}
		}
		if n := hub.count("SELECT count(*) FROM projects"); n != 1 {
			t.Errorf("%d projects", n)
		}
	})
}

func TestCreateProject_RefusesCredentialsBeforeItCopiesFiles(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		hub.settings(`{"key": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}`)
		stored := hub.count("SELECT count(*) FROM blobs")
		public := copyOfWeb("copy")
		public.Visibility = wire.Public
		hub.as("alice").post("/v1/projects", public).problem(422, wire.CodeSecretFound)
		if n := hub.count("SELECT count(*) FROM blobs"); n != stored {
			t.Errorf("%d blobs were copied", n-stored)
		}
	})
}

func TestCreateProject_CopyEnforcesTheSchemaToo(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		hub.as("anna").patch(web, `{"enforceSchema": true}`).want(200)
		if p := hub.as("alice").post("/v1/projects", copyOfWeb("copy")).want(201).project(); !p.EnforceSchema {
			t.Error("a copy accepts settings that its source refuses")
		}
	})
}

func TestDeleteExpired_DeletesInTime(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		expiring := copyOfWeb("pr-7")
		expiring.ExpiresAt = time.Now().Add(time.Hour).Truncate(time.Second).UTC()
		p := hub.as("alice").post("/v1/projects", expiring).want(201).project()
		if !p.ExpiresAt.Equal(expiring.ExpiresAt) {
			t.Errorf("expires at %v, want %v", p.ExpiresAt, expiring.ExpiresAt)
		}
		kept := copyOfWeb("pr-8")
		kept.ExpiresAt = expiring.ExpiresAt.Add(time.Hour)
		hub.as("alice").post("/v1/projects", kept).want(201)
		deleteExpired := func(want int) {
			t.Helper()
			if n, err := hub.server.DeleteExpired(t.Context()); n != want || err != nil {
				t.Errorf("deleted %d, %v, want %d", n, err, want)
			}
		}
		deleteExpired(0)
		hub.as("alice").get("/v1/projects/acme/pr-7").want(200)
		hub.sql("UPDATE projects SET expires_at = 1 WHERE id = (SELECT id FROM resources WHERE slug = 'pr-7')")
		deleteExpired(1)
		deleteExpired(0)
		hub.as("alice").get("/v1/projects/acme/pr-7").problem(404, wire.CodeNotFound)
		hub.as("alice").get("/v1/projects/acme/pr-8").want(200)
		if n := hub.count(
			"SELECT count(*) FROM audit WHERE action = 'project.delete' AND object = '@acme/pr-7' AND detail = 'expired'"); n != 1 {
			t.Errorf("%d rows in the audit", n)
		}
		// A project of the same name that is created later does not expire.
		hub.as("alice").post("/v1/projects", copyOfWeb("pr-7")).want(201)
		deleteExpired(0)
	})
}

func TestDeleteExpired_RemovesBlobs(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		expiring := newProject("pr-7")
		expiring.ExpiresAt = time.Now().Add(time.Hour)
		hub.as("alice").post("/v1/projects", expiring).want(201)
		hub.as("alice").put("/v1/projects/acme/pr-7/preview/base-files", archive(t, file{name: "a", content: "x"})).want(200)
		hub.sql("UPDATE projects SET expires_at = 1 WHERE expires_at <> 0")
		if _, err := hub.server.DeleteExpired(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := hub.count(
			"SELECT count(*) FROM blobs b JOIN resources r ON r.id = b.resource_id WHERE r.kind = 'project'"); n != 0 {
			t.Errorf("%d blobs are left", n)
		}
	})
}
