package pull_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
)

// threeLocals are web, which is pulled from a hub project, gone, whose hub project does not
// exist, and web2, which is pulled from the same as web.
func threeLocals(t *testing.T) *apptest.World {
	t.Helper()
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/gone/client.json", `{"project": "@alice/gone", "settings": {"title": "kept"}}`)
	w.Write(".tool/web2/client.json", `{"project": "@alice/web", "settings": {"title": "old"}}`)
	w.Edit(apptest.Stack, "title", `"hub"`)
	return w
}

func TestPull_OfSeveralGoesOnAfterAFailure(t *testing.T) {
	w := threeLocals(t)
	r := w.Run(pull.Command, "web", "gone", "web2", "--force").Exits(1)
	r.Prints("Pulled web from @alice/web", "Pulled web2 from @alice/web", "error: pull gone",
		"1 of 3 local projects failed: gone")
	for name, want := range map[string]string{"web": "hub", "web2": "hub", "gone": "kept"} {
		if client := w.Read(".tool/" + name + "/client.json"); !strings.Contains(client, `"title": "`+want+`"`) {
			t.Errorf("%s: client.json is %s, want %s", name, client, want)
		}
	}
}

func TestPull_OfAllPrintsOneDocument(t *testing.T) {
	w := threeLocals(t)
	f := w.Run(pull.Command, "--all", "--force", "--json").Fails("some_failed", "pull")
	results, _ := f["results"].([]any)
	got := []string{}
	for _, r := range results {
		document := r.(map[string]any)
		got = append(got, fmt.Sprint(document["projectName"], " ", document["type"]))
	}
	if fmt.Sprint(got) != "[gone failed web pulled web2 pulled]" {
		t.Errorf("the results are %v", got)
	}
}

func TestPull_OfSeveralTakesNoFlagOfOne(t *testing.T) {
	w := threeLocals(t)
	w.Run(pull.Command, "web", "web2", "--project", "@alice/web").Exits(2)
	w.Run(pull.Command, "web", "--all").Exits(2)
	w.Run(pull.Command, "web", "web").Exits(2)
}
