package status_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/status"
)

func TestStatus_ShowsEachEnvironmentInALine(t *testing.T) {
	t.Parallel()
	w, other := apptest.New(t), apptest.New(t)
	w.Project(`{"title": "hub"}`)
	other.Project(`{"title": "live"}`)
	w.Strict = true
	w.Local("@alice/web", `{"title": "hub"}`)
	w.Write(".tool/web/client.broken.json", `{"origin": 1}`)
	w.Write(".tool/web/client.new.json", `{}`)
	w.Write(".tool/web/client.prod.json",
		`{"origin": "`+other.Origin+`", "project": "@alice/web", "settings": {"title": "live"}}`)
	w.Write(".tool/web/client.staging.json", `{"project": "@alice/web"}`)
	w.Run(status.Command).Done().Prints(
		"  broken       problem: .tool/web/client.broken.json:1:12: origin is a number",
		"  new          no project yet: tool -C "+w.Dir+" project create web-new --from web --env new\n",
		"note: there is no token for "+other.Origin+": tool -C "+w.Dir+" login --origin "+other.Origin,
		"  prod         @alice/web on "+other.Origin+", unknown until you log in\n",
		"  staging      @alice/web, same\n")

	// The token of the variable is not for the hub of the environment, but a stored one is.
	w.Run(login.Command, "--origin", other.Origin, "--token", other.Token).Done()
	r := w.Run(status.Command).Done().Prints("  prod         @alice/web on " + other.Origin + ", same\n")
	if strings.Contains(r.Out, "unknown") {
		t.Errorf("%s", r.Out)
	}
	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Run(status.Command, "--env", "prod").Done().
		Prints("Hub "+other.Origin+" (environment)", "environment  prod", "@alice/web (client.prod.json)", "same")
}

func TestStatus_CallsNoHubThatOnlyAnEnvironmentNames(t *testing.T) {
	t.Parallel()
	w, other := apptest.New(t), apptest.New(t)
	other.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("the other hub got %s %s", r.Method, r.URL)
		return false
	})
	w.Strict = true
	w.Local("", `{"title": "hub"}`)
	w.Write(".tool/web/client.prod.json", `{"origin": "`+other.Origin+`", "project": "@alice/web"}`)
	w.Run(status.Command).Done().Prints("  prod         @alice/web on " + other.Origin + ", unknown until you log in\n")
}

func TestStatus_EnvironmentOnDifferentHubsNeedsAProject(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	for name, origin := range map[string]string{"a": "https://a.example.com", "b": "https://b.example.com"} {
		w.Write(".tool/"+name+"/client.json", `{}`)
		w.Write(".tool/"+name+"/client.prod.json", `{"origin": "`+origin+`"}`)
	}
	w.Write(".tool/c/client.json", `{}`)
	w.Run(status.Command, "--env", "prod").Exits(2).Prints("the environment prod is on different hubs for a and b")
	w.Run(status.Command, "--env", "staging").Exits(2).Prints("its environments: prod")
}
