package preview_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/preview"
)

func TestPreview_PrintsAddressOfTab(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Project(`{"title": "Web"}`)
	w.Local("@alice/web", `{"title": "Web"}`)
	r := w.Run(preview.Command, "web").Done()
	if r.Out != w.Origin+"/@alice/web/preview\n" {
		t.Errorf("%q", r.Out)
	}
	v := w.Run(preview.Command, "web", "--json").Done().JSON()
	if v["type"] != "preview" || v["url"] != w.Origin+"/@alice/web/preview" || v["local"] != false ||
		v["projectName"] != "web" {
		t.Errorf("%v", v)
	}
	w.Local("@alice/none", `{}`)
	v = w.Run(preview.Command, "web", "--json").Fails("not_found", "preview")
	if recipe := v["recipe"].([]any); len(recipe) != 2 || !strings.Contains(recipe[1].(string), " preview web --local") {
		t.Errorf("%v", recipe)
	}
	w.Local("", `{}`)
	v = w.Run(preview.Command, "web", "--json").Fails("no_destination", "destination")
	if recipe := v["recipe"].([]any); len(recipe) != 2 || !strings.Contains(recipe[0].(string), " project create web") {
		t.Errorf("%v", recipe)
	}
}

func TestPreview_FollowsTheEnvironment(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Project(`{"title": "Web"}`)
	w.Local("@alice/none", `{"title": "Web"}`)
	w.Write(".tool/web/client.prod.json", `{"project": "@alice/web"}`)
	w.Env["TOOL_ENV"] = "prod"
	for _, args := range [][]string{{"web"}, {"web", "--env", "prod"}} {
		if r := w.Run(preview.Command, args...).Done(); r.Out != w.Origin+"/@alice/web/preview\n" {
			t.Errorf("%q", r.Out)
		}
	}
	w.Run(preview.Command, "web", "--env", "stage").Exits(2).Prints(`web has no environment "stage"`)
	delete(w.Env, "TOOL_ENV")
	w.Run(preview.Command, "web", "--json").Fails("not_found", "preview")
}

// What cannot be previewed is a failure before anything is served.
func TestPreview_LocalFails(t *testing.T) {
	t.Parallel()
	w := apptest.New(t)
	w.Strict = true
	w.Local("", `{}`)
	w.Write("openapi.json", "a: [")
	w.Run(preview.Command, "web", "--local", "--json").Fails("invalid_file", "api")
	w.Write(".tool/web/client.json", `{"settings": {}}`)
	v := w.Run(preview.Command, "web", "--local", "--json").Fails("no_destination", "api")
	if !strings.Contains(v["reason"].(string), "names no file with the API's description") {
		t.Errorf("%v", v)
	}
	w.Write(".tool/web/client.json", `{"project": "@alice/none", "settings": {}}`)
	w.Run(preview.Command, "web", "--local", "--json").Fails("not_found", "api")
	w.Write(".tool/web/stack.json", `{"name": 1}`)
	w.Run(preview.Command, "web", "--local", "--json").Fails("invalid_file", "stack")
	w.Write(".tool/web/client.json", `{`)
	w.Run(preview.Command, "web", "--local", "--json").Fails("invalid_file", "read")
	w.Run(preview.Command, "none", "--local", "--json").Fails("no_local_project", "read")
	w.Run(preview.Command, "--local", "--json").Exits(2)
}
