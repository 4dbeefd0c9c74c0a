package publish_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/publish"
)

func local(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	return w
}

func TestPublish_AsksAndPublishes(t *testing.T) {
	w := local(t)
	w.UI.Answers = []string{"no", "yes"}
	w.Run(publish.Command, "web").Done().Prints("Aborted: nothing was changed")
	w.Run(publish.Command, "web").Done().Prints("Published @alice/web 1.0.0, the stack's first version")
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], "Publish @alice/web 1.0.0?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Run(publish.Command, "web").Done().Prints("published already, with the same content")
	w.Unprinted("the version is published", publish.Command, "web")
}

func TestPublish_ForceUploadsAgain(t *testing.T) {
	w := local(t)
	uploads := 0
	w.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			uploads++
		}
		return false
	})
	for i, args := range [][]string{{"web", "--force"}, {"web"}, {"web", "--force"}} {
		w.Run(publish.Command, args...).Done()
		if want := []int{1, 1, 2}[i]; uploads != want {
			t.Errorf("publish %v: %d uploads, want %d", args, uploads, want)
		}
	}
	w.Run(publish.Command, "web", "--force").Done().Prints("published already, with the same content",
		"the files were uploaded again")
}

func TestPublish_RefusesOtherContentAndOlderVersions(t *testing.T) {
	w := local(t)
	w.Publish("1.0.0")
	w.Run(publish.Command, "web", "--json").Fails("version_exists", "publish")
	w.Write(".tool/web/stack.json", `{"name": "@alice/web", "version": "0.9.0"}`)
	f := w.Run(publish.Command, "web", "--json").Fails("version_not_newer", "publish")
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "raise version in .tool/web/stack.json") {
		t.Errorf("the hint is %q", hint)
	}
}

func TestPublish_DryRunPublishesNothing(t *testing.T) {
	w := local(t)
	plan := w.Run(publish.Command, "web", "--json", "--dry-run").Done().JSON()
	if plan["firstVersion"] != true || plan["authorized"] != true || plan["alreadyPublished"] != false {
		t.Errorf("%v", plan)
	}
	if _, err := w.Client().Stack(t.Context(), apptest.Stack); err == nil {
		t.Error("it is published")
	}
}

func TestPublish_NamesTheStackAfterTheLogin(t *testing.T) {
	w := local(t)
	w.Write(".tool/web/stack.json", `{"version": "1.0.0"}`)
	w.Run(publish.Command, "web", "--force").Done().Prints("added the name @alice/web")
	if !strings.Contains(w.Read(".tool/web/stack.json"), "@alice/web") {
		t.Error("the name is not added")
	}
}

func TestPublish_LostResponseIsAmbiguous(t *testing.T) {
	w := local(t)
	lost := false
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || lost {
			return false
		}
		lost = true
		w.Hub.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	r := w.Run(publish.Command, "web", "--json", "--force").Done().JSON()
	notes, _ := r["notes"].([]any)
	if r["alreadyPublished"] != true || len(notes) != 1 || !strings.Contains(fmt.Sprint(notes), "may have published it") {
		t.Errorf("%v", r)
	}
}

func stackJSON(w *apptest.World, version string) {
	w.Write(".tool/web/stack.json", "{\n\t\"name\": \"@alice/web\",   \"version\": \""+version+"\"\n}\n")
}

func hasStackJSON(w *apptest.World, version string) {
	w.Helper()
	if got, want := w.Read(".tool/web/stack.json"),
		"{\n\t\"name\": \"@alice/web\",   \"version\": \""+version+"\"\n}\n"; got != want {
		w.Errorf("stack.json is %q, want %q", got, want)
	}
}

func TestPublish_BumpRaisesTheVersion(t *testing.T) {
	w := local(t)
	w.Publish("1.4.2")
	stackJSON(w, "1.4.2")
	f := w.Run(publish.Command, "web", "--json").Fails("version_exists", "publish")
	if recipe := fmt.Sprint(f["recipe"]); !strings.Contains(recipe, "publish web --bump patch") {
		t.Errorf("the recipe is %s", recipe)
	}
	w.Run(publish.Command, "web", "--bump", "minor", "--dry-run").Done().
		Prints("would add version 1.5.0", "publishing raises the version in .tool/web/stack.json from 1.4.2 to 1.5.0")
	hasStackJSON(w, "1.4.2")
	w.UI.Answers = []string{"no", "yes"}
	w.Run(publish.Command, "web", "--bump", "minor").Done().Prints("Aborted")
	hasStackJSON(w, "1.4.2")
	w.Run(publish.Command, "web", "--bump", "minor").Done().
		Prints("Published @alice/web 1.5.0", "raised the version in .tool/web/stack.json from 1.4.2 to 1.5.0")
	hasStackJSON(w, "1.5.0")
	w.Run(publish.Command, "web", "--bump", "tiny").Exits(2)
}

func TestPublish_BumpRestoresTheVersionWhenNothingWasPublished(t *testing.T) {
	w := local(t)
	stackJSON(w, "1.4.2")
	w.Publish("2.0.0")
	f := w.Run(publish.Command, "web", "--bump", "patch", "--json").Fails("version_not_newer", "publish")
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "raise version in .tool/web/stack.json to 2.0.0") ||
		!strings.Contains(fmt.Sprint(f["recipe"]), "publish web --bump patch") {
		t.Errorf("%v", f)
	}
	hasStackJSON(w, "1.4.2")
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPut && apptest.Refuse(rw, 403, "not_permitted", "no")
	})
	w.Run(publish.Command, "web", "--bump", "major", "--json").Fails("version_exists", "publish")
	stackJSON(w, "2.0.0")
	w.Run(publish.Command, "web", "--bump", "major", "--json").Fails("not_permitted", "publish")
	hasStackJSON(w, "2.0.0")
}

func TestPublish_BumpKeepsTheVersionThatMayBePublished(t *testing.T) {
	w := local(t)
	stackJSON(w, "1.4.2")
	w.Env["CI"] = "1"
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			w.Hub.ServeHTTP(httptest.NewRecorder(), r)
			return apptest.Refuse(rw, 500, "internal", "broken")
		}
		return false
	})
	f := w.Run(publish.Command, "web", "--bump", "patch", "--json").Exits(1).JSON()
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "version 1.4.3 now, which may be published") {
		t.Errorf("%v", f)
	}
	hasStackJSON(w, "1.4.3")
	w.Intercept(nil)
	w.Run(publish.Command, "web", "--json").Done().Prints(`"alreadyPublished":true`)
}

func TestPublish_ChecksThePreviewModule(t *testing.T) {
	w := local(t)
	manifest := func(preview string) {
		w.Write(".tool/web/stack.json", `{"name": "@alice/web", "version": "1.0.0", "preview": `+preview+`}`)
	}
	refused := func(want string) {
		t.Helper()
		f := w.Run(publish.Command, "web", "--json").Fails("invalid_file", "stack")
		if message, _ := f["reason"].(string); !strings.Contains(message, want) {
			t.Errorf("%v", f)
		}
	}
	manifest(`{"module": "mod.ts", "contract": 2}`)
	refused("preview.contract must be 1")
	manifest(`{"module": "mod.ts", "contract": 1}`)
	refused("names mod.ts, which is not in the bundle")
	w.Write(".tool/web/mod.ts", "export const toArtifacts = () => ({})")
	w.Run(publish.Command, "web", "--force").Done().Prints("Published @alice/web 1.0.0")
}

func TestPublish_ChecksSettingsSchema(t *testing.T) {
	w := apptest.New(t)
	w.Write(".tool/web/stack.json",
		`{"name": "@alice/web", "version": "1.0.0", "settings": {"schema": "settings.schema.json"}}`)
	refused := func(code, stage, want string) {
		t.Helper()
		f := w.Run(publish.Command, "web", "--json").Fails(code, stage)
		if message, _ := f["reason"].(string); !strings.Contains(message, want) {
			t.Errorf("%v", f)
		}
	}
	refused("invalid_file", "stack", "names settings.schema.json, which is not in the bundle")
	w.Write(".tool/web/settings.schema.json", `{"type": "object",}`)
	refused("invalid_file", "stack", "which is not JSON")
	w.Write(".tool/web/settings.schema.json", `{"type": "objekt"}`)
	refused("invalid_body", "publish", "settings.schema.json is not a JSON Schema")
	w.Write(".tool/web/settings.schema.json", `{"type": "object"}`)
	w.Run(publish.Command, "web", "--force").Done().Prints("Published @alice/web 1.0.0")
}

func TestPublish_GoesToTheHubOfTheEnvironment(t *testing.T) {
	w, other := local(t), apptest.New(t)
	w.Write(".tool/web/client.prod.json", `{"origin": "`+other.Origin+`"}`)
	w.Run(login.Command, "--origin", other.Origin, "--token", other.Token).Done()
	delete(w.Env, "TOOL_HUB_TOKEN") // TOOL_API_ORIGIN names another hub, which comes after the environment's
	w.Env["TOOL_ENV"] = "prod"
	if r := w.Run(publish.Command, "web", "--json").Done().JSON(); r["origin"] != other.Origin ||
		r["environment"] != "prod" {
		t.Errorf("it was published to %v", r)
	}
	if _, err := other.Client().Stack(t.Context(), apptest.Stack); err != nil {
		t.Errorf("the environment's hub does not have it: %v", err)
	}
	if _, err := w.Client().Stack(t.Context(), apptest.Stack); err == nil {
		t.Error("the workspace's hub has it, too")
	}

	// An environment that the project does not have is not another hub's.
	w.Env["TOOL_ENV"] = "staging"
	w.Run(publish.Command, "web").Exits(2).Prints(`web has no environment "staging"`, "its environments: prod")
}

func TestPublish_SendsWhatTheHubTakes(t *testing.T) {
	w := local(t)
	w.Write(".tool/web/large", "")
	if err := os.Truncate(filepath.Join(w.Dir, ".tool/web/large"), basefiles.UsualLimits.BaseFileBytes+1); err != nil {
		t.Fatal(err)
	}
	w.Run(publish.Command, "web", "--json").Fails("too_large", "read")
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/openapi.json" {
			return false
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Hub-Version", "1.0.0")
		rw.Write([]byte(`{"info": {"x-limits": {"configBytes": 1}}}`))
		return true
	})
	w.Run(publish.Command, "web", "--dry-run").Done().Prints("+ large")
	w.Run(publish.Command, "web", "--json").Fails("too_large", "publish") // the hub itself
}
