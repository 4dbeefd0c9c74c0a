//go:build unix

package golden_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// wide returns settings of hundreds of keys; edition 2 differs from 1 in all.
func wide(edition int) string {
	var groups []string
	for i := range 30 {
		keys := []string{
			fmt.Sprintf(
				`"about": "Page %d as it is in edition %d, with a line about what stands on it, for whom, and since when"`, i,
				edition),
			fmt.Sprintf(`"tags": ["page", "n%d", "edition %d", "shown", "indexed", "translated", "archived", "public"]`, i,
				edition),
		}
		for j := range 8 {
			if j == 3 && edition == 1 || j == 5 && edition == 2 {
				continue
			}
			keys = append(keys, fmt.Sprintf(`"option-%d": %d`, j, 100*edition+j))
		}
		groups = append(groups, fmt.Sprintf(`"page-%02d": {%s}`, i, strings.Join(keys, ", ")))
	}
	return "{" + strings.Join(groups, ", ") + "}"
}

func TestOverwrite_LargeDifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t, wide(1))
	w.date()
	w.setting(wide(2))
	held := w.config()
	for suffix, s := range map[string]size{"": usual, "-narrow": narrow} {
		term := w.open(s, "push", "web")
		term.view("[n] Cancel")
		w.show(term, "large"+suffix)
		for _, step := range []struct{ keys, shows, name string }{
			{down, ">   ~ about", "selected"},
			{pageDown, "> ", ""},
			{end, "to 330 of 330", "end"},
			{home + down + enter, ">   ~ about\n", "unfolded"},
			{enter, ">   ~ about: ", ""},
			{"/tags", "filter: tags_  30 of 300 keys", "filter"},
			{enter, "filter: tags  30 of 300 keys", "filtered"},
			{" ", ">   ~ tags\n", "array"},
			{"/", "filter: _", ""},
			{"PAGE 17 AS", "filter: PAGE 17 AS_  1 of 300 keys", "found"},
			{enter + "a", ">   ~ about\n", ""},
			{escape, "• / filter\n", "all"},
			{"a", ">   ~ about: ", ""},
			{"/nowhere", "filter: nowhere_  0 of 300 keys", "not-found"},
			{escape, ">   ~ about: ", "back"},
		} {
			term.press(step.keys)
			term.view(step.shows)
			if step.name != "" {
				w.show(term, "large-"+step.name+suffix)
			}
		}
		term.press("n")
		term.ends(0)
		if got := w.config(); got != held {
			t.Errorf("the hub's config changed: %s", got)
		}
	}
}

func TestOverwrite_EqualConflictIsNotAsked(t *testing.T) {
	w := edited(t)
	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	w.must("push", "web")
	term.press("y")
	term.ends(0)
	w.show(term, "push-same")
}

func TestOverwrite_PlainLargeDifferenceInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, wide(1))
	w.date()
	w.setting(wide(2))
	command := w.command("push", "web")
	command.Env = append(command.Env, "ACCESSIBLE=1")
	term := open(t, command, usual, false)
	term.asked("(default 1):")
	w.show(term, "plain-large")
	term.press("list\n")
	term.wait("\npage-29.tags changed")
	term.asked("(default 1):")
	w.show(term, "plain-large-listed")
	term.press("no\n")
	term.ends(0)
	if out := term.output(); strings.Contains(out, escape) {
		t.Errorf("an escape code: %q", out)
	}
}

func TestView_FollowsTerminalSize(t *testing.T) {
	w := edited(t)
	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	w.show(term, "push-question")
	term.resize(narrow)
	term.view("\n        through create\n")
	w.show(term, "push-question-narrow")
	term.resize(size{40, 6})
	term.view("too small")
	w.show(term, "push-question-too-small")
	term.resize(usual)
	term.view("[n] Cancel")
	w.show(term, "push-question")
	term.press("n")
	term.ends(0)
}

func TestColours_AddNothingEssential(t *testing.T) {
	w := edited(t)
	term := w.open(usual, "push", "web")
	term.view("[n] Cancel")
	term.press("/red")
	term.view("filter: red_")
	w.show(term, "push-filter")
	golden(t, "screen/push-filter-colours.txt", strings.ReplaceAll(term.painted(), w.hub.origin, "http://hub.example.com"))
	term.press(ctrlC)
	term.ends(130)
}

func TestColours_CanBeForced(t *testing.T) {
	w := edited(t)
	for env, colours := range map[string]bool{
		"TERM=vt100": false, "TERM=vt100 CLICOLOR_FORCE=1": true, "TERM=vt100 CLICOLOR_FORCE=1 NO_COLOR=1": false,
	} {
		command := w.command("push", "web")
		command.Env = append(command.Env, strings.Fields(env)...)
		term := open(t, command, usual, false)
		term.view("[n] Cancel")
		w.show(term, "push-question")
		if found := colour.FindString(term.output()); (found != "") != colours {
			t.Errorf("%s: colours are %v: %q", env, !colours, found)
		}
		term.press("n")
		term.ends(0)
	}
}

// painted returns the screen with the names of colours and attributes where they begin.
func (term *terminal) painted() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	columns, rows := term.screen.Size()
	var lines []string
	for y := range rows {
		var line strings.Builder
		former := ""
		for x := range columns {
			cell := term.screen.Cell(x, y)
			if name := paint(cell); name != former {
				fmt.Fprintf(&line, "{%s}", name)
				former = name
			}
			line.WriteRune(max(cell.Char, ' '))
		}
		lines = append(lines, strings.TrimRight(strings.TrimSuffix(strings.TrimRight(line.String(), " "), "{}"), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// paint names how a cell is painted, "" for as usual. The terminal shows bold
// colours as bright ones and does not tell faint ones.
func paint(g vt10x.Glyph) string {
	const reverse, bold = 1, 4
	colours := [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	var names []string
	if g.Mode&bold != 0 {
		names = append(names, "bold")
	}
	if g.Mode&reverse != 0 {
		names = append(names, "reverse")
	}
	switch {
	case g.FG < 16:
		names = append(names, colours[g.FG%8])
	case g.FG < 256:
		names = append(names, fmt.Sprintf("colour %d", g.FG))
	}
	return strings.Join(names, " ")
}
