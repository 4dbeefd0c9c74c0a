package cli

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
)

// homeCommand is the home view as a command of its own.
func homeCommand(a *app.App) *cobra.Command {
	return &cobra.Command{Use: "home", RunE: a.Run(func(c context.Context, _ []string) error { return home(c, a) })}
}

func TestHome_ShowsEachProjectsState(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func(w *apptest.World){
		"not created on a hub":     func(w *apptest.World) { w.Local("", `{}`) },
		"not on the hub":           func(w *apptest.World) { w.Local("@alice/other", `{}`) },
		"differs":                  func(w *apptest.World) { w.Local("@alice/web", `{"title": "local"}`) },
		"same":                     func(w *apptest.World) { w.Local("@alice/web", `{"title": "hub"}`) },
		"has a problem":            func(w *apptest.World) { w.Write(".tool/web/client.json", "{") },
		"unknown until you log in": func(w *apptest.World) { w.Local("@alice/web", `{}`); delete(w.Env, "TOOL_HUB_TOKEN") },
		"unknown: the hub could not be queried": func(w *apptest.World) {
			w.Local("@alice/web", `{}`)
			w.Env["TOOL_API_ORIGIN"] = "http://127.0.0.1:1"
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t)
			w.Project(`{"title": "hub"}`)
			prepare(w)
			w.UI.Answers = []string{"q"}
			w.Run(homeCommand).Done()
			if len(w.UI.Items) != 1 || w.UI.Items[0].State != want {
				t.Errorf("%+v", w.UI.Items)
			}
		})
	}
}

func TestHome_ActsAndReturns(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "local"}`)
	w.UI.Answers = []string{"p", "yes", "q"}
	w.Run(homeCommand).Done().Prints("Pushed web to @alice/web")
	if config, _ := w.Config(apptest.Stack); config != `{"title":"local"}` {
		t.Errorf("the hub has %s", config)
	}
	if len(w.UI.Asked) != 3 || !strings.Contains(w.UI.Asked[1], "Overwrite the config") ||
		!strings.Contains(w.UI.Asked[2], "Pushed web to @alice/web") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestHome_ReportsAFailureAndGoesOn(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.UI.Answers = []string{"o", "q"}
	w.Run(homeCommand).Done().Prints("error: open the page of web: web has not been created on a hub")
}

func TestHome_SaysWhatIsNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		project, settings string
		next, off         string // why p does nothing
	}{
		"not created": {"", `{}`, "create it: press c", "web has not been created on a hub: press c to create it"},
		"differs":     {"@alice/web", `{"title": "local"}`, "see what differs: press d", ""},
		"same": {
			"@alice/web", `{"title": "hub"}`, "", "web is the same on the hub: there is nothing to push",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t)
			w.Project(`{"title": "hub"}`)
			w.Local(c.project, c.settings)
			w.UI.Answers = []string{"q"}
			w.Run(homeCommand).Done()
			if item := w.UI.Items[0]; item.Next != c.next || item.Off["p"] != c.off {
				t.Errorf("%+v", item)
			}
		})
	}
}

func TestHome_ShowsTheDifferenceAndTheHistory(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "local"}`)
	w.UI.Answers = []string{"d", "h", "q"}
	w.Run(homeCommand).Done()
	shown := strings.Join(w.UI.Asked, "\n")
	for _, want := range []string{`~ title: "hub" → "local"`, "History of web\n", "create  +1 ~0 -0"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not shown:\n%s", want, shown)
		}
	}
}

func TestHome_TakesEnvironmentsInTurn(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "local"}`)
	w.Write(".tool/web/client.staging.json", `{"project": "@alice/web"}`)
	w.UI.Answers = []string{"e", "e", "q"}
	w.Run(homeCommand).Done()
	inStaging := []bool{}
	for _, asked := range w.UI.Asked {
		inStaging = append(inStaging, strings.HasPrefix(asked, "staging: "))
	}
	if !slices.Equal(inStaging, []bool{false, true, false}) {
		t.Errorf("asked %q", w.UI.Asked)
	}
}
