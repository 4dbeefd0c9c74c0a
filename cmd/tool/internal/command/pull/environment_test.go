package pull_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestPull_WritesAKeyIntoTheFileItCameFrom(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	project := w.Project(`{"title": "live", "size": 1}`)
	w.Local("", `{"title": "local", "size": 1}`)
	w.Write(".tool/web/client.prod.json", "{\n  \"project\": \"@alice/web\",\n  \"settings\": {\"title\": \"live\"}\n}\n")
	w.Run(push.Command, "web", "--env", "prod").Done()
	w.Edit(project, "title", `"from the page"`)
	w.Run(pull.Command, "web", "--env", "prod").Done().Prints("changed: .tool/web/client.prod.json\n", "pull web --undo --env prod")
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
	if got := w.Read(".tool/web/pulled.json"); !strings.Contains(got, `"`+w.Origin+`#prod"`) || !strings.Contains(got, `"`+w.Origin+`":`) {
		t.Errorf("pulled.json is %s", got)
	}
}
