package push_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestPush_OfSeveralGoesOnAfterAFailure(t *testing.T) {
	w := apptest.Differing(t)
	w.Strict = true
	w.Write(".tool/lost/client.json", `{"project": "@alice/lost", "settings": {}}`)
	r := w.Run(push.Command, "--all").Exits(1).Prints("error: push lost to @alice/lost", "Pushed web to @alice/web",
		"1 of 2 local projects failed: lost")
	if !strings.HasSuffix(strings.TrimSpace(r.Err), "failed: lost (stage push)") {
		t.Errorf("the summary is not last:\n%s", r.Err)
	}
	if config, _ := w.Config(apptest.Stack); config != `{"title":"local"}` {
		t.Errorf("the config is %s", config)
	}
	f := w.Run(push.Command, "lost", "web", "--json").Fails("some_failed", "push")
	results := f["results"].([]any)
	if len(results) != 2 || results[0].(map[string]any)["code"] != "not_found" ||
		results[1].(map[string]any)["type"] != "pushed" {
		t.Errorf("%v", results)
	}
}

func TestPush_OfSeveralPrintsOneDocument(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".tool/web2/client.json", w.Read(".tool/web/client.json"))
	r := w.Run(push.Command, "--all", "--json").Done().JSON()
	results := r["results"].([]any)
	if r["type"] != "several" || len(results) != 2 || fmt.Sprint(results[1].(map[string]any)["projectName"]) != "web2" {
		t.Errorf("%v", r)
	}
	w.Full = true
	w.Run(push.Command, "--all", "--json").Exits(1).Prints("all of them went through, but its result could not be written")
	w.Full = false
	for _, args := range [][]string{{"--all", "web"}, {"web", "web"}, {"--all", "--undo"},
		{"web", "web2", "--project", "@alice/web"}, {""}} {
		w.Run(push.Command, args...).Exits(2)
	}
}
