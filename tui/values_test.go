package tui_test

import (
	"strings"
	"testing"

	"example.com/projecthub/tui"
)

func TestValues_CutsBothSidesAroundTheFirstDifference(t *testing.T) {
	long := strings.Repeat("same ", 20)
	for _, c := range []struct{ from, to, wantFrom, wantTo string }{
		{`"light"`, `"dark"`, `"light"`, `"dark"`},
		{long + "one", long + "two", "… same one", "… same two"},
		{"short", "shorter " + long, "short", "shorter same same s…"},
		{"a\u200bb", "ab", `a\u200bb`, "ab"},
		{long + "\u202ea", long + "a", `… same \u202ea`, "… same a"},
	} {
		from, to := tui.Values(c.from, c.to, 20)
		if from != c.wantFrom || to != c.wantTo {
			t.Errorf("%q and %q are shown as %q and %q, want %q and %q", c.from, c.to, from, to, c.wantFrom, c.wantTo)
		}
	}
}
