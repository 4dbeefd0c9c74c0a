package prompts_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

var conflicts = prompts.Merge{
	Title: "Which values should client.json have?", Facts: []string{"Config  @acme/web"},
	Conflicts: flat.Conflicts{
		{Key: "a", Base: "1", Mine: "2", Theirs: "3"}, {Key: "b\u202e", Mine: `"x"`, Theirs: `"y"`},
		{Key: "c", Base: "true", Mine: "false"},
	},
}

func TestMerge_KeysChooseSides(t *testing.T) {
	const m, th = flat.Mine, flat.Theirs
	for _, c := range []struct {
		keys  string
		sides []flat.Side
		ended bool
	}{
		{"m t m enter", []flat.Side{m, th, m}, true},
		{"mtm enter", []flat.Side{m, th, m}, true},
		{"m T enter", []flat.Side{m, th, th}, true},
		{"T M enter", []flat.Side{m, m, m}, true},
		{"down t home m t enter", []flat.Side{m, th, th}, true},
		{"m t enter", nil, false},
		{"m t m q", nil, true},
		{"m t m esc", nil, true},
		{"x 1 enter", nil, false},
	} {
		v := prompts.NewMergeView(conflicts, 80, 30)
		sides, ended := v.Send(keys(strings.Fields(c.keys)...)...)
		if !slices.Equal(sides, c.sides) || ended != c.ended {
			t.Errorf("%s: %v, %t", c.keys, sides, ended)
		}
	}
}

func TestMerge_TakesNoPastedKeys(t *testing.T) {
	v := prompts.NewMergeView(conflicts, 80, 30)
	if _, ended := v.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("Tq"), Paste: true}); ended ||
		!strings.Contains(v.View(), "3 to choose") {
		t.Errorf("ended %t\n%s", ended, v.View())
	}
}

func TestMerge_ShowsWhatFits(t *testing.T) {
	v := prompts.NewMergeView(conflicts, 56, 14)
	v.Send(keys("m")...)
	var lines []string
	for line := range strings.Lines(v.View()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	want := `Which values should client.json have?
Config  @acme/web
  a
      base    1
    ✓ mine    2
      theirs  3

> b\u202e
      base    (none)
      mine    "x"
      theirs  "y"

conflict 2 of 3, 2 to choose
m mine • t theirs • M/T the rest • esc cancel`
	if d := cmp.Diff(want, strings.Join(lines, "\n")); d != "" {
		t.Error(d)
	}
	v.Send(keys("down")...)
	if !strings.Contains(v.View(), "> c") {
		t.Errorf("the last conflict is not in sight:\n%s", v.View())
	}
	v.Send(tea.WindowSizeMsg{Width: 60, Height: 6})
	if sides, ended := v.Send(keys("T", "enter")...); ended || !strings.Contains(v.View(), "too small") {
		t.Errorf("%v was chosen out of sight", sides)
	}
}

func TestMerge_Plain(t *testing.T) {
	ask := func(lines string) (string, []flat.Side, error) {
		var out strings.Builder
		p := prompts.On(tui.Terminal{In: strings.NewReader(strings.Join(strings.Fields(lines), "\n") + "\n"), Out: &out,
			Plain: true, Columns: 90, Rows: 24})
		sides, err := p.Merge(context.Background(), conflicts)
		return out.String(), sides, err
	}
	said, sides, err := ask("m what list T")
	want := `
Which values should client.json have?
Config  @acme/web
Conflict 1 of 3: a
base: 1
mine: 2
theirs: 3
1. Mine
2. Theirs
3. Mine for all that are left
4. Theirs for all that are left
5. Cancel
6. List all
Choose 1 to 6 (default 5): 
Conflict 2 of 3: b\u202e
base: (none)
mine: "x"
theirs: "y"
1. Mine
2. Theirs
3. Mine for all that are left
4. Theirs for all that are left
5. Cancel
6. List all
Choose 1 to 6 (default 5): Invalid answer: type a number from 1 to 6.
Choose 1 to 6 (default 5): base: (none)
mine: "x"
theirs: "y"

Conflict 2 of 3: b\u202e
1. Mine
2. Theirs
3. Mine for all that are left
4. Theirs for all that are left
5. Cancel
6. List all
Choose 1 to 6 (default 5): `
	if d := cmp.Diff(want, said); d != "" || err != nil ||
		!slices.Equal(sides, []flat.Side{flat.Mine, flat.Theirs, flat.Theirs}) {
		t.Errorf("%v %v %s", sides, err, d)
	}
	if _, sides, err := ask("m q"); sides != nil || err != nil {
		t.Errorf("after q: %v, %v", sides, err)
	}
	if _, sides, err := ask("m"); sides != nil || err != tui.ErrInterrupted {
		t.Errorf("at the end of the input: %v, %v", sides, err)
	}
}
