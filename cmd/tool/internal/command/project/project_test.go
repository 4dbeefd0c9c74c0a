package project_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/project"
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
	w.Run(command, "view", "@alice/web", "--web").Done().Prints("http://hub.test")
	w.Run(command, "view", "@alice/none", "--json").Fails("not_found", "view")
	f := w.Run(command, "view", "web", "--json").Fails("invalid_name", "destination")
	if recipe, _ := f["recipe"].([]any); len(recipe) != 1 || !strings.Contains(recipe[0].(string), "project view @alice/web") {
		t.Errorf("%v", f)
	}
}

func TestRm_AsksForTheWholeName(t *testing.T) {
	w := world(t)
	w.UI.Answers = []string{"", "@alice/web"}
	w.Run(command, "rm", "web").Done().Prints("Aborted")
	w.Run(command, "rm", "web").Done().Prints("Deleted alice/web")
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], "Delete @alice/web for good?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestRm_OfWhatIsGoneIsDone(t *testing.T) {
	w := world(t)
	w.Run(command, "rm", "@alice/wep", "--force").Done().Prints("alice/wep was gone already", "did you mean @alice/web?")
}

func TestRm_FailsWithoutScopeOrName(t *testing.T) {
	w := world(t)
	w.Run(command, "rm", "A b", "--json").Fails("invalid_name", "destination")
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("write:config")
	w.Run(command, "rm", "@alice/web", "--json").Fails("missing_scope", "rm")
	w.Run(command, "rm").Exits(2)
}
