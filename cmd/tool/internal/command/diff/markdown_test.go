package diff_test

import (
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app/apptest"
	"example.com/projecthub/cmd/tool/internal/command/diff"
)

func TestDiff_MarkdownHasNoEffect(t *testing.T) {
	w := apptest.Differing(t)
	w.Edit(apptest.Stack, "gone", `1`)
	w.Local("@alice/web", `{"title": "a|b`+"`c`"+`<img src=x>\n@alice #1 https://x.example *b* [l](u) &lt; hubpat_`+
		strings.Repeat("a", 40)+`", "@everyone": true}`)
	r := w.Run(diff.Command, "web", "--format", "markdown").Done()
	if !strings.HasPrefix(r.Out,
		"### <code>web</code> and the config of <code>&#64;alice&#47;web</code>: 1 added, 1 changed, 1 removed\n\nHub: <code>http&#58;&#47;&#47;127") ||
		!strings.Contains(r.Out, "</code>\n\n| | key | on the hub | here |\n|---|---|---|---|\n") {
		t.Errorf("%s", r.Out)
	}
	for _, line := range strings.Split(r.Out, "\n")[6:] {
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
	for _, args := range [][]string{{"--format", "html"}, {"--format", "markdown", "--json"}} {
		w.Run(diff.Command, append([]string{"web"}, args...)...).Exits(2)
	}
}
