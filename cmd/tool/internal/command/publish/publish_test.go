package publish_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/publish"
)

func local(t *testing.T) *apptest.World {
	t.Helper()
	t.Parallel()
	w := apptest.New(t)
	w.Local("", `{}`)
	return w
}

func TestPublish_AsksAndPublishes(t *testing.T) {
	w := local(t)
	w.UI.Answers = []string{"no", "yes"}
	w.Run(publish.Command, "web").Done().Prints("Aborted")
	w.Run(publish.Command, "web").Done().Prints("Published alice/web 1.0.0, the stack's first version")
	if len(w.UI.Asked) != 2 || !strings.Contains(w.UI.Asked[0], "Publish @alice/web 1.0.0?") {
		t.Errorf("asked %q", w.UI.Asked)
	}
	w.Run(publish.Command, "web").Done().Prints("published already, with the same content")
}

func TestPublish_RefusesOtherContentAndOlderVersions(t *testing.T) {
	w := local(t)
	w.Publish("1.0.0")
	w.Run(publish.Command, "web", "--json").Fails("version_exists", "publish")
	w.Write(".tool/web/stack.json", `{"name": "@alice/web", "version": "0.9.0"}`)
	f := w.Run(publish.Command, "web", "--json").Fails("version_not_newer", "publish")
	if hint, _ := f["hint"].(string); !strings.Contains(hint, "raise version in .tool/web/stack.json") {
		t.Errorf("the hint is %q", hint)
	}
}

func TestPublish_DryRunPublishesNothing(t *testing.T) {
	w := local(t)
	plan := w.Run(publish.Command, "web", "--json", "--dry-run").Done().JSON()
	if plan["firstVersion"] != true || plan["authorized"] != true || plan["alreadyPublished"] != false {
		t.Errorf("%v", plan)
	}
	if _, err := w.Client().Stack(t.Context(), apptest.Stack); err == nil {
		t.Error("it is published")
	}
}

func TestPublish_NamesTheStackAfterTheLogin(t *testing.T) {
	w := local(t)
	w.Write(".tool/web/stack.json", `{"version": "1.0.0"}`)
	w.Run(publish.Command, "web", "--force").Done().Prints("added the name @alice/web")
	if !strings.Contains(w.Read(".tool/web/stack.json"), "@alice/web") {
		t.Error("the name is not added")
	}
}

func TestPublish_LostResponseIsAmbiguous(t *testing.T) {
	w := local(t)
	lost := false
	w.Intercept(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || lost {
			return false
		}
		lost = true
		w.Hub.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	r := w.Run(publish.Command, "web", "--json", "--force").Done().JSON()
	notes, _ := r["notes"].([]any)
	if r["alreadyPublished"] != true || len(notes) != 1 || !strings.Contains(fmt.Sprint(notes), "may have published it") {
		t.Errorf("%v", r)
	}
}
