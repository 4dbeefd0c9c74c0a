package pull_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

// onHub is a world in which only the hub has @alice/web, with base files.
func onHub(t *testing.T) *apptest.World {
	t.Helper()
	w := apptest.Differing(t)
	w.Write("apps/web/src/main.ts", "1")
	w.Write("apps/web/Makefile", "all:")
	w.Write(".tool/web/client.json", `{"project": "@alice/web", "settings": {"basePath": "apps/web/src", "title": "hub"}}`)
	w.Run(push.Command, "web", "--base-files", "--force").Done()
	for _, dir := range []string{".tool", "apps"} {
		if err := os.RemoveAll(filepath.Join(w.Dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func noLocal(t *testing.T, w *apptest.World) {
	t.Helper()
	for _, name := range []string{".tool", "apps"} {
		if _, err := os.Lstat(filepath.Join(w.Dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func TestPull_CreatesTheLocalProjectOfAHubProject(t *testing.T) {
	w := onHub(t)
	w.UI.Answers = []string{"no"}
	w.Run(pull.Command, "@alice/web", "--base-files").Done().Prints("Aborted")
	noLocal(t, w)
	w.Strict = true
	w.Run(pull.Command, "@alice/web", "--base-files", "--json").Fails("files_unconfirmed", "pull")
	w.Run(pull.Command, "@alice/none", "--json").Fails("not_found", "pull")
	w.Run(pull.Command, "@alice/web", "--mine").Exits(2)
	w.Run(pull.Command, "@alice/web", "web").Exits(2)
	noLocal(t, w)
	w.Run(pull.Command, "@alice/web", "--base-files", "--force").Done().
		Prints("Created the local project web from @alice/web in "+w.Dir+"\n", "base files   2")
	wantSettings(t, w, `"project": "@alice/web"`)
	wantSettings(t, w, `"title": "hub"`)
	if got := w.Read("apps/web/src/main.ts"); got != "1" {
		t.Errorf("main.ts has %q", got)
	}
	w.Run(push.Command, "web", "--base-files", "--no-clobber").Done().Prints("Already up to date.")
	w.Run(pull.Command, "@alice/web").Done().Prints("Already up to date.")
	w.Run(pull.Command, "alice/web").Done().Prints("Already up to date.")
	w.Run(pull.Command, "web", "--undo", "--json").Fails("nothing_kept", "read")
}

// What an interrupted pull leaves is no config that a push could send.
func TestPull_HasNoSettingsUntilItHasTheHubs(t *testing.T) {
	w := onHub(t)
	w.Strict = true
	w.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/config") && r.Method == http.MethodGet {
			w.Intercept(nil)
			w.Run(push.Command, "web", "--json").Fails("no_settings", "read")
		}
		return false
	})
	w.Run(pull.Command, "@alice/web").Done()
	wantSettings(t, w, `"title": "hub"`)
	w.Strict = false
	w.Write(".tool/web/client.json", `{"project": "@alice/web", "$schema": "`+w.Origin+`/schema/client.json"}`)
	w.Run(pull.Command, "@alice/web").Done() // without a question: no settings are replaced
	wantSettings(t, w, `"title": "hub"`)
	wantSettings(t, w, `"$schema": "`+w.Origin+`/schema/client.json"`)
}

func TestPull_ThatFailsLeavesTheNewProjectThatAnotherPullFilled(t *testing.T) {
	w := onHub(t)
	w.Strict = true
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/config") {
			return false
		}
		w.Intercept(nil)
		w.Run(pull.Command, "@alice/web").Done()
		rw.WriteHeader(http.StatusForbidden)
		return true
	})
	w.Run(pull.Command, "@alice/web").Exits(1)
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_CreatesNothingOverALocalProject(t *testing.T) {
	w := onHub(t)
	const own = `{"project": "@bob/web", "settings": {"title": "own"}}`
	w.Write(".tool/web/client.json", own)
	w.Run(pull.Command, "@alice/web", "--json").Fails("invalid_file", "read")
	w.Run(pull.Command, "@alice/web").Exits(1).Prints("pull web --project @alice/web")
	if got := w.Read(".tool/web/client.json"); got != own {
		t.Errorf("client.json is %s", got)
	}
	w.Write("file", "")
	if err := os.Symlink("../file", filepath.Join(w.Dir, ".tool", "shop")); err != nil {
		t.Skip(err)
	}
	if r := w.Run(pull.Command, "@alice/shop").Exits(1); strings.Contains(r.Err, "try: ") {
		t.Errorf("advice that cannot work: %s", r.Err)
	}
}

func TestPull_AsksForTheRulesOfAnAppOnlyWhereOneIs(t *testing.T) {
	w := onHub(t)
	w.Write("apps/web/.toolignore", "/drafts/")
	w.Write(".tool/web/client.json", `{"project": "@alice/web", "settings": {"basePath": "apps/web/src", "title": "hub"}}`)
	w.Run(push.Command, "web", "--base-files", "--force").Done()
	dir := t.TempDir()
	w.Strict = true
	w.Run(pull.Command, "@alice/web", "--base-files", "-C", dir).Done()
	if err := os.Remove(filepath.Join(dir, "apps/web/.toolignore")); err != nil {
		t.Fatal(err)
	}
	w.Run(pull.Command, "web", "--base-files", "-C", dir, "--json").Fails("files_unconfirmed", "pull")
}

func TestPull_SavesFilesThatANewProjectReplaces(t *testing.T) {
	w := onHub(t)
	w.Write("apps/web/src/main.ts", "own")
	w.Strict = true
	w.Run(pull.Command, "@alice/web", "--base-files", "--json").Fails("files_differ", "pull")
	w.Run(pull.Command, "@alice/web", "--base-files", "--force").Done()
	w.Run(pull.Command, "web", "--undo").Done().Prints("Restored the base files of web")
	if got := w.Read("apps/web/src/main.ts"); got != "own" {
		t.Errorf("main.ts has %q", got)
	}
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_CreatesTheLocalProjectInTheWorkspaceAbove(t *testing.T) {
	w := onHub(t)
	w.Write(".tool/shop/client.json", `{"settings": {}}`)
	w.Write("apps/note.txt", "")
	w.Run(pull.Command, "@alice/web", "-C", filepath.Join(w.Dir, "apps")).Done().Prints(" in " + w.Dir + "\n")
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_CreatesTheLocalProjectOfAHubProjectWithoutConfig(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project("")
	w.Run(pull.Command, "@alice/web", "--base-files").Done().
		Prints("Created the local project web from @alice/web", "holds no base files")
	wantSettings(t, w, `"settings": {}`)
	w.Write(".tool/web/client.json", `{"project": "@alice/web", "settings": {"title": "own"}}`)
	w.Run(push.Command, "web", "--no-clobber").Done()
}
