package cli

import (
	"context"
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
	w.UI.Answers = []string{"p", "yes", "back", "q"}
	w.Run(homeCommand).Done().Prints("Pushed web to @alice/web")
	if config, _ := w.Config(apptest.Stack); config != `{"title":"local"}` {
		t.Errorf("the hub has %s", config)
	}
	if len(w.UI.Asked) != 4 || !strings.Contains(w.UI.Asked[1], "Overwrite the config") ||
		!strings.Contains(w.UI.Asked[2], "And now?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}

func TestHome_ReportsAFailureAndGoesOn(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	w.UI.Answers = []string{"o", "back", "q"}
	w.Run(homeCommand).Done().Prints("error: open the page of web: web has not been created on a hub")
}

func TestHome_OffersALocalProjectWhereThereIsNone(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.UI.Answers = []string{"q"}
	w.Run(homeCommand).Done()
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], "Press c to create one.") {
		t.Errorf("asked %q", w.UI.Asked)
	}
}
