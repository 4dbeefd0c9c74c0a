package create_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/create"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
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

func TestCreate_SaysWhatWasDoneWhenTheResultCannotBeWritten(t *testing.T) {
	w := published(t)
	w.Full = true
	for _, args := range [][]string{{"web"}, {"shop", "--json"}} {
		w.Run(command(w), args...).Exits(1).Prints("the project was created, but its result could not be written to stdout")
	}
}

func TestCreate_NeverChangesAnExistingProject(t *testing.T) {
	w := published(t)
	w.Run(command(w), "web", "--json").Done()
	w.Local("", `{"title": "other"}`)
	f := w.Run(command(w), "web", "--json").Fails("project_exists", "create")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 ||
		!strings.Contains(recipe[0].(string), "push web --project @alice/web") {
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
		"no such version":   {[]string{"web", "--stack-version", "9.9.9"}, nil, "stack_not_published", "create"},
		"malformed name":    {[]string{"We b"}, nil, "invalid_name", "read"},
		"another's account": {[]string{"@bob/web"}, nil, "not_permitted", "create"},
		"no scope": {[]string{"web"},
			func(w *apptest.World) { w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config") }, "missing_scope", "create"},
		"no settings": {[]string{"web"},
			func(w *apptest.World) { w.Write(".tool/web/client.json", `{"source": "openapi.json"}`) }, "no_settings", "read"},
		"no source": {[]string{"web"},
			func(w *apptest.World) { w.Write(".tool/web/client.json", `{"settings": {}}`) }, "invalid_file", "api"},
		"an unknown API": {[]string{"web"},
			func(w *apptest.World) { w.Write(".tool/web/client.json", `{"settings": {}, "api": "@alice/none"}`) },
			"api_not_found", "api"},
		"a broken stack.json": {[]string{"web"}, func(w *apptest.World) { w.Write(".tool/web/stack.json", `{`) },
			"invalid_file", "stack"},
	} {
		t.Run(name, func(t *testing.T) {
			w := published(t)
			if test.change != nil {
				test.change(w)
			}
			w.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost && r.URL.RawQuery != "dryRun=1" {
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
		return r.Method == http.MethodPut &&
			apptest.Refuse(rw, http.StatusInsufficientStorage, "storage_full", "the hub's disk is full")
	})
	f := w.Run(command(w), "web", "--json").Fails("storage_full", "seed")
	if f["projectCreated"] != true || f["configWritten"] != nil || f["requestId"] != "r1" ||
		!strings.Contains(fmt.Sprint(f["recipe"]), "push web --project @alice/web") {
		t.Errorf("%v", f)
	}
}

func TestCreate_GuidesThroughPublishing(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.UI.Answers = []string{"yes", "@alice/site"}
	w.Run(command(w)).Done().Prints("Created @alice/site from web")
}

func TestCreate_StopsInTheGuide(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.UI.Answers = []string{"no"}
	w.Run(command(w)).Done().Prints("Aborted: nothing was changed")
}

// However the creation ends, it names what the wizard had made by then.
func TestCreate_SaysAfterANoWhatTheGuideMade(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.Write(".gitignore", "secrets/\n")
	w.Write("secrets/key.json", "{}")
	if out, err := exec.Command("git", "init", "-q", w.Dir).CombinedOutput(); err != nil {
		t.Skipf("needs git: %v %s", err, out)
	}
	w.UI.Answers = []string{"yes", "@alice/site", "no"}
	w.Run(command(w), "--base-files").Done().Prints("Aborted: published @alice/web 1.0.0; no project was created")
	w.UI.Answers = []string{"@alice/site", "yes"}
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path == "/v1/projects" && r.Method == http.MethodPost &&
			apptest.Refuse(rw, http.StatusConflict, "project_exists", "it exists")
	})
	if r := w.Run(command(w), "--base-files").Exits(1); strings.Contains(r.Err, "nothing was changed") {
		t.Errorf("an API was registered: %s", r.Err)
	}
}

func TestCreate_TakesTheNameOfADeletedProject(t *testing.T) {
	w := published(t)
	w.Run(command(w), "web").Done()
	if _, err := w.Client().DeleteProject(t.Context(), apptest.Stack); err != nil {
		t.Fatal(err)
	}
	w.Local("", `{"title": "again"}`)
	w.Run(command(w), "web", "--json").Done()
}

func TestCreate_PresetsALocalProjectThatIsOnNoHub(t *testing.T) {
	w := published(t)
	w.Run(command(w), "web").Done()
	w.Write(".tool/zoo/client.json", `{"settings": {}, "api": "@alice/web"}`)
	w.Write(".tool/zoo/stack.json", `{"name": "@alice/web", "version": "1.0.0"}`)
	w.UI.Answers = []string{"@alice/zoo"}
	w.Run(command(w)).Done().Prints("Created @alice/zoo from zoo")
}

func TestCreate_CreatesNothingForSettingsThatAreTooLarge(t *testing.T) {
	w := published(t)
	w.Local("", `{"title": "`+strings.Repeat("x", 1<<20)+`"}`)
	f := w.Run(command(w), "web", "--json").Fails("too_large", "create")
	if f["projectCreated"] != nil || !strings.Contains(f["reason"].(string), "above the limit of") {
		t.Errorf("%v", f)
	}
}

func TestCreate_PublishesNoCredential(t *testing.T) {
	w := published(t)
	w.Local("", `{"deploy": {"key": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}`)
	w.Run(command(w), "web", "--visibility", "public", "--json").Fails("secret_found", "read")
	w.Run(command(w), "web", "--json").Done()
}

func TestCreate_NeedsANameWithoutATerminal(t *testing.T) {
	w := published(t)
	w.Strict = true
	w.Run(command(w)).Exits(2).Prints("create needs <name>")
	w.Run(command(w), "web", "--visibility", "secret").Exits(2)
	w.Run(command(w), "web", "--stack-version", "one").Exits(2)
}

func TestCreate_NamesTheAPIAfterTheFileOfItsDescription(t *testing.T) {
	w := published(t)
	w.Write("openapi.json", `{"openapi": "3.0.0", "paths": {"pets": {}}}`)
	r := w.Run(command(w), "web", "--json").Done().JSON()
	if api, _ := r["api"].(map[string]any); api["slug"] != "openapi" {
		t.Errorf("the API is %v", r["api"])
	}
}

// Everyone who can see an API can read its description.
func TestCreate_SendsNoSecretsInADescription(t *testing.T) {
	w := published(t)
	w.Write("openapi.json", `{"openapi": "3.0.0", "info": {"title": "`+w.Token+`", "version": "1"}, "paths": {}}`)
	w.Run(command(w), "web", "--json").Fails("token_in_file", "api")
	w.Write("deploy/.env", "{summary: hunter2}\n")
	if err := os.Symlink("deploy/.env", filepath.Join(w.Dir, "link.yaml")); err != nil {
		t.Skip("needs symbolic links: ", err)
	}
	for _, description := range []string{"openapi.json", "deploy/.env", "link.yaml"} {
		w.Write("openapi.json", `{"openapi": "3.0.0", "info": {"title": "Files", "version": "1"},
			"paths": {"/a": {"$ref": "link.yaml"}}}`)
		w.Write(".tool/web/client.json", `{"source": "`+description+`", "settings": {}}`)
		w.UI.Asked, w.UI.Answers, w.Strict = nil, []string{"no"}, false
		w.Run(command(w), "web").Done().Prints("Aborted")
		if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Such files hold secrets:\n  deploy/.env") {
			t.Errorf("%s: asked %q", description, w.UI.Asked)
		}
		w.Strict = true
		f := w.Run(command(w), "web", "--json").Fails("secret_found", "api")
		recipe := fmt.Sprint(f["recipe"])
		if !strings.Contains(recipe, "create web --from web --allow-secrets deploy/.env") {
			t.Errorf("%s: the recipe is %s", description, recipe)
		}
	}
	if apis, err := w.Client().APIs(t.Context(), "alice"); err != nil || len(apis) > 0 {
		t.Errorf("registered %v, %v", apis, err)
	}
	w.Write(".tool/web/client.json", `{"source": "openapi.json", "settings": {}}`)
	w.Run(command(w), "web", "--allow-secrets", "deploy/.env").Done()
}

func TestCreate_AsksAboutFilesOfADescriptionThatGitIgnores(t *testing.T) {
	w := published(t)
	w.Write(".gitignore", "local.yaml\n")
	if err := exec.Command("git", "init", "-q", w.Dir).Run(); err != nil {
		t.Skip("needs git: ", err)
	}
	w.Write("local.yaml", "get: {}\n")
	w.Write("openapi.json", `{"openapi": "3.0.0", "info": {"title": "Files", "version": "1"},
			"paths": {"/a": {"$ref": "local.yaml"}}}`)
	w.UI.Answers = []string{"no"}
	w.Run(command(w), "web").Done().Prints("Aborted")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "git ignores 1 file:\n  local.yaml") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Strict = true
	w.Run(command(w), "web").Done().Prints("git ignores 1 file of the API description, such as local.yaml")
}

func TestCreate_LeavesOutWhatGitIgnores(t *testing.T) {
	w := published(t)
	w.Write(".gitignore", "*.local\n")
	if err := exec.Command("git", "init", "-q", w.Dir).Run(); err != nil {
		t.Skip("needs git: ", err)
	}
	w.Write("src/index.html", "<p>")
	w.Write("src/notes.local", "mine")
	w.Strict = true
	w.Run(command(w), "web", "--base-files").Done().Prints("git ignores 1 base file, such as src/notes.local, left out")
	if files := w.BaseFiles(apptest.Stack); files["src/index.html"] == 0 || files["src/notes.local"] != 0 {
		t.Errorf("the hub has %v", files)
	}
}

func TestCreate_AsksNothingAboutADescriptionThatIsNotSent(t *testing.T) {
	w := published(t)
	w.Write(".gitignore", "local.yaml\n")
	if err := exec.Command("git", "init", "-q", w.Dir).Run(); err != nil {
		t.Skip("needs git: ", err)
	}
	w.Write("local.yaml", "get: {}\n")
	w.Write("openapi.json", `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "2"},
			"paths": {"/a": {"$ref": "local.yaml"}}}`)
	registered := hubclient.Description{
		Document: []byte(`{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`),
	}
	if _, err := w.Client().UploadAPI(t.Context(), "alice", registered, "test"); err != nil {
		t.Fatal(err)
	}
	w.UI.Answers = []string{"@alice/pets"}
	r := w.Run(command(w), "web").Done().Prints("api          @alice/pets\n")
	if strings.Contains(r.Out, "git ignores") || strings.Contains(r.Err, "local.yaml") {
		t.Errorf("it says\n%s\n%s", r.Out, r.Err)
	}
}

func TestCreate_SendsSecretsOnlyIfSomebodyAllowsIt(t *testing.T) {
	w := published(t)
	w.Write(".toolignore", "!.env\n")
	w.Write(".env", "PASSWORD=hunter2\n")
	w.UI.Answers = []string{"no"}
	w.Run(command(w), "web", "--base-files").Done().Prints("Aborted")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Such files hold secrets:\n  .env") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Strict = true
	w.Run(command(w), "web", "--base-files", "--json").Fails("secret_found", "read")
	w.Run(command(w), "web", "--base-files", "--allow-secrets", ".env").Done()
	if set := w.BaseFiles(apptest.Stack); set[".env"] == 0 {
		t.Errorf("the hub has %v", set)
	}
}

func TestCreate_BundlesTheFilesOfADescription(t *testing.T) {
	w := published(t)
	w.Write("openapi.json",
		`{"openapi": "3.0.0", "info": {"title": "Files", "version": "1"}, "paths": {"/a": {"$ref": "paths/a.yaml"}, "/b": {"$ref": "paths/b.yaml"}}}`)
	w.Write("paths/a.yaml", "get: {responses: {'200': {$ref: ../ok.yaml}}}\n")
	w.Write("ok.yaml", "description: It worked.\n")
	run := w.Run(command(w), "web", "--json").Done()
	if !strings.Contains(run.Err, "made of 3 files:\n  openapi.json\n  paths/a.yaml\n  ok.yaml\n") {
		t.Errorf("it does not list the files: %s", run.Err)
	}
	r := run.JSON()
	notes := strings.Join(strings.Fields(strings.ReplaceAll(fmt.Sprint(r["notes"]), "\n", " ")), " ")
	for _, want := range []string{
		`the API description refers to what does not exist: openapi.json:1:`, `"paths/b.yaml" cannot be read`,
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes are %s, without %q", notes, want)
		}
	}
}

func TestCreate_OffersAnAPIOfTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		change  string // of the description that is registered first
		answer  string
		wantAPI string
	}{
		"same description": {"", "@alice/pets", "@alice/pets"},
		"same title":       {" ", "@alice/pets", "@alice/pets"},
		"a new one":        {"", "register", "@alice/pets-2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := published(t)
			const text = `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`
			w.Write("openapi.json", text)
			if _, err := w.Client().UploadAPI(t.Context(), "alice", hubclient.Description{Document: []byte(text + c.change)},
				"test"); err != nil {
				t.Fatal(err)
			}
			w.UI.Answers = []string{c.answer}
			w.Run(command(w), "web").Done()
			if client := w.Read(".tool/web/client.json"); !strings.Contains(client, `"api": "`+c.wantAPI+`"`) {
				t.Errorf("client.json is %s", client)
			}
		})
	}
}

func TestCreate_NotesAnAPIOfTheAccountInAPipeline(t *testing.T) {
	w := published(t)
	w.Strict = true
	const text = `{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}`
	w.Write("openapi.json", text)
	for _, document := range []string{text, strings.Replace(text, "Pets", "Others", 1)} {
		if _, err := w.Client().UploadAPI(t.Context(), "alice", hubclient.Description{Document: []byte(document)},
			document); err != nil {
			t.Fatal(err)
		}
	}
	r := w.Run(command(w), "web", "--json").Done().JSON()
	if notes := fmt.Sprint(r["notes"]); r["apiRegistered"] != true ||
		strings.Count(notes, "has the same description") != 1 ||
		!strings.Contains(notes, "project edit @alice/web --api @alice/pets") {
		t.Errorf("%v", r)
	}
}
