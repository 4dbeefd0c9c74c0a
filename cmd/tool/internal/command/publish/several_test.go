package publish_test

import (
	"fmt"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/publish"
)

// threeStacks are web and shop, which can be published, and bad, whose version is malformed.
func threeStacks(t *testing.T) *apptest.World {
	t.Helper()
	w := local(t)
	w.Strict = true
	for name, version := range map[string]string{"bad": "1", "shop": "2.0.0"} {
		w.Write(".tool/"+name+"/client.json", `{"settings": {}}`)
		w.Write(".tool/"+name+"/stack.json", `{"name": "@alice/`+name+`", "version": "`+version+`"}`)
	}
	return w
}

func TestPublish_OfSeveralGoesOnAfterAFailure(t *testing.T) {
	w := threeStacks(t)
	w.Run(publish.Command, "web", "bad", "shop").Exits(1).
		Prints("Published @alice/web 1.0.0", "Published @alice/shop 2.0.0", "error: publish bad",
			"1 of 3 local projects failed: bad")
	w.Run(publish.Command, "shop", "web").Done().Prints("alice/shop 2.0.0 is published already",
		"alice/web 1.0.0 is published already")
}

func TestPublish_OfSeveralChecksTheNamesFirst(t *testing.T) {
	w := threeStacks(t)
	w.Run(publish.Command, "web", "none").Exits(1).Prints(`no local project "none"`)
	w.Run(publish.Command, "web").Done().Prints("Published @alice/web 1.0.0")
}

// A script reads the same document when a second project comes.
func TestPublish_OfAllListsASingleProject(t *testing.T) {
	w := local(t)
	w.Strict = true
	r := w.Run(publish.Command, "--all", "--json").Done().JSON()
	if results, _ := r["results"].([]any); r["type"] != "several" || len(results) != 1 {
		t.Errorf("%v", r)
	}
}

func TestPublish_OfAllPrintsOneDocument(t *testing.T) {
	w := threeStacks(t)
	f := w.Run(publish.Command, "--all", "--json").Fails("some_failed", "publish")
	results, _ := f["results"].([]any)
	got := []string{}
	for _, r := range results {
		document := r.(map[string]any)
		got = append(got, fmt.Sprint(document["projectName"], " ", document["type"]))
	}
	if fmt.Sprint(got) != "[bad failed shop published web published]" {
		t.Errorf("the results are %v", got)
	}
}

func TestPublish_OfAllBumpsEachVersion(t *testing.T) {
	w := threeStacks(t)
	w.Run(publish.Command, "--all", "--bump", "minor").Exits(1).Prints("error: publish bad", "Published @alice/shop 2.1.0",
		"Published @alice/web 1.1.0")
	if bad := w.Read(".tool/bad/stack.json"); bad != `{"name": "@alice/bad", "version": "1"}` {
		t.Errorf("stack.json of the failed one is %s", bad)
	}
}
