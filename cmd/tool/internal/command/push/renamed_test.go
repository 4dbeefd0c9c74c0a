package push_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// rename renames @alice/web, and returns it under its new name.
func rename(t *testing.T, w *apptest.World, slug string) ref.Ref {
	t.Helper()
	p, err := w.Client().EditProject(t.Context(), apptest.Stack, wire.EditProject{Slug: slug})
	if err != nil {
		t.Fatal(err)
	}
	return p.Project
}

func TestPush_ClientJSONFollowsARename(t *testing.T) {
	w := apptest.Differing(t)
	w.Write("web/index.html", "<h1>Hello</h1>")
	w.Run(push.Command, "web", "--force", "--base-files").Done()
	shop := rename(t, w, "shop")

	// A pull works under the former name, and leaves it there.
	w.Edit(shop, "title", `"hub"`)
	w.Run(pull.Command, "web", "--force").Done().Prints("@alice/web was renamed to @alice/shop: the next push records it")
	if client := w.Read(".tool/web/client.json"); !strings.Contains(client, `"@alice/web"`) {
		t.Error(client)
	}
	w.Local("@alice/web", `{"title": "again"}`)
	w.Run(push.Command, "web", "--force", "--dry-run").Done()
	w.Run(push.Command, "web", "--force", "--base-files").Done().Prints("Pushed web to @alice/shop",
		"@alice/web was renamed to @alice/shop", "the destination was recorded in .tool/web/client.json (was @alice/web)")
	if config, _ := w.Config(shop); config != `{"title":"again"}` {
		t.Error(config)
	}
	for _, name := range []string{"client.json", "pulled.json"} {
		if text := w.Read(".tool/web/" + name); !strings.Contains(text, `"@alice/shop"`) ||
			strings.Contains(text, "@alice/web") {
			t.Errorf("%s is %s", name, text)
		}
	}
	r := w.Run(push.Command, "web", "--force").Done().Prints("Already up to date.")
	if strings.Contains(r.Out, "renamed") {
		t.Error(r.Out)
	}
}

// What was pulled under the former name is the base under the new one: nobody else's edit is undone.
func TestPush_ARenameKeepsTheBase(t *testing.T) {
	w := apptest.Differing(t)
	w.Run(pull.Command, "web", "--force").Done()
	shop := rename(t, w, "shop")
	w.Strict = true
	w.Run(push.Command, "web", "--no-clobber", "--no-record").Done().Prints("@alice/web was renamed to @alice/shop")
	if client := w.Read(".tool/web/client.json"); !strings.Contains(client, `"@alice/web"`) {
		t.Error(client)
	}
	w.Run(push.Command, "web", "--no-clobber").Done()
	w.Write(".tool/web/client.json", strings.Replace(w.Read(".tool/web/client.json"), `"hub"`, `"mine"`, 1))
	w.Run(push.Command, "web", "--no-clobber").Done()
	if config, _ := w.Config(shop); config != `{"title":"mine"}` {
		t.Error(config)
	}
}
