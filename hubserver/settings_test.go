package hubserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func TestSettingsPage_ShowsTheProject(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.project()
		hub.as("alice").put(site+"/versions/1.1.0", bundle(t, "1.1.0")).want(201)
		alice := hub.session("alice")
		const path = "/@acme/web/settings"
		alice.patch(web, `{"visibility": "public", "stackVersion": "1.0.0"}`).want(200)
		shown := string(alice.get(path + "?saved=1").want(200).body)
		for _, text := range []string{
			"Saved.", `value="public" checked`, "<option selected>1.0.0</option>", "<option>latest</option>",
			"<option>1.1.0</option>", `value="@acme/pets"`, `data-method="PATCH" data-action="/v1/projects/acme/web"`,
			"tool project edit @acme/web --visibility public --stack-version 1.0.0 --api @acme/pets",
		} {
			if !strings.Contains(shown, text) {
				t.Errorf("the tab does not show %q:\n%s", text, shown)
			}
		}
		for _, who := range []*caller{hub.with(""), hub.session("rita"), hub.session("sam")} {
			if text := string(who.get(path).want(200).body); strings.Contains(text, "data-method") {
				t.Errorf("one who may not write sees %s", text)
			}
		}
	})
}

func TestSettingsPage_HidesVersionsOfUnreadableStack(t *testing.T) {
	each(t, func(t *testing.T, hub *testHub) {
		hub.catalog()
		hub.as("alice").post("/v1/projects",
			wire.CreateProject{Account: "alice", Slug: "mine", Stack: "acme/site", API: mustRef("@acme/pets")}).want(201)
		hub.write(func(tx *store.Tx) error { _, err := tx.RemoveMember("acme", "alice"); return err })
		alice := hub.session("alice")
		if text := string(alice.get("/@alice/mine/settings").want(200).body); strings.Contains(text, "1.0.0</option>") ||
			!strings.Contains(text, `name="stackVersion" value="latest"`) {
			t.Error(text)
		}
		const mine = "/v1/projects/alice/mine"
		alice.patch(mine, `{"stackVersion": "1.0.0"}`).problem(403, wire.CodeNotPermitted)
		// What the form sends without a change of the version.
		alice.patch(mine, `{"visibility": "public", "stackVersion": "latest",
			"api": {"account": "acme", "slug": "pets"}}`).want(200)
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
		for _, want := range []string{
			fmt.Sprintf("For %d days it can be restored; then it is gone.", days), "tool project restore @acme/web",
			"revokes the tokens that are restricted to it",
		} {
			if !strings.Contains(text, want) || strings.Contains(text, "cannot be") {
				t.Errorf("the tab does not say %q:\n%s", want, text)
			}
		}
		text = string(alice.get("/@acme/pr-7/settings").want(200).body)
		if !strings.Contains(text, "cannot be restored") || strings.Contains(text, "it can be restored") ||
			strings.Contains(text, "project restore") {
			t.Errorf("the tab of a project that expires: %s", text)
		}
	})
}
