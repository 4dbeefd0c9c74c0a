package tui_test

import (
	"strings"
	"testing"

	"example.com/projecthub/hubclient/flat"
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

func TestConflictValues_CutsTheBaseLikeBothSides(t *testing.T) {
	long := strings.Repeat("same ", 20)
	for _, c := range []struct{ base, mine, theirs, want string }{
		{"light", "dark", "teal", "light|dark|teal"},
		{long + "none", long + "one", long + "two", "… same none|… same one|… same two"},
		{long + "a", long + "b", "short", long[:19] + "…|" + long[:19] + "…|short"}, // they differ at once
		{long + "a", "", long + "b", "… same a||" + long[:19] + "…"},
		{long + "a", long + "b", "", "… same a|" + long[:19] + "…|"},
		{"", long + "one", long + "two", "|… same one|… same two"},
		{long, "", "", long[:19] + "…||"},
	} {
		base, mine, theirs := tui.ConflictValues(flat.Conflict{Base: c.base, Mine: c.mine, Theirs: c.theirs}, 20)
		if got := base + "|" + mine + "|" + theirs; got != c.want {
			t.Errorf("%q, %q and %q are shown as %q, want %q", c.base, c.mine, c.theirs, got, c.want)
		}
	}
}
