package initialize_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/check"
	"example.com/projecthub/cmd/tool/internal/command/initialize"
)

func TestInit_CreatesALocalProject(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Run(initialize.Command, "web", "--stack", "@acme/web", "--base-path", "app").Done().Prints(
		"Created the local project web", "tool", "login")
	if stack := w.Read(".tool/web/stack.json"); !strings.Contains(stack, `"@acme/web"`) {
		t.Errorf("stack.json is %s", stack)
	}
	if client := w.Read(".tool/web/client.json"); !strings.Contains(client, `"app"`) {
		t.Errorf("client.json is %s", client)
	}
	w.Run(initialize.Command, "web", "--stack", "@acme/web", "--json").Exits(1)
	w.Strict, w.Full = true, true
	w.Run(initialize.Command, "shop", "--stack", "@acme/shop").Exits(1).
		Prints("the files were written, but its result could not")
}

func TestInit_AsksForTheAccount(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.UI.Answers = []string{"@acme"}
	w.Run(initialize.Command, "web").Done()
	if stack := w.Read(".tool/web/stack.json"); !strings.Contains(stack, `"@acme/web"`) {
		t.Errorf("stack.json is %s", stack)
	}
}

func TestInit_LeavesTheNameToThePublishWithoutATerminal(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Run(initialize.Command, "web").Done().Prints("the first publish names the stack")
	w.Run(initialize.Command, "web", "--stack", "acme web").Exits(2)
	w.Run(initialize.Command, "We b", "--json").Fails("invalid_name", "init")
}

func TestInit_AdvisesCreateOnlyWithAnAPIDescription(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	r := w.Run(initialize.Command, "web", "--stack", "@acme/web").Done().Prints(
		"openapi.yaml does not exist yet: add the API's description")
	if _, next, _ := strings.Cut(r.Out, "Next:"); strings.Contains(next, "project create") {
		t.Errorf("a create that would fail is advised:\n%s", r.Out)
	}
	w.Write("openapi.json", "{}")
	r = w.Run(initialize.Command, "shop", "--stack", "@acme/shop").Done().Prints("project create shop --from shop")
	if client := w.Read(".tool/shop/client.json"); !strings.Contains(client, `"openapi.json"`) ||
		strings.Contains(r.Out, "does not exist") {
		t.Errorf("client.json is %s\n%s", client, r.Out)
	}
}

func TestInit_CreatesAnEnvironment(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Run(initialize.Command, "web", "--env", "prod", "--json").Fails("no_workspace", "read")
	w.Run(initialize.Command, "web", "--stack", "@acme/web").Done()
	w.Run(initialize.Command, "--env", "prod", "--origin", "https://hub.example.com/").Done().
		Prints("Created the environment prod of web", "project create web --from web --env prod")
	if got, want := w.Read(".tool/web/client.prod.json"),
		"{\n  \"$schema\": \"https://hub.example.com/schema/client.env.json\",\n  \"origin\": \"https://hub.example.com\",\n  \"settings\": {}\n}\n"; got != want {
		t.Errorf("client.prod.json is %s, want %s", got, want)
	}
	w.Run(initialize.Command, "web", "--env", "prod", "--json").Fails("invalid_file", "init")
	w.Run(initialize.Command, "web", "--env", "staging").Done().Prints("it uses the workspace's hub",
		"project create web-staging")
	for _, args := range [][]string{{"--env", "Prod"}, {"--env", "a", "--stack", "@a/b"},
		{"--env", "a", "--origin", "hub"}, {"--origin", "https://hub.example.com"}} {
		w.Run(initialize.Command, append(args, "web")...).Exits(2)
	}
}

func TestInit_SaysWhichWorkspaceItUses(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Run(initialize.Command, "web", "--stack", "@acme/web").Done().Prints(
		"Created the local project web in the new workspace " + w.Dir)
	w.Run(initialize.Command, "shop", "--stack", "@acme/shop").Done().Prints(
		"Created the local project shop in the workspace " + w.Dir)
	above, below := w.Dir, filepath.Join(w.Dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Dir = below
	w.Run(initialize.Command, "api", "--stack", "@acme/api").Done().Prints(
		"Created the local project api in the workspace "+above,
		"warning: "+below+" is in the workspace "+above+", to which the project is added")
	r := w.Run(initialize.Command, "--sample", "--json").Done()
	if r.JSON()["workspace"] != below || r.JSON()["workspaceCreated"] != true ||
		!strings.Contains(r.Err, "becomes a workspace of its own") {
		t.Errorf("%v\n%s", r.JSON(), r.Err)
	}
}

func TestInit_CreatesASample(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Run(initialize.Command, "pets", "--sample").Done().Prints("publish pets",
		"project create pets --from pets --base-files")
	if stack := w.Read(".tool/pets/stack.json"); strings.Contains(stack, "name") ||
		!strings.Contains(stack, `"module": "mod.ts"`) {
		t.Errorf("stack.json is %s", stack)
	}
	for _, name := range []string{"openapi.yaml", "apps/web/src/App.tsx", "apps/web/.toolignore", ".tool/pets/mod.ts",
		".tool/pets/src/forms.ts"} {
		if w.Read(name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	w.Run(check.Command).Done().Prints("no problem found")
	w.Run(initialize.Command, "web", "--sample", "--json").Fails("invalid_file", "init")
	if _, err := os.Stat(filepath.Join(w.Dir, ".tool/web")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a failed init left .tool/web: %v", err)
	}
	for _, flag := range []string{"--source=a.yaml", "--base-path=src", "--env=prod"} {
		w.Run(initialize.Command, "shop", "--sample", flag).Exits(2)
	}
}

func TestInit_NamesTheSchemasOfAKnownHub(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	const hub = "https://hub.example.com"
	w.Write(".tool/hub.json", `{"origin": "`+hub+`"}`)
	w.Run(initialize.Command, "web", "--stack", "@acme/web").Done()
	w.Run(initialize.Command, "web", "--env", "test").Done()
	w.Run(initialize.Command, "web", "--env", "prod", "--origin", "https://prod.example.com").Done()
	for name, want := range map[string]string{
		"client.json": hub + "/schema/client.json", "stack.json": hub + "/schema/stack.json",
		"client.test.json": hub + "/schema/client.env.json",
		"client.prod.json": "https://prod.example.com/schema/client.env.json",
	} {
		if text := w.Read(".tool/web/" + name); !strings.HasPrefix(text, "{\n  \"$schema\": \""+want+"\",\n") {
			t.Errorf("%s is %s, want the schema %s", name, text, want)
		}
	}
}

func TestInit_PrintsStepsThatWorkInTheirOrder(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Run(initialize.Command, "web", "--stack", "@alice/web").Done().
		Prints("openapi.yaml does not exist yet", "client.json; then: ", "project create web --from web")
	out := w.Run(initialize.Command, "web", "--env", "far", "--origin", "http://127.0.0.1:1").Done().Out
	_, next, _ := strings.Cut(out, "Next:")
	if !strings.Contains(next, "login --origin http://127.0.0.1:1\n") ||
		!strings.Contains(next, "publish web --env far\n") || strings.Contains(next, "create") {
		t.Errorf("without an API description: %s", next)
	}
	w.Write("openapi.yaml", "openapi: 3.1.0")
	w.Run(initialize.Command, "web", "--env", "a").Done().Prints("publish web --env a\n",
		"project create web-a --from web --env a\n")
	w.Write(".tool/web/client.json", `{"project": "@alice/web", "source": "openapi.yaml", "settings": {}}`)
	if out := w.Run(initialize.Command, "web", "--env", "b").Done().Out; strings.Contains(out, "publish") {
		t.Errorf("with a project on the hub: %s", out)
	}
}
