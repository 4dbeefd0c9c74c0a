package pull_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/ref"
)

// inProd is a workspace whose environment prod has a title of its own, and was pushed.
func inProd(t *testing.T) (w *apptest.World, project ref.Ref) {
	t.Helper()
	w = apptest.New(t)
	w.Strict = true
	project = w.Project(`{"title": "live", "size": 1}`)
	w.Local("", `{"title": "local", "size": 1}`)
	w.Write(".tool/web/client.prod.json", "{\n  \"project\": \"@alice/web\",\n  \"settings\": {\"title\": \"live\"}\n}\n")
	w.Run(push.Command, "web", "--env", "prod").Done()
	return w, project
}

func TestPull_WritesAKeyIntoTheFileItCameFrom(t *testing.T) {
	t.Parallel()
	w, project := inProd(t)
	w.Edit(project, "title", `"from the page"`)
	w.Run(pull.Command, "web", "--env", "prod").Done().Prints("changed: .tool/web/client.prod.json\n",
		"pull web --undo --env prod")
	w.Edit(project, "size", `2`)
	w.Run(pull.Command, "web", "--env", "prod").Done().Prints("changed: .tool/web/client.json\n")
	if got := w.Read(".tool/web/client.prod.json"); !strings.Contains(got, `{"title": "from the page"}`) {
		t.Errorf("client.prod.json is %s", got)
	}
	if got := w.Read(".tool/web/client.json"); !strings.Contains(got, `{"title": "local", "size": 2}`) {
		t.Errorf("client.json is %s", got)
	}
	w.Run(pull.Command, "web", "--env", "prod", "--undo").Done()
	if got := w.Read(".tool/web/client.json"); !strings.Contains(got, `{"title": "local", "size": 1}`) {
		t.Errorf("after undo, client.json is %s", got)
	}
}

// A pull in an environment writes two files. It can be killed after the first one.
func TestPull_CompletesAPullThatWroteOneOfTwoFiles(t *testing.T) {
	t.Parallel()
	w, project := inProd(t)
	names := []string{".tool/web/client.json", ".tool/web/client.prod.json", ".tool/web/pulled.json"}
	before, after := map[string]string{}, map[string]string{}
	for _, name := range names {
		before[name] = w.Read(name)
	}
	w.Edit(project, "title", `"new"`)
	w.Edit(project, "size", `2`)
	w.Run(pull.Command, "web", "--env", "prod").Done().Prints("changed: .tool/web/client.prod.json, .tool/web/client.json")
	for _, name := range names {
		after[name] = w.Read(name)
	}

	// The state between the two writes.
	saved, err := filepath.Glob(filepath.Join(w.Env["TOOL_STATE_DIR"], "pulls", "*", "last"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("saved: %v, %v", saved, err)
	}
	if err := os.Rename(saved[0], filepath.Join(filepath.Dir(saved[0]), "pending")); err != nil {
		t.Fatal(err)
	}
	w.Write(names[0], before[names[0]])
	w.Write(names[2], before[names[2]])

	w.Run(pull.Command, "web", "--env", "prod").Done().Prints("changed: .tool/web/client.json\n",
		"the previous settings are saved")
	for _, name := range names {
		if got := w.Read(name); got != after[name] {
			t.Errorf("%s is %s, want %s", name, got, after[name])
		}
	}
	w.Run(pull.Command, "web", "--env", "prod", "--undo").Done()
	for _, name := range names {
		if got := w.Read(name); got != before[name] {
			t.Errorf("after undo, %s is %s, want %s", name, got, before[name])
		}
	}
}

func TestPull_KeepsTheBasesOfEnvironmentsOnOneHubApart(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Project(`{"title": "hub"}`)
	w.Local("@alice/web", `{"title": "hub"}`)
	w.Write(".tool/web/client.prod.json", `{"project": "@alice/web", "settings": {"title": "live"}}`)
	w.Run(pull.Command, "web").Done()
	w.Run(push.Command, "web", "--env", "prod").Done()
	// The hub has what prod pushed. For client.json that is a change by others, which it takes.
	w.Run(pull.Command, "web").Done()
	if got := w.Read(".tool/web/client.json"); !strings.Contains(got, `"live"`) {
		t.Errorf("client.json is %s", got)
	}
	if got := w.Read(".tool/web/pulled.json"); !strings.Contains(got, `"`+w.Origin+`#prod"`) ||
		!strings.Contains(got, `"`+w.Origin+`":`) {
		t.Errorf("pulled.json is %s", got)
	}
}
