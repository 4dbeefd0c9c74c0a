package create_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/create"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

// published returns a World with a local project whose stack is published.
func published(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{"title": "web"}`)
	w.Publish("1.0.0")
	return w
}

// command is create, whose publishing is that of the test.
func command(w *apptest.World) func(*app.App) *cobra.Command {
	return func(a *app.App) *cobra.Command {
		return create.Command(a, func(context.Context, *app.App, *workspace.Project) (string, error) {
			w.Publish("1.0.0")
			return "@alice/web 1.0.0", nil
		})
	}
}

func TestCreate_SeedsAndRecords(t *testing.T) {
	w := published(t)
	w.Write("src/index.html", "<p>")
	r := w.Run(command(w), "web", "--json", "--base-files").Done().JSON()
	if r["type"] != "created" || r["apiRegistered"] != true || r["remoteWritten"] != true {
		t.Errorf("%v", r)
	}
	if config, _ := w.Config(apptest.Stack); config != `{"title":"web"}` {
		t.Errorf("the config is %s", config)
	}
	client := w.Read(".tool/web/client.json")
	if !strings.Contains(client, `"project": "@alice/web"`) || !strings.Contains(client, `"api": "@alice/`) {
		t.Errorf("client.json is %s", client)
	}
}

func TestCreate_NeverChangesAnExistingProject(t *testing.T) {
	w := published(t)
	w.Run(command(w), "web", "--json").Done()
	w.Local("", `{"title": "other"}`)
	f := w.Run(command(w), "web", "--json").Fails("project_exists", "create")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 || !strings.Contains(recipe[0].(string), "push web --project @alice/web") {
		t.Errorf("%v", f)
	}
	if config, _ := w.Config(apptest.Stack); config != `{"title":"web"}` {
		t.Errorf("the config is %s", config)
	}
}

func TestCreate_ChecksBeforeItRegistersAnything(t *testing.T) {
	for name, test := range map[string]struct {
		args        []string
		change      func(w *apptest.World)
		code, stage string
	}{
		"no such version":     {[]string{"web", "--stack-version", "9.9.9"}, nil, "stack_not_published", "create"},
		"malformed name":      {[]string{"We b"}, nil, "invalid_name", "read"},
		"another's account":   {[]string{"@bob/web"}, nil, "not_permitted", "create"},
		"no scope":            {[]string{"web"}, func(w *apptest.World) { w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config") }, "missing_scope", "create"},
		"no settings":         {[]string{"web"}, func(w *apptest.World) { w.Write(".tool/web/client.json", `{"source": "openapi.json"}`) }, "no_settings", "read"},
		"no source":           {[]string{"web"}, func(w *apptest.World) { w.Write(".tool/web/client.json", `{"settings": {}}`) }, "invalid_file", "api"},
		"an unknown API":      {[]string{"web"}, func(w *apptest.World) { w.Write(".tool/web/client.json", `{"settings": {}, "api": "@alice/none"}`) }, "api_not_found", "api"},
		"a broken stack.json": {[]string{"web"}, func(w *apptest.World) { w.Write(".tool/web/stack.json", `{`) }, "invalid_file", "stack"},
	} {
		t.Run(name, func(t *testing.T) {
			w := published(t)
			if test.change != nil {
				test.change(w)
			}
			w.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				return false
			})
			f := w.Run(command(w), append(test.args, "--json")...).Fails(test.code, test.stage)
			if f["projectCreated"] != nil {
				t.Errorf("%v", f)
			}
		})
	}
}

func TestCreate_SaysWhatWasDoneWhenASeedFails(t *testing.T) {
	w := published(t)
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut && apptest.Refuse(rw, http.StatusInsufficientStorage, "storage_full", "the hub's disk is full")
	})
	f := w.Run(command(w), "web", "--json").Fails("storage_full", "seed")
	if f["projectCreated"] != true || f["configWritten"] != nil || f["requestId"] != "r1" {
		t.Errorf("%v", f)
	}
}

func TestCreate_GuidesThroughPublishing(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.UI.Answers = []string{"yes", "@alice/site"}
	w.Run(command(w)).Done().Prints("Created alice/site from web")
}

func TestCreate_StopsInTheGuide(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.UI.Answers = []string{"no"}
	w.Run(command(w)).Done().Prints("Aborted: nothing was changed")
}

func TestCreate_NeedsANameWithoutATerminal(t *testing.T) {
	w := published(t)
	w.Strict = true
	w.Run(command(w)).Exits(2).Prints("create needs <name>")
	w.Run(command(w), "web", "--visibility", "secret").Exits(2)
	w.Run(command(w), "web", "--stack-version", "one").Exits(2)
}
