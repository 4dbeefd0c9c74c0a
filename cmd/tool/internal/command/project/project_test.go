package project_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/project"
	"example.com/projecthub/hubclient/wire"
)

func command(a *app.App) *cobra.Command { return project.Command(a, &cobra.Command{Use: "create"}) }

func world(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{}`)
	return w
}

func TestList(t *testing.T) {
	w := world(t)
	w.Run(command, "list").Done().Prints("@alice/web", "private", "config by alice")
	w.Run(command, "list", "bob").Done().Prints("No projects of bob that you can see")
	w.Run(command, "list", "Not An Account").Exits(2)
}

func TestView(t *testing.T) {
	w := world(t)
	w.Run(command, "view").Done().Prints("@alice/web", "private", "base files")
	w.Strict = true
	w.Run(command, "view", "@alice/web", "--web").Done().Prints(w.Origin)
	w.Run(command, "view", "@alice/none", "--json").Fails("not_found", "view")
	w.Run(command, "view", "web").Done().Prints("@alice/web", "private")
	w.Run(command, "view", "My web").Exits(2).Prints(`"My web" is not a project: a project is @account/slug`)
	w.Run(command, "edit", "web", "--visibility", "public").Done().Prints("@alice/web")
}

func TestView_TakesTheAddressOfAPageOfTheHubInUse(t *testing.T) {
	w := world(t)
	for _, page := range []string{"/@alice/web", "/@alice/web/", "/@alice/web/history?from=2&to=4", "/@alice/web#title"} {
		w.Run(command, "view", w.Origin+page).Done().Prints("@alice/web", "private")
	}
	for _, page := range []string{w.Origin, w.Origin + "/tokens", w.Origin + "/@alice", "ftp://x/@alice/web/%zz"} {
		w.Run(command, "view", page).Exits(2).Prints("is not a project: a project is @account/slug")
	}
	w.Run(command, "view", "https://hub.evil.example/@alice/web").Exits(2).
		Prints("is not a page of the hub in use", "name the project, @alice/web, and the hub by --origin")
	w.Run(command, "view", w.Origin+"/@alice/web", "--origin", "https://other.example.com").Exits(2).
		Prints("is not a page of the hub in use")
}

func TestView_FollowsTheEnvironment(t *testing.T) {
	w := world(t)
	w.Local("@alice/none", `{}`)
	w.Write(".tool/web/client.prod.json", `{"project": "@alice/web"}`)
	w.Run(command, "view").Exits(1).Prints("there is no project @alice/none")
	w.Env["TOOL_ENV"] = "prod"
	w.Run(command, "view").Done().Prints("@alice/web")
	w.UI.Answers = []string{"yes"}
	w.Run(command, "edit", "--visibility", "public").Done().Prints("@alice/web", "public")
	w.Env["TOOL_ENV"] = "stage"
	w.Run(command, "view", "@alice/web").Exits(2).Prints(`web has no environment "stage"`)
	w.Env["TOOL_ENV"] = ""
	w.Run(command, "view", "@alice/web", "--env", "prod").Done()
}

func TestView_AsksTheHubOfTheEnvironment(t *testing.T) {
	w := world(t)
	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Write(".tool/web/client.prod.json", `{"origin": "http://127.0.0.1:1", "project": "@alice/web"}`)
	for _, name := range [][]string{{}, {"@alice/web"}, {"http://127.0.0.1:1/@alice/web"}} {
		args := append([]string{"view", "--env", "prod", "--json"}, name...)
		w.Run(command, args...).Fails("unreachable", "view")
	}
	w.Run(command, "view", w.Origin+"/@alice/web", "--env", "prod").Exits(2).Prints("is not a page of the hub in use")
	w.Env["TOOL_ENV"] = "prod"
	for _, name := range []string{"web", "@alice/web"} {
		w.Run(command, "rm", name, "--force", "--json").Fails("not_logged_in", "rm")
	}
}

func TestView_WithoutABrowserPrintsALinkThatWorks(t *testing.T) {
	w := world(t)
	w.Env["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
	out := w.Run(command, "view", "@alice/web", "--web").Done().
		Prints("The page is "+w.Origin+"/@alice/web\nNo browser could be started from here\n",
			"This link signs you in, once and within a minute:\n").Out
	_, code, ok := strings.Cut(out, "  "+w.Origin+"/link?")
	if !ok {
		t.Fatalf("it prints no link: %s", out)
	}
	page := httptest.NewRecorder()
	w.Hub.ServeHTTP(page, httptest.NewRequest("GET", "/link?"+strings.TrimSpace(code), nil))
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "<code>/@alice/web</code>") {
		t.Errorf("the link leads to %d: %s", page.Code, page.Body)
	}

	// Without a token there is no link to be had.
	w.UI.Answers = []string{"yes"}
	w.Run(command, "edit", "@alice/web", "--visibility", "public").Done()
	delete(w.Env, "TOOL_HUB_TOKEN")
	w.Run(command, "view", "@alice/web", "--web").Done().Prints("The page is " + w.Origin + "/@alice/web\n")
}

func TestView_OpensAndLinksNoPageOfAnotherOrigin(t *testing.T) {
	w := world(t)
	w.Env["FORCE_HYPERLINK"] = "1"
	w.Run(command, "view", "@alice/web").Done().Prints("\x1b]8;;" + w.Origin + "/@alice/web\x1b\\")
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		answer := httptest.NewRecorder()
		w.Hub.ServeHTTP(answer, r)
		maps.Copy(rw.Header(), answer.Header())
		rw.Header().Del("Content-Length")
		rw.WriteHeader(answer.Code)
		io.WriteString(rw, strings.ReplaceAll(answer.Body.String(), w.Origin, "file:///other"))
		return true
	})
	r := w.Run(command, "view", "@alice/web").Done().Prints("page         file:///other/@alice/web")
	if strings.Contains(r.Out, "\x1b") {
		t.Errorf("it links the page: %q", r.Out)
	}
	w.Run(command, "view", "@alice/web", "--web").Exits(1).Prints("file:///other/", "is not a page of "+w.Origin)
}

func TestRm_FailuresNameTheLocalProject(t *testing.T) {
	w := world(t)
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodDelete && apptest.Refuse(rw, http.StatusForbidden, "missing_scope", "no")
	})
	if f := w.Run(command, "rm", "web", "--force", "--json").Fails("missing_scope", "rm"); f["projectName"] != "web" {
		t.Errorf("%v", f)
	}
}

func TestRm_AsksForTheWholeName(t *testing.T) {
	w := world(t)
	w.UI.Answers = []string{"", "@alice/web"}
	w.Run(command, "rm", "web").Done().Prints("Aborted")
	w.Run(command, "rm", "web").Done().Prints("Deleted @alice/web")
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], "Delete @alice/web?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestRm_NotesTheTokensThatEndWithIt(t *testing.T) {
	w := world(t)
	request := wire.CreateToken{Name: "ci", Restriction: wire.Restriction{Project: apptest.Stack}}
	if _, err := w.Client().CreateToken(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	w.Run(command, "delete", "@alice/web", "--force").Done().
		Prints("revoked 1 token that could use this project alone; a restore does not bring them back")
}

func TestRm_SaysWhetherTheProjectCanBeRestored(t *testing.T) {
	w := world(t)
	w.Run(command, "copy", "@alice/web", "preview", "--expires", "7d").Done()
	w.UI.Answers = []string{"", ""}
	w.Run(command, "rm", "@alice/web").Done()
	w.Run(command, "rm", "@alice/preview").Done()
	for i, want := range []string{"It can be restored for 30 days.", "It expires, so it cannot be restored."} {
		if !strings.Contains(w.UI.Asked[i], want) {
			t.Errorf("asked %q, want %s", w.UI.Asked[i], want)
		}
	}
}

func TestRestore(t *testing.T) {
	w := world(t)
	w.Run(command, "list", "--deleted").Done().Prints("No deleted projects that you can see")
	w.Run(command, "rm", "@alice/web", "--force").Done().Prints("Deleted @alice/web",
		" project restore @alice/web --origin ")
	w.Run(command, "list").Done().Prints("No projects")
	w.Run(command, "list", "--deleted").Done().Prints("@alice/web", "deleted by alice", "can be restored until")
	w.Run(command, "list", "alice", "--deleted", "--json").Done().Prints(`"deleted":true`, `"restorableUntil"`)
	w.Run(command, "view", "@alice/web", "--json").Fails("not_found", "view")
	w.Run(command, "view", "@alice/web").Prints("alice deleted it; it can be restored until",
		" project restore @alice/web --origin ")
	w.Run(command, "restore", "@alice/web").Done().Prints("Restored @alice/web")
	w.Run(command, "restore", "@alice/web").Done().Prints("@alice/web was not deleted")
	w.Unprinted("the restore went through", command, "restore", "@alice/web")
	w.Run(command, "view", "@alice/web").Done().Prints("written by alice")
}

func TestRestore_FailsWithoutProjectOrScope(t *testing.T) {
	w := world(t)
	w.Run(command, "restore").Exits(2)
	w.Run(command, "restore", "A b").Exits(2)
	f := w.Run(command, "restore", "@alice/none", "--json").Fails("not_found", "restore")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project list alice --deleted") {
		t.Errorf("%v", f)
	}
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	w.Run(command, "restore", "@alice/web", "--json").Fails("missing_scope", "restore")
}

// The name of a deleted project is free.
func TestRestore_UnderAnotherName(t *testing.T) {
	w := world(t)
	w.Run(command, "copy", "@alice/web", "other").Done()
	w.Run(command, "rm", "@alice/other", "--force").Done()
	w.Run(command, "copy", "@alice/web", "other").Done()
	f := w.Run(command, "restore", "@alice/other", "--json").Fails("project_exists", "restore")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project restore @alice/other --as other-old") {
		t.Errorf("%v", f)
	}
	w.Run(command, "restore", "@alice/other", "--as", "Other").Exits(2)
	w.Run(command, "restore", "@alice/other", "--as", "other-old").Done().Prints("Restored @alice/other-old")
}

func TestRm_OfWhatIsGoneIsDone(t *testing.T) {
	w := world(t)
	w.Unprinted("the project is gone", command, "rm", "@alice/wep", "--force")
	w.Run(command, "rm", "@alice/wep", "--force").Done().Prints("alice/wep was gone already", "did you mean @alice/web?")
}

func TestRm_FailsWithoutScopeOrName(t *testing.T) {
	w := world(t)
	w.Run(command, "rm", "A b", "--json").Fails("invalid_name", "destination")
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	w.Run(command, "rm", "@alice/web", "--json").Fails("missing_scope", "rm")
	w.Run(command, "rm").Exits(2)
}

func TestEdit_ChangesWhatFlagsName(t *testing.T) {
	w := world(t)
	w.UI.Answers = []string{"no", "yes"}
	w.Run(command, "edit", "@alice/web", "--visibility", "public").Done().Prints("Aborted")
	w.Run(command, "edit", "@alice/web", "--visibility", "public").Done().Prints("visibility   public", "version latest")
	if want := "Make @alice/web public?"; !strings.Contains(w.UI.Asked[1], want) {
		t.Errorf("asked %q, want %s", w.UI.Asked, want)
	}
	w.Unprinted("the project was changed", command, "edit", "@alice/web", "--visibility", "public")
	w.Run(command, "set", "@alice/web", "--stack-version", "1.0.0").Done().Prints("visibility   public", "version 1.0.0")
	w.Run(command, "edit", "@alice/web", "--stack-version", "9.9.9", "--json").Fails("stack_not_published", "edit")
	w.Run(command, "edit", "@alice/web", "--api", "@alice/none", "--json").Fails("api_not_found", "edit")
	w.Run(command, "edit", "@alice/none", "--visibility", "private", "--json").Fails("not_found", "edit")
	for _, args := range [][]string{{}, {"--visibility", "secret"}, {"--stack-version", "v1"}, {"--api", "A b"}} {
		w.Run(command, append([]string{"edit", "@alice/web"}, args...)...).Exits(2)
	}
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	w.Run(command, "edit", "@alice/web", "--visibility", "private", "--json").Fails("missing_scope", "edit")
}

func TestRename(t *testing.T) {
	w := world(t)
	w.UI.Answers = []string{"no", "yes"}
	w.Run(command, "rename", "@alice/web", "shop").Done().Prints("Aborted")
	w.Run(command, "rename", "web", "@alice/shop").Done().Prints("Renamed @alice/web to @alice/shop", "page",
		"/@alice/shop")
	if want := "Rename @alice/web to @alice/shop?"; !strings.Contains(w.UI.Asked[1], want) {
		t.Errorf("asked %q, want %s", w.UI.Asked, want)
	}
	w.Run(command, "view", "@alice/web").Done().Prints("@alice/shop")
	w.Run(command, "rename", "@alice/web", "shop").Done().Prints("@alice/shop has this name already")
	w.Strict = true
	r := w.Run(command, "rename", "@alice/web", "store", "--json").Done().JSON()
	if r["type"] != "renamed" || r["former"].(map[string]any)["slug"] != "shop" ||
		r["project"].(map[string]any)["slug"] != "store" {
		t.Errorf("%v", r)
	}
	w.Unprinted("the project was renamed", command, "rename", "@alice/web", "web")
	w.Run(command, "copy", "@alice/web", "other").Done()
	f := w.Run(command, "rename", "@alice/web", "other", "--json").Fails("project_exists", "rename")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project view @alice/other") {
		t.Errorf("%v", f)
	}
	w.Run(command, "rename", "@alice/web", "@bob/web").Exits(2).Prints("project copy @alice/web @bob/web")
	w.Run(command, "rename", "@alice/web", "Shop").Exits(2).Prints(`"Shop" is not a slug`)
	w.Run(command, "rename", "@alice/none", "x", "--json").Fails("not_found", "rename")
	w.NewOrg("acme")
	w.Local("@acme/shop", `{}`)
	w.Run(command, "rename", "other", "x").Exits(1).Prints("rename @acme/other to @acme/x", "project list acme")
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	w.Run(command, "rename", "@alice/web", "x", "--json").Fails("missing_scope", "rename")
}

// A deletion says which project it deletes.
func TestRm_AsksForThePresentName(t *testing.T) {
	w := world(t)
	w.UI.Answers = []string{"yes", "@alice/shop"}
	w.Run(command, "rename", "@alice/web", "shop").Done()
	w.Strict = true // nobody can see it
	f := w.Run(command, "rm", "@alice/web", "--json").Fails("renamed", "rm")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project rm @alice/shop --force") {
		t.Errorf("%v", f)
	}
	w.Strict = false
	w.Run(command, "rm", "@alice/web").Done().Prints("Deleted @alice/shop")
}

func TestCopy(t *testing.T) {
	w := world(t)
	w.Run(command, "copy", "@alice/web", "web-pr-7", "--expires", "7d").Done().
		Prints("Created @alice/web-pr-7 as a copy of @alice/web", "private", "config       written by alice", "expires")
	w.Run(command, "view", "@alice/web-pr-7").Done().Prints("expires")
	w.Run(command, "list").Done().Prints("@alice/web-pr-7", ", expires ")
	r := w.Run(command, "copy", "@alice/web", "@alice/kept", "--visibility", "public", "--json").Done().JSON()
	if r["type"] != "copied" || r["visibility"] != "public" || r["expiresAt"] != nil ||
		r["copyOf"].(map[string]any)["slug"] != "web" {
		t.Errorf("%v", r)
	}
}

func TestCopy_OfAMissingProjectListsThoseOfTheAccount(t *testing.T) {
	w := world(t)
	f := w.Run(command, "copy", "@alice/none", "other", "--json").Fails("invalid_body", "create")
	recipe, _ := f["recipe"].([]any)
	if f["reason"] != "there is no project @alice/none on "+w.Origin || len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project list alice") {
		t.Errorf("%v", f)
	}
}

func TestCopy_NeverChangesAProject(t *testing.T) {
	w := world(t)
	w.Run(command, "copy", "@alice/web", "other").Done()
	w.Edit(apptest.Stack, "title", `"edited"`)
	f := w.Run(command, "copy", "@alice/web", "other", "--json").Fails("project_exists", "create")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project view @alice/other") {
		t.Errorf("%v", f)
	}
	w.Run(command, "copy", "@alice/none", "third", "--json").Fails("invalid_body", "create")
	w.Run(command, "copy", "web", "copied").Done().Prints("Created @alice/copied as a copy of @alice/web")
	w.Run(command, "rm", "@alice/web", "--force").Done()
	f = w.Run(command, "copy", "@alice/web", "third", "--json").Fails("invalid_body", "create")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "project restore @alice/web") {
		t.Errorf("%v", f)
	}
	w.Run(command, "copy", "@alice/web", "A b", "--json").Fails("invalid_name", "destination")
	for _, args := range [][]string{{}, {"@alice/web"}, {"@alice/web", "x", "--expires", "soon"},
		{"@alice/web", "x", "--visibility", "secret"}} {
		w.Run(command, append([]string{"copy"}, args...)...).Exits(2)
	}
}
