package push_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/push"
)

func TestPush_DryRunInMarkdownHasNoEffect(t *testing.T) {
	w := apptest.Differing(t)
	w.Edit(apptest.Stack, "gone", `1`)
	w.Local("@alice/web", `{"title": "a|b`+"`c`"+`<img src=x>\n@alice #1 https://x.example *b* [l](u) &lt; hubpat_`+strings.Repeat("a", 40)+`", "@everyone": true}`)
	r := w.Run(push.Command, "web", "--dry-run", "--format", "markdown").Done()
	if !strings.HasPrefix(r.Out, "### Pushing <code>web</code> to <code>&#64;alice&#47;web</code> would change\n\nHub: <code>http&#58;&#47;&#47;127") ||
		!strings.Contains(r.Out, "</code>\n\nConfig: 1 added, 1 changed, 1 removed\n\n| | key | on the hub | here |\n|---|---|---|---|\n") {
		t.Errorf("%s", r.Out)
	}
	for _, line := range strings.Split(r.Out, "\n")[8:] {
		if line == "" {
			continue
		}
		text := strings.NewReplacer("<code>", "", "</code>", "").Replace(line)
		if strings.Count(text, "|") != 5 || strings.ContainsAny(text, "`<>@*[]_\\:/") {
			t.Errorf("%s", line)
		}
	}
	if strings.Contains(r.Out, strings.Repeat("a", 20)) {
		t.Errorf("a token is printed:\n%s", r.Out)
	}
	for _, args := range [][]string{{"--format", "html"}, {"--format", "markdown"}, {"--dry-run", "--format", "markdown", "--json"}} {
		w.Run(push.Command, append([]string{"web"}, args...)...).Exits(2)
	}
}

func TestFailure_IsAnAnnotationInGitHubActions(t *testing.T) {
	w := apptest.Differing(t)
	w.Write(".tool/a,b%c/client.json", "{\n  \"settings\": nothing: 100%\n}")
	r := w.Run(push.Command, "a,b%c", "--json").Exits(1)
	if strings.Contains(r.Err, "::error") {
		t.Errorf("%s", r.Err)
	}
	w.Env["GITHUB_ACTIONS"], w.Env["GITHUB_WORKSPACE"] = "true", w.Dir
	r = w.Run(push.Command, "a,b%c", "--json").Exits(1)
	if !strings.HasPrefix(r.Err, "::error file=.tool/a%2Cb%25c/client.json,line=2,col=") || strings.Count(r.Err, "\n") != 1 || !strings.Contains(r.Err, "::push a,b%25c: ") {
		t.Errorf("%s", r.Err)
	}
}
