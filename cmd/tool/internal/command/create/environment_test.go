package create_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/create"
)

func TestCreate_RecordsInTheEnvironment(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Publish("1.0.0")
	w.Local("@alice/elsewhere", `{"title": "local"}`)
	before := w.Read(".tool/web/client.json")
	w.Write(".tool/web/client.prod.json", `{"origin": "`+w.Origin+`", "settings": {"title": "live"}}`)
	command := func(a *app.App) *cobra.Command { return create.Command(a, nil) }
	w.Run(command, "web", "--env", "prod").Done().Prints("environment  prod")
	if got := w.Read(".tool/web/client.prod.json"); !strings.Contains(got, `"project": "@alice/web"`) ||
		!strings.Contains(got, `"api": "@alice/web"`) {
		t.Errorf("client.prod.json is %s", got)
	}
	if got := w.Read(".tool/web/client.json"); got != before {
		t.Errorf("client.json is %s", got)
	}
	if config, _ := w.Config(apptest.Stack); config != `{"title":"live"}` {
		t.Errorf("the hub holds %s", config)
	}
}
