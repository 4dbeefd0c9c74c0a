package hubserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/wire"
)

const restored = web + "/restore"

func TestRestoreProject_BringsBackAll(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		alice := hub.as("alice")
		alice.patch(web, `{"visibility": "public"}`).want(200)
		paths := []string{web, config, config + "/history", baseFiles, baseFiles + "/history"}
		var before []string
		for _, path := range paths {
			before = append(before, string(alice.get(path).want(200).body))
		}
		deleted := decoded[wire.Deleted](alice.delete(web).want(200))
		if days := time.Until(deleted.RestorableUntil).Hours() / 24; !deleted.Existed || days < 29.9 || days > 30.1 {
			t.Errorf("%+v", deleted)
		}
		for _, existed := range []bool{false, true} {
			if p := decoded[wire.Restored](alice.post(restored, nil).want(200)); p.Existed != existed ||
				p.Project != mustRef("@acme/web") {
				t.Errorf("%+v, want existed %v", p, existed)
			}
		}
		for i, path := range paths {
			if diff := cmp.Diff(before[i], string(alice.get(path).want(200).body)); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
		rows := hub.count(
			"SELECT count(*) FROM audit WHERE object = '@acme/web' AND action IN ('project.delete', 'project.restore')")
		if rows != 2 {
			t.Errorf("%d audit rows", rows)
		}
	})
}

// purge removes the one deleted project, which is no longer kept.
func (h *testHub) purge() {
	h.Helper()
	h.sql("UPDATE resources SET deleted_at = 1 WHERE deleted_at <> 0 AND kind = 'project'")
	if n, err := h.store.Purge(h.Context()); n != 1 || err != nil {
		h.Fatal(n, err)
	}
}

func TestRestoreProject_FailsWithoutTheProjectOrItsAPI(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.post("/v1/projects/acme/none/restore", nil).problem(404, wire.CodeNotFound)
		alice.delete(web).want(200)
		alice.delete("/v1/apis/acme/pets").want(200)
		alice.post(restored, nil).problem(409, wire.CodeAPINotFound)
		alice.post("/v1/apis/upload?account=acme&slug=pets", pets).want(201)
		alice.post(restored, nil).want(200)
		alice.delete(web).want(200)
		hub.purge()
		alice.post(restored, nil).problem(404, wire.CodeNotFound)
		alice.post("/v1/projects", newProject("web")).want(201)
	})
}

// An admin of an API allowed to publish it, not the one that has its name since.
func TestRestoreProject_PublishesNoOtherAPI(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice, anna := hub.as("alice"), hub.as("anna")
		anna.patch(web, `{"publicPreview": true}`).want(200)
		alice.delete(web).want(200)
		alice.post(restored, nil).want(200)
		if p := alice.get(web).project(); !p.PublicPreview {
			t.Error("the preview is no longer public, although nothing else changed")
		}
		alice.delete(web).want(200)
		alice.delete("/v1/apis/acme/pets").want(200)
		alice.post("/v1/apis/upload?account=acme&slug=pets", pets).want(201)
		alice.post(restored, nil).want(200)
		if p := alice.get(web).project(); p.PublicPreview {
			t.Error("the preview is public")
		}
		for detail, n := range map[string]int{"": 1, "the public preview ended: the API is another one": 1} {
			if got := hub.count("SELECT count(*) FROM audit WHERE action = 'project.restore' AND detail = '" + detail +
				"'"); got != n {
				t.Errorf("%d restorations are noted with %q, want %d", got, detail, n)
			}
		}
	})
}

// Of a deleted project nothing answers, and its name is free. Those who may restore it learn how.
func TestDeleteProject_LeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.furnished()
		alice := hub.as("alice")
		alice.patch(web, `{"visibility": "public"}`).want(200)
		tree := strings.Trim(alice.get(baseFiles).want(200).etag(), `"`)
		stream := alice.stream(events)
		alice.delete(web).want(200)
		for range stream.lines { // until the stream ends
		}
		for _, path := range []string{
			web, config, config + "/history", baseFiles, baseFiles + "/history", baseFiles + "/archive",
			baseFiles + "?tree=" + tree,
			web + "/preview/stack", web + "/preview/api", events,
		} {
			alice.get(path).want(404)
			if status := hub.with("").get(path).status; status != 401 {
				t.Errorf("%s: status %d for a stranger", path, status)
			}
		}
		for _, page := range []string{"", "/preview", "/files", "/files/a", "/history", "/settings"} {
			alice.get("/@acme/web" + page).want(404)
		}
		alice.put(clientCfg, `{"settings": {"a": 9}}`).problem(404, wire.CodeNotFound)
		alice.patch(config, `{"set": {"a": 9}}`, header{"If-Match": "*"}).problem(404, wire.CodeNotFound)
		alice.patch(web, `{"visibility": "private"}`).problem(404, wire.CodeNotFound)
		alice.put(baseFiles, archive(t, file{name: "a"})).problem(404, wire.CodeNotFound)
		alice.post("/v1/projects", copyOfWeb("copy")).problem(422, wire.CodeInvalidBody)
		for name, hint := range map[string]bool{"alice": true, "rita": false} {
			if p := hub.as(name).get(web).problem(404, wire.CodeNotFound); strings.Contains(p.Hint,
				"it can be restored until") != hint {
				t.Errorf("%s gets the hint %q", name, p.Hint)
			}
		}
		if list := decoded[wire.Projects](alice.get("/v1/projects").want(200)); len(list.Projects) != 0 {
			t.Errorf("it is listed: %+v", list)
		}
		alice.post("/v1/projects", newProject("web")).want(201)
		if p := alice.post(restored, nil).problem(409, wire.CodeProjectExists); !strings.Contains(p.Hint,
			"tool project restore @acme/web --as web-old") {
			t.Errorf("hint %q", p.Hint)
		}
		alice.post(restored, `{"as": "web-old"}`).want(200)
		alice.get("/v1/projects/acme/web-old/config").want(200)
	})
}

func TestListDeletedProjects_ShowsWhatTheCallerMayRestore(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		alice.post("/v1/projects", newProject("zoo")).want(201)
		for _, path := range []string{web, "/v1/projects/acme/zoo"} {
			alice.delete(path).want(200)
		}
		first := decoded[wire.DeletedProjects](alice.get("/v1/deleted-projects?limit=1").want(200))
		if len(first.Projects) != 1 || first.Projects[0].Project != mustRef("@acme/web") ||
			first.Projects[0].DeletedBy != "alice" || first.NextCursor != "@acme/web" {
			t.Errorf("%+v", first)
		}
		next := decoded[wire.DeletedProjects](alice.get("/v1/deleted-projects?account=acme&cursor=@acme/web").want(200))
		if len(next.Projects) != 1 || next.Projects[0].Project != mustRef("@acme/zoo") || next.NextCursor != "" {
			t.Errorf("%+v", next)
		}
		if other := decoded[wire.DeletedProjects](hub.as("rita").get("/v1/deleted-projects").want(200)); len(
			other.Projects) != 0 {
			t.Errorf("a reader sees %+v", other)
		}
		hub.as("rita").get("/v1/deleted-projects?account=acme").problem(403, wire.CodeNotPermitted)
		alice.get("/v1/deleted-projects?limit=0").problem(422, wire.CodeInvalidBody)
	})
}

// A temporary project's name is free again at once, for the preview of a pull request.
func TestDeleteProject_DoesNotKeepOneThatExpires(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		expiring := newProject("pr-7")
		expiring.ExpiresAt = time.Now().Add(time.Hour)
		for range 2 {
			hub.as("alice").post("/v1/projects", expiring).want(201)
			if d := decoded[wire.Deleted](
				hub.as("alice").delete("/v1/projects/acme/pr-7").want(200)); !d.RestorableUntil.IsZero() || !d.Existed {
				t.Errorf("%+v", d)
			}
		}
		if n := hub.count("SELECT count(*) FROM resources WHERE deleted_at <> 0"); n != 0 {
			t.Errorf("%d are kept", n)
		}
	})
}

func TestDeleteProject_SaysHowManyTokensEndWithIt(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		alice := hub.as("alice")
		_, restricted := alice.create(wire.CreateToken{Name: "ci", Restriction: onlyProject("acme", "web")})
		alice.create(wire.CreateToken{Name: "all"})
		if d := decoded[wire.Deleted](alice.delete(web).want(200)); d.RevokedTokens != 1 {
			t.Errorf("%+v", d)
		}
		alice.post(web+"/restore", `{}`).want(200)
		restricted.get(web).problem(401, wire.CodeTokenRevoked)
		if d := decoded[wire.Deleted](alice.delete(web).want(200)); d.RevokedTokens != 0 {
			t.Errorf("%+v", d)
		}
	})
}
