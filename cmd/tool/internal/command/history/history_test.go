package history_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/history"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/wire"
)

// edited returns a World whose hub project had the titles hub, second and third, and their
// revisions.
func edited(t *testing.T) (w *apptest.World, revisions []string) {
	t.Helper()
	w = apptest.Differing(t)
	_, revision := w.Config(apptest.Stack)
	revisions = append(revisions, revision)
	for _, title := range []string{"second", "third"} {
		w.Edit(apptest.Stack, "title", `"`+title+`"`)
		_, revision := w.Config(apptest.Stack)
		revisions = append(revisions, revision)
	}
	return w, revisions
}

func TestLog_ListsWritesNewestFirst(t *testing.T) {
	w, revisions := edited(t)
	r := w.Run(history.LogCommand, "web").Done()
	lines := strings.Split(strings.TrimSpace(r.Out), "\n")
	if len(lines) != 4 || lines[0] != "@alice/web on "+w.Origin {
		t.Fatalf("%s", r.Out)
	}
	for i, line := range lines[1:] {
		start := fmt.Sprintf("r%d  %s  just now  ", 4-i, revisions[2-i][:12])
		if !strings.HasPrefix(line, start) || !strings.Contains(line, "  alice  ") {
			t.Errorf("line %d: %s", i, line)
		}
	}
	r.Prints("  api     +0 ~1 -0  ~ title\n", "  create  +1 ~0 -0  + title\n")
	entries := w.Run(history.LogCommand, "--json").Done().JSON()["config"].([]any)
	if first := entries[0].(map[string]any); len(entries) != 3 || first["revision"] != revisions[2] ||
		first["parent"] != revisions[1] || first["tokenName"] != "test" {
		t.Errorf("%v", entries)
	}
}

func TestLog_TakesAHubProjectOutsideOfAWorkspace(t *testing.T) {
	w, revisions := edited(t)
	dir := t.TempDir()
	w.Run(history.LogCommand, "alice/web", "-n", "1", "-C", dir).Done().
		Prints(revisions[2][:12], "log --project @alice/web -n 2")
	w.Run(history.ShowCommand, "@alice/web", revisions[2], "-C", dir).Done().Prints(`~ title: "second" → "third"`)
}

func TestLog_EndsAfterNEntries(t *testing.T) {
	w, revisions := edited(t)
	w.Run(history.LogCommand, "web", "-n", "1").Done().
		Prints(revisions[2][:12], "to list more: tool -C "+w.Dir+" log web -n 2")
	if r := w.Run(history.LogCommand, "web", "-n", "3").Done(); strings.Contains(r.Out, "older") {
		t.Errorf("%s", r.Out)
	}
	w.Run(history.LogCommand, "web", "-n", "-1").Exits(2)
	// More entries than the hub sends at once.
	for i := range 210 {
		w.Edit(apptest.Stack, "n", fmt.Sprint(i))
	}
	entries := w.Run(history.LogCommand, "web", "-n", "0", "--json").Done().JSON()["config"].([]any)
	if len(entries) < 205 {
		t.Errorf("%d entries", len(entries))
	}
}

func TestLog_NeedsNoWorkspaceWithProject(t *testing.T) {
	w, revisions := edited(t)
	w.Dir = t.TempDir()
	w.Run(history.LogCommand, "--project", "@alice/web").Done().Prints(revisions[0][:12])
	w.Run(history.ShowCommand, revisions[1][:6], "--project", "alice/web").Done().Prints(`~ title: "hub" → "second"`)
	w.Run(history.LogCommand, "--json").Fails("no_workspace", "read")
}

func TestLog_SaysWhatIsMissing(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(history.LogCommand, "web", "--base-files").Done().Prints("@alice/web has no history yet")
	w.Run(history.LogCommand, "--project", "@alice/none", "--json").Fails("not_found", "log")
}

func TestShow_ComparesWithThePredecessor(t *testing.T) {
	w, revisions := edited(t)
	w.Run(history.ShowCommand, "web", revisions[1][:8]).Done().
		Prints("@alice/web at "+revisions[1], "written by alice just now through the API\n", "token        test",
			"replaced     "+revisions[0], `    ~ title: "hub" → "second"`)
	w.Run(history.ShowCommand, "web", revisions[0]).Done().Prints("replaced     nothing", `    + title: "hub"`)
	r := w.Run(history.ShowCommand, "web", revisions[2], "--json").Done().JSON()
	if r["type"] != "revision" || r["parent"] != revisions[1] || r["changes"].(map[string]any)["changed"] == nil {
		t.Errorf("%v", r)
	}
}

func TestShow_PrintsTheMessageOfAPush(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(push.Command, "web", "--force", "-m", "warmer colours").Done()
	w.Run(history.LogCommand, "web").Done().Prints("  warmer colours\n")
	w.Run(history.ShowCommand, "web", "r3").Done().Prints("message      warmer colours")
	w.Run(push.Command, "web", "--undo", "-m", "why").Exits(2)
}

func TestShow_SaysThatThePredecessorIsNotKept(t *testing.T) {
	w, revisions := edited(t)
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.URL.Query().Get("revision") == revisions[1] &&
			apptest.Refuse(rw, http.StatusNotFound, "revision_not_kept", "it is not kept")
	})
	w.Run(history.ShowCommand, "web", revisions[2]).Done().
		Prints("changes      1 changed", "note: the config that it replaced is no longer kept")
	if r := w.Run(history.ShowCommand, "web", revisions[2], "--json").Done().JSON(); r["changes"] != nil {
		t.Errorf("%v", r)
	}
}

func TestShow_RefusesUnknownAndAmbiguousRevisions(t *testing.T) {
	w, revisions := edited(t)
	w.Run(history.ShowCommand, "web", "r2").Done().Prints(revisions[0], "through create")
	w.Run(history.ShowCommand, "web", "latest~2").Done().Prints(revisions[0], "through create")
	w.Run(history.ShowCommand, "web", "latest~9").Exits(1).
		Prints("the hub keeps no revision of the config of @alice/web as old as latest~9")
	w.Run(history.ShowCommand, "web", "r9").Exits(1).
		Prints("the hub keeps no revision of the config of @alice/web with the number r9")
	w.Run(history.ShowCommand, "web", "r").Exits(2).Prints(
		"<revision> is a number such as r12, latest or latest~1, or 4 to 64")
	w.Run(history.ShowCommand, "web", "0000", "--json").Fails("revision_not_kept", "show")
	w.Run(history.ShowCommand, "web", "0000").Exits(1).Prints("try: tool -C " + w.Dir + " log web")
	for _, bad := range [][]string{{}, {"web"}, {"web", "123"}, {"web", "xyzw"}, {"", "1234"}, {"a", "b", "c"}} {
		w.Run(history.ShowCommand, bad...).Exits(2)
	}
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/history") {
			return false
		}
		rw.Header().Set("Hub-Version", "1.0.0")
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"entries": [{"revision": "abcd1%059d"}, {"revision": "abcd2%059d"}], "nextCursor": ""}`, 0, 0)
		return true
	})
	w.Run(history.ShowCommand, "web", "abcd").Exits(1).
		Prints("abcd is ambiguous: several kept revisions of @alice/web begin with it")
}

func TestRestore_ReplacesTheConfigAfterAYes(t *testing.T) {
	w, revisions := edited(t)
	w.UI.Answers = []string{"no", "yes"}
	w.Run(history.RestoreCommand, "web", revisions[0][:8]).Done().Prints("Aborted")
	wantConfig(t, w, `{"title":"third"}`)
	before := w.Read(".tool/web/client.json")
	w.Run(history.RestoreCommand, "web", revisions[0][:8]).Done().
		Prints("Restored the config of @alice/web", `~ title: "third" → "hub"`,
			"to undo it: tool -C "+w.Dir+" restore web "+revisions[2][:12])
	w.Run(history.LogCommand, "web", "-n", "1").Done().Prints("  restore  ")
	wantConfig(t, w, `{"title":"hub"}`)
	if q := w.UI.Asked[0]; !strings.Contains(q, "Restore the config of @alice/web?") ||
		!strings.Contains(q, `title: "third" -> "hub"`) {
		t.Errorf("asked %q", q)
	}
	if after := w.Read(".tool/web/client.json"); after != before {
		t.Errorf("client.json is %s", after)
	}
}

func TestRestore_AsksAgainWhenTheConfigChangesMeanwhile(t *testing.T) {
	w, revisions := edited(t)
	w.UI.Answers = []string{"yes", "yes"}
	w.UI.Meanwhile = func(string) {
		w.UI.Meanwhile = nil
		w.Edit(apptest.Stack, "title", `"fourth"`)
	}
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool { // the config before was carol's
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/config") || r.URL.RawQuery != "" {
			return false
		}
		w.Intercept(func(http.ResponseWriter, *http.Request) bool { return false })
		config, err := w.Client().Config(t.Context(), apptest.Stack, "")
		if err != nil {
			t.Error(err)
			return false
		}
		config.UpdatedBy = "carol"
		body, err := wire.Encode(config)
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Hub-Version", "1.0.0")
		_, writeErr := rw.Write(body)
		if err := errors.Join(err, writeErr); err != nil {
			t.Error(err)
		}
		return true
	})
	w.Run(history.RestoreCommand, "web", revisions[0]).Done()
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], "carol") ||
		!strings.Contains(w.UI.Asked[1], "alice changed it while you looked") ||
		!strings.Contains(w.UI.Asked[1], "fourth") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestRestore_AsksBeforeItUsesAnotherHub(t *testing.T) {
	w, revisions := edited(t)
	w.Write(".tool/hub.json", `{"origin": "https://hub.example.com"}`)
	w.UI.Answers = []string{"no"}
	w.Run(history.RestoreCommand, "web", revisions[0]).Done().Prints("Aborted: nothing was changed")
	wantConfig(t, w, `{"title":"third"}`)
}

func TestRestore_InAPipeline(t *testing.T) {
	w, revisions := edited(t)
	w.Strict = true
	r := w.Run(history.RestoreCommand, "web", revisions[1][:12], "--dry-run", "--json").Done().JSON()
	if r["type"] != "planned" || r["changed"] != true || r["replaced"] != revisions[2] {
		t.Errorf("%v", r)
	}
	wantConfig(t, w, `{"title":"third"}`)
	r = w.Run(history.RestoreCommand, "web", revisions[1][:12], "--json").Done().JSON()
	if r["type"] != "restored" || r["revision"] != revisions[1] {
		t.Errorf("%v", r)
	}
	wantConfig(t, w, `{"title":"second"}`)
	w.Run(history.RestoreCommand, "web", revisions[1][:12]).Done().
		Prints("Restoring the config of @alice/web changes nothing")
	w.Unprinted("the restore went through", history.RestoreCommand, "web", revisions[1][:12])
	w.Run(history.RestoreCommand, "web", revisions[2][:12]).Done() // the undo
	wantConfig(t, w, `{"title":"third"}`)
}

func TestRestore_FailsWhenTheConfigChangesMeanwhile(t *testing.T) {
	w, revisions := edited(t)
	w.Strict = true
	edited := false
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && !edited {
			edited = true
			w.Edit(apptest.Stack, "title", `"fourth"`)
		}
		return false
	})
	r := w.Run(history.RestoreCommand, "web", revisions[0], "--json").Fails("revision_changed", "restore")
	if recipe := r["recipe"].([]any)[0].(string); !strings.Contains(recipe, "--dry-run") {
		t.Errorf("%v", r)
	}
	wantConfig(t, w, `{"title":"fourth"}`)
}

func TestRestore_MergesIntoClientJSONWithThePullAfterIt(t *testing.T) {
	w, revisions := edited(t)
	w.Strict = true
	w.Run(pull.Command, "web", "--force").Done()
	w.Run(history.RestoreCommand, "web", revisions[0]).Done()
	w.Run(pull.Command, "web").Done()
	if got := w.Read(".tool/web/client.json"); !strings.Contains(got, `"title": "hub"`) {
		t.Errorf("client.json is %s", got)
	}
}

func TestRestore_RestoresBaseFiles(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write("src/a", "alpha")
	w.Run(push.Command, "web", "--base-files-only").Done()
	w.Write("src/a", "beta!")
	w.Write("src/b", "new")
	w.Run(push.Command, "web", "--base-files-only").Done()
	entries := w.Run(history.LogCommand, "web", "--base-files", "--json").Done().JSON()["baseFiles"].([]any)
	first := entries[1].(map[string]any)["tree"].(string)
	w.Run(history.LogCommand, "web", "--base-files").Done().Prints(first[:12], "+1 ~1 -0  ", "files, ")

	w.Run(history.RestoreCommand, "web", first[:12], "--base-files", "--dry-run").Done().Prints("~ src/a", "- src/b")
	w.Strict = false
	w.UI.Answers = []string{"no"}
	w.Run(history.RestoreCommand, "web", first[:12], "--base-files").Done().Prints("Aborted")
	if q := w.UI.Asked[0]; !strings.Contains(q, "- src/b") {
		t.Errorf("asked %q", q)
	}
	w.Run(history.RestoreCommand, "web", first[:12], "--base-files", "--force").Done().
		Prints("Restored the base files of @alice/web")
	if files := w.BaseFiles(apptest.Stack); files["src/a"] != int64(len("alpha")) || files["src/b"] != 0 {
		t.Errorf("%v", files)
	}
	w.Run(history.RestoreCommand, "web", first[:12], "--base-files").Done().Prints("changes nothing")
	w.Run(history.RestoreCommand, "web", "0000", "--base-files", "--json").Fails("revision_not_kept", "restore")
}

func wantConfig(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if got, _ := w.Config(apptest.Stack); got != want {
		t.Errorf("the hub has %s, want %s", got, want)
	}
}

func TestLog_UsesTheHubOfTheEnvironment(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Project(`{"title": "hub"}`)
	w.Local("", `{}`)
	w.Write(".tool/web/client.prod.json", `{"origin": "`+w.Origin+`", "project": "@alice/web"}`)
	w.Run(login.Command, "--origin", w.Origin, "--token", w.Token).Done()
	w.Env["TOOL_HUB_TOKEN"], w.Env["TOOL_API_ORIGIN"] = "", "http://127.0.0.1:1"
	for _, args := range [][]string{{"web"}, {"--project", "@alice/web"}} {
		r := w.Run(history.LogCommand, append(args, "--env", "prod", "--json")...).Done().JSON()
		if r["origin"] != w.Origin || len(r["config"].([]any)) != 1 {
			t.Errorf("%v: %v", args, r)
		}
	}
}
