package cmdline_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/projecthub/cmd/internal/cmdline"
)

func TestNearest_FindsNameBehindTypo(t *testing.T) {
	names := []string{"push", "pull", "publish", "project", "status", "é-commerce", "web"}
	for slip, want := range map[string]string{
		"psuh": "push", "puhs": "push", "pus": "push", "pussh": "push", "PUSH": "push", "push": "push",
		"publsh": "publish", "pubilsh": "publish", "pblsh": "publish", "proyect": "project", "projetc": "project",
		"statsu":     "status",
		"e-commerce": "é-commerce", "webb": "web", "wbe": "web",
		"": "", "x": "", "wxyz": "", "pxxh": "", "deploy": "", "wab1": "", "projection of a kind": "",
	} {
		if got := cmdline.Nearest(slip, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", slip, got, want)
		}
	}
}

func TestNearest_PrefersClosestThenFirst(t *testing.T) {
	for _, test := range []struct {
		slip, want string
		names      []string
	}{
		{"settngs", "settings", []string{"setting-up", "settings"}},
		{"team-a", "team-b", []string{"team-b", "team-c"}},
		{"team-a", "team-c", []string{"team-c", "team-b"}},
		{"x", "", nil},
		{"ab", "", []string{"", "a", "ac"}}, // of two letters a slip leaves one
	} {
		if got := cmdline.Nearest(test.slip, test.names); got != test.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", test.slip, test.names, got, test.want)
		}
	}
}

func TestNearest_IgnoresDistantNames(t *testing.T) {
	if got := cmdline.Nearest(strings.Repeat("project", 1_000_000), []string{"project", "push"}); got != "" {
		t.Errorf("Nearest = %q", got)
	}
}

func TestNearest_AlwaysFindsOneTypo(t *testing.T) {
	letters := rapid.StringMatching(`[a-z-]{6,20}`)
	rapid.Check(t, func(t *rapid.T) {
		name := []rune(letters.Draw(t, "name"))
		i := rapid.IntRange(0, len(name)-2).Draw(t, "place")
		slip := string(name[:i]) + map[string]string{
			"left out": string(name[i+1:]),
			"doubled":  string(name[i:i+1]) + string(name[i:]),
			"replaced": "x" + string(name[i+1:]),
			"swapped":  string(name[i+1]) + string(name[i]) + string(name[i+2:]),
		}[rapid.SampledFrom([]string{"left out", "doubled", "replaced", "swapped"}).Draw(t, "slip")]
		if got := cmdline.Nearest(slip, []string{string(name)}); got != string(name) {
			t.Errorf("Nearest(%q) = %q, want %q", slip, got, string(name))
		}
	})
}
