package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/api"
	"example.com/projecthub/hubclient/wire"
)

func TestList(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(api.Command, "list").Done().Prints("No APIs that you can see")
	w.Project(`{"title": "hub"}`)
	w.Run(api.Command, "list").Done().Prints("@alice/", "openapi-3", "by alice")
	w.Run(api.Command, "list", "@alice", "--json").Done().Prints(`"type":"apis"`, `"title":"Web"`)
	w.Run(api.Command, "list", "bob", "--json").Fails("not_permitted", "list")
	w.Run(api.Command, "list", "Not An Account").Exits(2)
}

func TestView(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Run(api.Command, "view", "@alice/web").Done().Prints("@alice/web", "title        Web", "registered")
	w.Local("@alice/web", `{}`)
	w.Run(api.Command, "view", "--json").Fails("invalid_file", "api")
	w.Write(".tool/web/client.json", `{"api": "@alice/web", "settings": {}}`)
	w.Run(api.Command, "view", "--json").Done().Prints(`"type":"api"`, `"title":"Web"`)
	f := w.Run(api.Command, "view", "@alice/none", "--json").Fails("not_found", "view")
	if !strings.Contains(fmt.Sprint(f["recipe"]), "api list alice") {
		t.Errorf("%v", f)
	}
	for _, args := range [][]string{{"view", "pets"}, {"rm", "pets"}, {"update", "pets"}} {
		w.Run(api.Command, args...).Exits(2).Prints(`"pets" is not an API: an API is @account/slug`)
	}
}

func TestView_GivesTheRunnerOfAPipelineNoCommand(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "::x:: ##[add-mask]a", "version": "1"}, "paths": {}}`)
	w.Run(api.Command, "update", "@alice/web", "--force").Done().Prints("##[add-mask]a") // a terminal
	w.Strict = true
	if r := w.Run(api.Command, "view", "@alice/web").Done().Prints(
		`title        ::x:: \x23#[add-mask]a`); strings.Contains(r.Out, "##[") {
		t.Error(r.Out)
	}
	if r := w.Run(api.Command, "view", "@alice/web", "--json").Done().Prints(
		`"title":"::x:: \u0023#[add-mask]a"`); strings.Contains(r.Out, "##[") {
		t.Error(r.Out)
	}
}

func TestAPI_ShowsLongTextsOfTheHubInPart(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	long := strings.Repeat("x", 10_000)
	shown := wire.API{API: w.Project(`{}`), Title: long}
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		kind, status, answer := "application/json", http.StatusOK, any(shown)
		switch r.URL.Path {
		case "/v1/apis":
			answer = wire.APIs{APIs: []wire.API{shown}}
		case "/v1/apis/alice/none":
			kind, status = "application/problem+json", http.StatusBadRequest
			answer = wire.Problem{Code: "invalid_request", Detail: long, Hint: long,
				Errors: slices.Repeat([]wire.FieldError{{Pointer: long, Detail: long}}, 200)}
		}
		body, err := wire.Encode(answer)
		if err != nil {
			t.Error(err)
		}
		rw.Header().Set("Content-Type", kind)
		rw.Header().Set("Hub-Version", "1.0.0")
		rw.WriteHeader(status)
		_, _ = rw.Write(body)
		return true
	})
	for _, r := range []apptest.Result{
		w.Run(api.Command, "list").Done().Prints("xxx…"),
		w.Run(api.Command, "view", "@alice/web").Done().Prints("xxx…"),
		w.Run(api.Command, "view", "@alice/none").Exits(1).Prints("xxx…"),
	} {
		if n := len(r.Out) + len(r.Err); n > 50_000 {
			t.Errorf("%d bytes are shown", n)
		}
	}
}

func TestAPI_FollowsTheEnvironment(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", `{"api": "@alice/none", "source": "openapi.json", "settings": {}}`)
	w.Write(".tool/web/client.prod.json", `{"api": "@alice/web"}`)
	w.Run(api.Command, "view").Exits(1).Prints("there is no API @alice/none")
	w.Env["TOOL_ENV"] = "prod"
	w.Run(api.Command, "view").Done().Prints("@alice/web")
	w.Run(api.Command, "update").Done().Prints("@alice/web")

	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Write(".tool/web/client.prod.json", `{"origin": "http://127.0.0.1:1", "api": "@alice/web"}`)
	for stage, args := range map[string][]string{"view": {"view", "@alice/web"}, "update": {"update", "@alice/web"},
		"rm": {"rm", "@alice/web"}} {
		w.Run(api.Command, append(args, "--json")...).Fails("not_logged_in", stage)
	}
}

func TestUpdate_ReplacesTheDescription(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", `{"api": "@alice/web", "source": "openapi.json", "settings": {}}`)
	w.Run(api.Command, "update").Done().Prints("the hub had this description already")
	w.Write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "Shop", "version": "7"}, "paths": {}}`)
	w.UI.Answers = []string{"no", "yes"}
	w.Run(api.Command, "update").Done().Prints("Aborted")
	w.Run(api.Command, "update").Done().Prints("title        Shop", "updated")
	if !strings.Contains(w.UI.Asked[0], "Replace the description of @alice/web?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Unprinted("the API was updated", api.Command, "update", "--force")
	w.Write("openapi.json", `{"openapi": "3.1.0"}`)
	w.Run(api.Command, "update", "@alice/web", "--from", "web", "--json").Fails("invalid_description", "update")
	w.Write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {}}`)
	w.Run(api.Command, "update", "--force").Done().Prints("title        Shop\n  format")
	w.Run(api.Command, "update", "@alice/none", "--json").Fails("not_found", "update")
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	w.Run(api.Command, "update", "--json").Fails("missing_scope", "update")
}

func TestUpdate_SendsSecretsOnlyIfSomebodyAllowsIt(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", `{"api": "@alice/web", "source": "openapi.json", "settings": {}}`)
	w.Write("openapi.json", `{"openapi": "3.0.0", "info": {"title": "Shop", "version": "7"},
		"paths": {"/a": {"$ref": ".env"}}}`)
	w.Write(".env", "{summary: hunter2}\n")
	w.UI.Answers = []string{"no"}
	w.Run(api.Command, "update").Done().Prints("Aborted", "made of 2 files:\n  openapi.json\n  .env")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Such files hold secrets:\n  .env") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Run(api.Command, "update", "--force", "--json").Fails("secret_found", "api")
	w.Strict = true
	w.Run(api.Command, "update", "--json").Fails("secret_found", "api")
	w.Run(api.Command, "update", "--allow-secrets", ".env").Done().Prints("title        Shop")
}

func TestRm_RefusesAnAPIThatProjectsUse(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	project := w.Project(`{}`)
	w.Run(api.Command, "rm", "@alice/web", "--force").Exits(1).Prints("@alice/web is used by @alice/web",
		"change the API of these projects")
	w.Run(api.Command, "rm", "@alice/web", "--json").Fails("api_in_use", "rm")
	if _, err := w.Client().DeleteProject(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	w.UI.Answers = []string{"", "@alice/web"}
	w.Run(api.Command, "rm", "@alice/web").Done().Prints("Aborted")
	w.Run(api.Command, "rm", "@alice/web").Done().Prints("Deleted the API @alice/web")
	w.Run(api.Command, "rm", "@alice/web", "--json").Done().Prints(`"existed":false`)
	w.Run(api.Command, "rm").Exits(2)
}

func TestAPI_AsksBeforeAnotherHubThanTheWorkspacesIsChanged(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", `{"api": "@alice/web", "source": "openapi.json", "settings": {}}`)
	w.Write(".tool/hub.json", `{"origin": "http://127.0.0.1:1"}`)
	for _, args := range [][]string{{"rm", "@alice/none", "--force"}, {"update", "--force"}} {
		w.UI.Asked, w.UI.Answers = nil, []string{"no"}
		w.Run(api.Command, args...).Done().Prints("Aborted: nothing was changed")
		if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Use another hub than the workspace's?") {
			t.Errorf("%v: asked %q", args, w.UI.Asked)
		}
	}
}

func TestUpdate_WarnsOnceOfASlip(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{}`)
	w.Local("@alice/web", `{}`)
	w.Write(".tool/web/client.json", `{"api": "@alice/web", "source": "openapi.json", "setings": {}, "settings": {}}`)
	if r := w.Run(api.Command, "update").Done(); strings.Count(r.Err, "setings") != 1 {
		t.Errorf("%q", r.Err)
	}
	w.Run(api.Command, "update", "").Exits(2)
}
