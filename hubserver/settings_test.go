package hubserver_test

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func TestSettingsPage_ChangesTheProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(site+"/versions/1.1.0", bundle(t, "1.1.0")).want(201)
		alice := hub.session("alice")
		const path = "/@acme/web/settings"
		saved := alice.post(path, form("visibility", "public", "stackVersion", "1.0.0", "api", " @acme/pets ")).want(303)
		if got := saved.header.Get("Location"); got != path+"?saved=1" {
			t.Errorf("it leads to %q", got)
		}
		project := decoded[wire.Project](hub.with("").get(web).want(200))
		if project.Visibility != wire.Public || project.StackVersion != "1.0.0" {
			t.Errorf("%+v", project)
		}
		shown := string(alice.get(path + "?saved=1").want(200).body)
		for _, text := range []string{"Saved.", `value="public" checked`, "<option selected>1.0.0</option>", "<option>latest</option>", "<option>1.1.0</option>", `value="@acme/pets"`, "tool project rm @acme/web",
			"tool project edit @acme/web --visibility public --stack-version 1.0.0 --api @acme/pets"} {
			if !strings.Contains(shown, text) {
				t.Errorf("the tab does not show %q:\n%s", text, shown)
			}
		}
		for _, c := range []struct{ stackVersion, api, want string }{
			{"9.9.9", "@acme/pets", "The stack @acme/site has no published version 9.9.9."},
			{"latest", "@acme/none", "The API @acme/none is not registered here."},
			{`"><script>x</script>`, "@acme/pets", "is neither latest nor a version"},
			{"latest", "pets", "pets"},
		} {
			text := html.UnescapeString(string(alice.post(path, form("visibility", "private", "stackVersion", c.stackVersion, "api", c.api)).want(422).body))
			if !strings.Contains(text, c.want) || !strings.Contains(text, `value="private" checked`) || !strings.Contains(text, `value="`+c.api+`"`) {
				t.Errorf("%+v: %s", c, text)
			}
		}
		alice.post(path, form("visibility", "secret")).want(422)
		if decoded[wire.Project](hub.with("").get(web).want(200)) != project {
			t.Error("a refused form changed the project")
		}
		for _, who := range []*caller{hub.with(""), hub.session("rita"), hub.session("sam"), hub.session("alice", wire.ScopeWriteConfig)} {
			if status := who.post(path, form("visibility", "private")).status; status != 401 && status != 403 {
				t.Errorf("status %d", status)
			}
		}
		if text := string(hub.session("rita").get(path).want(200).body); strings.Contains(text, "<form class=\"settings\"") || strings.Contains(text, "project rm") {
			t.Errorf("a reader sees %s", text)
		}
	})
}

func TestSettingsPage_HidesVersionsOfUnreadableStack(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.as("alice").post("/v1/projects", wire.CreateProject{Account: "alice", Slug: "mine", Stack: "acme/site", API: mustRef("@acme/pets")}).want(201)
		hub.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "alice"); return err })
		alice := hub.session("alice")
		if text := string(alice.get("/@alice/mine/settings").want(200).body); strings.Contains(text, "1.0.0</option>") || !strings.Contains(text, `name="stackVersion" value="latest"`) {
			t.Error(text)
		}
		alice.post("/@alice/mine/settings", form("stackVersion", "1.0.0")).want(403)
		alice.post("/@alice/mine/settings", form("visibility", "public", "stackVersion", "latest", "api", "@acme/pets")).want(303)
	})
}

func TestSettingsPage_SaysWhetherADeletedProjectCanBeRestored(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		expiring := newProject("pr-7")
		expiring.ExpiresAt = time.Now().Add(time.Hour)
		hub.as("alice").post("/v1/projects", expiring).want(201)
		alice := hub.session("alice")
		text := string(alice.get("/@acme/web/settings").want(200).body)
		days := int(store.KeptDeleted.Hours() / 24)
		want := fmt.Sprintf("It can be restored for %d days: <code>tool project restore @acme/web</code>.", days)
		if !strings.Contains(text, want) || strings.Contains(text, "cannot be") {
			t.Errorf("the tab does not say %q:\n%s", want, text)
		}
		text = string(alice.get("/@acme/pr-7/settings").want(200).body)
		if !strings.Contains(text, "cannot be restored") || strings.Contains(text, "can be restored") {
			t.Errorf("the tab of a project that expires: %s", text)
		}
	})
}
