package pull_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

// project returns a World whose local project web differs from the hub's in one key.
func project(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "local"}`)
	return w
}

func wantSettings(t *testing.T, w *apptest.World, want string) {
	t.Helper()
	if got := w.Read(".tool/web/client.json"); !strings.Contains(got, want) {
		t.Errorf("client.json is %s, without %s", got, want)
	}
}

func TestPull_AsksBeforeItReplacesSettings(t *testing.T) {
	w := project(t)
	w.UI.Answers = []string{"yes"}
	w.Run(pull.Command, "web").Done().Prints("Pulled web from alice/web")
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Replace the settings in .tool/web/client.json?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_ChangesNothingAfterANo(t *testing.T) {
	w := project(t)
	w.UI.Answers = []string{"no"}
	w.Run(pull.Command, "web").Done().Prints("Aborted")
	wantSettings(t, w, `"title": "local"`)
}

func TestPull_RefusesToDropLocalEditsWithoutATerminal(t *testing.T) {
	w := project(t)
	w.Run(pull.Command, "web", "--json").Fails("would_lose_edits", "pull")
	wantSettings(t, w, `"title": "local"`)
	w.Run(pull.Command, "web", "--json", "--force").Done()
	wantSettings(t, w, `"title": "hub"`)
}

func TestPull_ReplacesSettingsThatWerePulledBefore(t *testing.T) {
	w := project(t)
	w.Strict = true
	w.Run(pull.Command, "web", "--force").Done()
	w.Edit(apptest.Stack, "title", `"edited"`)
	w.Run(pull.Command, "web").Done()
	wantSettings(t, w, `"title": "edited"`)
}

func TestPull_UndoPutsTheFormerSettingsBack(t *testing.T) {
	w := project(t)
	w.Run(pull.Command, "web", "--force").Done()
	w.Run(pull.Command, "web", "--undo").Done().Prints("Put back the settings of web")
	wantSettings(t, w, `"title": "local"`)
	w.Run(pull.Command, "web", "--undo", "--json").Fails("nothing_kept", "read")
}

func TestPull_FailsWithoutConfigProjectOrBaseFiles(t *testing.T) {
	t.Run("no config", func(t *testing.T) {
		t.Parallel()
		w := apptest.New(t)
		w.Project("")
		w.Local("@alice/web", `{}`)
		w.Run(pull.Command, "web", "--json").Fails("no_config", "pull")
	})
	t.Run("no project", func(t *testing.T) {
		t.Parallel()
		w := apptest.New(t)
		w.Local("@alice/web", `{}`)
		w.Run(pull.Command, "web", "--json").Fails("not_found", "pull")
	})
	t.Run("no base files", func(t *testing.T) {
		w := project(t)
		w.Run(pull.Command, "web", "--json", "--base-files-only").Fails("no_base_files", "pull")
	})
}

func TestPull_RefusesFlagsThatExcludeEachOther(t *testing.T) {
	w := project(t)
	for _, args := range [][]string{{"--undo", "--force"}, {"--base-files", "--base-files-only"}, {"--output", "x"}, {"--base-files", "--output", ".tool"}} {
		w.Run(pull.Command, append([]string{"web"}, args...)...).Exits(2)
	}
}

func TestPull_SaysThatUndoLeavesAddedFiles(t *testing.T) {
	w := project(t)
	w.Write("src/index.html", "<p>")
	w.Run(push.Command, "web", "--force", "--base-files").Done()
	if err := os.Remove(filepath.Join(w.Dir, "src", "index.html")); err != nil {
		t.Fatal(err)
	}
	w.Run(pull.Command, "web", "--force", "--base-files").Done().Prints("pull --undo does not remove the added base files (1)")
	if r := w.Run(pull.Command, "web", "--force", "--base-files").Done(); strings.Contains(r.Out, "added base files (") {
		t.Errorf("nothing was added:\n%s", r.Out)
	}
}
