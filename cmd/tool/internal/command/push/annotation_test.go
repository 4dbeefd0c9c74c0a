package push_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestFailure_IsAnAnnotationInGitHubActions(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".tool/a,b%c/client.json", "{\n  \"settings\": nothing: 100%\n}")
	r := w.Run(push.Command, "a,b%c", "--json").Exits(1)
	if strings.Contains(r.Err, "::error") {
		t.Errorf("%s", r.Err)
	}
	w.Env["GITHUB_ACTIONS"], w.Env["GITHUB_WORKSPACE"] = "true", w.Dir
	r = w.Run(push.Command, "a,b%c", "--json").Exits(1)
	if !strings.HasPrefix(r.Err, "::error file=.tool/a%2Cb%25c/client.json,line=2,col=") ||
		strings.Count(r.Err, "\n") != 1 || !strings.Contains(r.Err, "::push a,b%25c: ") {
		t.Errorf("%s", r.Err)
	}
}
