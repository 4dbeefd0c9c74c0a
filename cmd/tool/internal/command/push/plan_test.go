package push_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/hubclient/wire"
)

func TestPush_DryRunAsksTheHubWhetherItAccepts(t *testing.T) {
	w := apptest.Differing(t)
	w.PublishSchema("2.0.0", `{"properties": {"title": {"type": "string"}}}`)
	w.Local("@alice/web", `{"title": 1}`)
	w.Run(push.Command, "web", "--dry-run").Done().Prints("note: the stack's schema does not allow settings/title: ")
	enforce := true
	if _, err := w.Client().EditProject(t.Context(), apptest.Stack,
		wire.EditProject{EnforceSchema: &enforce}); err != nil {
		t.Fatal(err)
	}
	w.Run(push.Command, "web", "--dry-run", "--json").Fails("settings_invalid", "push")
	w.Local("@alice/web", `{"title": "local"}`)
	w.Run(push.Command, "web", "--dry-run").Done().Prints("Pushing web to @alice/web would change")
	wantConfig(t, w, `{"title":"hub"}`)
}

func TestPush_QuestionSaysWhatTheSchemaDoesNotAllow(t *testing.T) {
	w := apptest.Differing(t)
	w.PublishSchema("2.0.0", `{"properties": {"title": {"type": "string"}}}`)
	w.Local("@alice/web", `{"title": 1}`)
	w.UI.Answers = []string{"no"}
	w.Run(push.Command, "web").Done()
	const want = "Note    the stack's schema does not allow settings/title: must be a string, not a number"
	if len(w.UI.Asked) != 1 || !strings.Contains(w.UI.Asked[0], want) {
		t.Errorf("asked %q", w.UI.Asked)
	}
	enforce := true
	if _, err := w.Client().EditProject(t.Context(), apptest.Stack,
		wire.EditProject{EnforceSchema: &enforce}); err != nil {
		t.Fatal(err)
	}
	w.Run(push.Command, "web", "--json").Fails("settings_invalid", "push") // nothing is asked
}

func TestPush_DryRunOfAReaderDoesNotAsk(t *testing.T) {
	w := apptest.Differing(t)
	w.Env["TOOL_HUB_TOKEN"] = w.NewToken("")
	if plan := w.Run(push.Command, "web", "--json", "--dry-run").Done().JSON(); plan["authorized"] != false {
		t.Errorf("%v", plan)
	}
	w.Local("@alice/web", `{"title": `+strings.Repeat("[", 50)+strings.Repeat("]", 50)+`}`)
	w.Run(push.Command, "web", "--dry-run", "--json").Fails("too_large", "push")
}

// Each line is what one push asks at the same time, and then what it writes.
func TestPush_AsksTheHubOnceAndSideBySide(t *testing.T) {
	w := withFiles(t)
	w.Run(push.Command, "web", "--base-files", "--force").Done()
	var mu sync.Mutex
	var calls []string
	w.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, r.Method+" "+path.Base(r.URL.Path))
		return false
	})
	sends := func(what string, want ...string) {
		t.Helper()
		calls = nil
		w.Run(push.Command, "web", "--base-files").Done()
		asked := min(3, len(calls))
		slices.Sort(calls[:asked])
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("%s, strict %v: %s", what, w.Strict, diff)
		}
	}
	for _, strict := range []bool{false, true} {
		w.Strict = strict
		sends("nothing", "GET config", "POST client-config", "POST plan")
		w.Write("src/index.html", fmt.Sprint("changed ", strict))
		if strict { // nothing depends on what the hub has
			sends("a file", "GET config", "POST client-config", "PUT base-files")
		} else {
			sends("a file", "GET config", "POST client-config", "POST plan", "PUT base-files")
		}
	}
	w.Local("@alice/web", `{"title": "changed"}`)
	sends("a setting", "GET config", "POST plan", "PUT client-config")
}
