package push_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestPush_SendsTheSettingsOfTheEnvironment(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/web/client.prod.json",
		`{"origin": "`+w.Origin+`", "project": "@alice/web", "settings": {"title": "live", "draft": null}}`)
	w.Local("", `{"title": "local", "draft": true, "size": 1}`)
	w.Run(login.Command, "--origin", w.Origin, "--token", w.Token).Done()
	w.Env["TOOL_HUB_TOKEN"] = ""
	w.Env["TOOL_API_ORIGIN"] = "http://127.0.0.1:1" // the environment's hub comes before it
	w.Run(push.Command, "web", "--env", "prod").Done().Prints("environment  prod", w.Origin)
	if config, _ := w.Config(apptest.Stack); config != `{"size":1,"title":"live"}` {
		t.Errorf("the hub holds %s", config)
	}
	w.Env["TOOL_ENV"] = "prod"
	if r := w.Run(push.Command, "web", "--json").Done().JSON(); r["environment"] != "prod" || r["configChanged"] != false {
		t.Errorf("%v", r)
	}
}

func TestPush_RecordsTheDestinationInTheEnvironment(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/web/client.prod.json", `{"settings": {}}`)
	before := w.Read(".tool/web/client.json")
	f := w.Run(push.Command, "web", "--env", "prod", "--json").Fails("no_destination", "destination")
	if !strings.Contains(f["reason"].(string), "client.prod.json") {
		t.Errorf("%v", f["reason"])
	}
	w.Run(push.Command, "web", "--env", "prod", "--project", "@alice/web").Done().Prints(
		"recorded in .tool/web/client.prod.json")
	if got := w.Read(".tool/web/client.json"); got != before {
		t.Errorf("client.json is %s", got)
	}
	if got := w.Read(".tool/web/client.prod.json"); !strings.Contains(got, `"@alice/web"`) {
		t.Errorf("client.prod.json is %s", got)
	}
}

func TestPush_UnknownEnvironmentIsAUsageError(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Run(push.Command, "web", "--env", "prod").Exits(2).Prints(`web has no environment "prod"`, "it has none yet",
		"init web --env prod")
	w.Write(".tool/web/client.staging.json", `{}`)
	w.Write(".tool/web/client.prod.json", `{"origin": "https://hub.example.com"}`)
	w.Run(push.Command, "web", "--env", "pord").Exits(2).Prints("did you mean prod? its environments: prod, staging")
	w.Run(push.Command, "web", "--env", "").Exits(2).Prints("--env is empty")
	w.Run(push.Command, "web", "--env", "prod", "--origin", w.Origin).Exits(2).Prints(
		"is not the hub of the environment prod, which is https://hub.example.com")
}

func TestPush_NeedsALoginToTheHubOfTheEnvironment(t *testing.T) {
	w := apptest.Differing(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Write(".tool/web/client.prod.json", `{"origin": "https://hub.example.com", "project": "@alice/web"}`)
	f := w.Run(push.Command, "web", "--env", "prod", "--json").Fails("not_logged_in", "push")
	if recipe := f["recipe"].([]any); !strings.HasSuffix(recipe[0].(string), "login --origin https://hub.example.com") {
		t.Errorf("%v", recipe)
	}
}

// Whoever can write to a repository can change where an environment is.
func TestPush_SendsAGivenTokenToNoHubThatOnlyTheEnvironmentNames(t *testing.T) {
	w, other := apptest.Differing(t), apptest.New(t)
	asked := false
	other.Intercept(func(http.ResponseWriter, *http.Request) bool { asked = true; return false })
	w.Strict = true
	w.Write(".tool/web/client.prod.json", `{"origin": "`+other.Origin+`", "project": "@alice/web"}`)
	given := w.Run(push.Command, "web", "--env", "prod", "--token", w.Token, "--json")
	delete(w.Env, "TOOL_API_ORIGIN")
	for _, r := range []apptest.Result{given, w.Run(push.Command, "web", "--env", "prod", "--json")} {
		f := r.Fails("no_token", "push")
		if hint, _ := f["hint"].(string); !strings.Contains(hint, "--origin or TOOL_API_ORIGIN") {
			t.Errorf("%v", f)
		}
	}
	if asked {
		t.Error("the other hub was called")
	}
	w.Run(push.Command, "web", "--env", "prod", "--origin", other.Origin, "--json").Fails("unauthorized", "push")
	w.Env["TOOL_API_ORIGIN"] = other.Origin
	w.Run(push.Command, "web", "--env", "prod", "--json").Fails("unauthorized", "push")
}

func TestPush_MalformedEnvironmentIsNamed(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".tool/web/client.prod.json", "{\n  \"settings\": []\n}")
	f := w.Run(push.Command, "web", "--env", "prod", "--json").Fails("invalid_file", "read")
	if !strings.Contains(f["reason"].(string), ".tool/web/client.prod.json:2:15: settings is an array") {
		t.Errorf("%v", f["reason"])
	}
}

func TestPush_PrintsTheEnvironmentInCommandLines(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/web/client.prod.json", `{"origin": "`+w.Origin+`", "project": "@alice/web"}`)
	w.Run(push.Command, "web", "--env", "prod").Done().Prints("push web --undo --env prod")
	w.Run(push.Command, "web", "--undo", "--env", "prod").Done()
	w.Run(push.Command, "web", "--no-clobber", "--env", "prod").Done()
	w.Edit(apptest.Stack, "title", `"page"`)
	w.Run(push.Command, "web", "--no-clobber", "--env", "prod").Exits(1).Prints("push web --no-clobber --env prod")
}

func TestPush_SaysInWhichEnvironmentItAsks(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".tool/hub.json", `{"origin": "https://hub.example.com"}`)
	w.Write(".tool/web/client.prod.json", `{"origin": "`+w.Origin+`", "project": "@alice/web"}`)
	w.UI.Answers = []string{"yes"} // to the overwrite alone: the workspace says where prod is
	w.Run(push.Command, "web", "--env", "prod").Done()
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Env     prod on "+w.Origin) {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestPush_SeveralProjectsEachUseTheHubOfTheirEnvironment(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/web/client.prod.json", `{"origin": "`+w.Origin+`", "project": "@alice/web"}`)
	w.Write(".tool/shop/client.json", `{"settings": {}}`)
	w.Write(".tool/shop/client.prod.json", `{"origin": "http://127.0.0.1:1", "project": "@alice/shop"}`)
	w.Run(push.Command, "web", "shop", "--env", "prod").Exits(1).
		Prints("Pushed web to @alice/web", w.Origin, "http://127.0.0.1:1, which only the environment's file names")
	w.Run(login.Command, "--origin", w.Origin, "--token", w.Token).Done()
	w.Env["TOOL_HUB_TOKEN"] = ""
	w.Run(push.Command, "web", "shop", "--env", "prod").Exits(1).
		Prints("Already up to date.", w.Origin, "not logged in to http://127.0.0.1:1")
}
