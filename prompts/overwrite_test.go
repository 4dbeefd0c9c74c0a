package prompts_test

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/prompts"
)

func question(d flat.Difference) prompts.Overwrite {
	return prompts.Overwrite{
		Title: "Overwrite the config of @acme/web?", Facts: []string{"hub https://hub.example.com"},
		Yes: "Overwrite it", Difference: d,
	}
}

// diff returns the difference between two settings.
func diff(t testing.TB, from, to string) flat.Difference {
	t.Helper()
	a, err := flat.Fold([]byte(from))
	if err != nil {
		t.Fatal(err)
	}
	b, err := flat.Fold([]byte(to))
	if err != nil {
		t.Fatal(err)
	}
	return flat.Diff(a, b)
}

// keys turns names into messages; what is no name is typed in one go.
func keys(names ...string) []tea.Msg {
	known := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "left": tea.KeyLeft, "right": tea.KeyRight,
		"up":   tea.KeyUp,
		"down": tea.KeyDown, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	}
	var all []tea.Msg
	for _, name := range names {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
		if kind, ok := known[name]; ok {
			msg = tea.KeyMsg{Type: kind}
			if kind == tea.KeySpace {
				msg.Runes = []rune(" ")
			}
		}
		all = append(all, msg)
	}
	return all
}

// list returns the lines of a view between the counts and the answers, trimmed and without margin.
func list(v prompts.View) string {
	body, _, _ := strings.Cut(v.View(), "[y] Overwrite it")
	body = strings.TrimRight(body, " \n")
	_, body, _ = strings.Cut(body[strings.LastIndex(body, "\n\n")+2:], "\n") // without the counts
	var lines []string
	for line := range strings.Lines(body) {
		lines = append(lines, strings.TrimRight(strings.TrimPrefix(line, v.Margin()), " \n"))
	}
	return "|" + strings.Join(lines, "\n|") + "\n"
}

// selected returns the line of a view that is selected, "" for none.
func selected(v prompts.View) (found string) {
	for line := range strings.Lines(v.View()) {
		if rest, ok := strings.CutPrefix(line, v.Margin()+"> "); ok {
			found = rest
		}
	}
	return found
}

func TestOverwrite_OnlyExplicitYesCounts(t *testing.T) {
	type outcome struct{ Ends, Given, Yes bool }
	no, yes, interrupted, open := outcome{true, true, false}, outcome{true, true, true}, outcome{true, false, false},
		outcome{}
	for _, c := range []struct {
		keys string
		want outcome
	}{
		{"enter", open}, {"n", no}, {"q", no}, {"esc", no}, {"y", yes}, {"enter y", yes},
		{"tab enter", open}, {"left enter", open}, {"right enter", open},
		{"ctrl+c", interrupted}, {"ctrl+d", interrupted}, {"left ctrl+c", interrupted}, {"/ ctrl+c", interrupted},
		{"/ abc ctrl+d", interrupted},
		{"down enter", open}, {"down enter n", no}, {"down down y", yes},
		{"/ y", open}, {"/ yes", open}, {"/ n esc", open}, {"/ n esc esc", no}, {"/ nothing enter enter", open},
		{"/ title enter y", yes}, {"/ title enter q", no}, {"/ title enter n", no}, {"/ title enter esc", open},
		{"/ title enter esc esc", no}, {"space", open}, {"a", open}, {"x", open}, {"Y", open},
	} {
		t.Run(c.keys, func(t *testing.T) {
			v := prompts.NewView(question(diff(t, `{"title": 1, "old": 2}`, `{"title": 2, "new": 3}`)), 80, 24)
			end := v.Send(keys(strings.Fields(c.keys)...)...)
			given, answer := v.Answer()
			if got := (outcome{end != nil, given, answer}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestOverwrite_RepeatedQuestionIgnoresEarlierInput(t *testing.T) {
	q := question(diff(t, `{}`, `{"a": 1}`))
	if prompts.NewView(q, 80, 24).Init() != nil {
		t.Error("a first question waits")
	}
	q.Notice = "carol changed it while you looked. This is the difference now:"
	v := prompts.NewView(q, 80, 24)
	if v.Init() == nil {
		t.Error("nothing lets the question be answered")
	}
	for _, key := range []string{"y", "n", "yyy", "enter", "left enter", "/ a"} {
		if end := v.Send(keys(strings.Fields(key)...)...); end != nil {
			t.Errorf("%s answers", key)
		}
	}
	if text := v.View(); strings.Contains(text, "[y]") || strings.Contains(text, "filter:") {
		t.Errorf("the view takes keys:\n%s", text)
	}
	if end := v.Send(keys("ctrl+c")...); end == nil {
		t.Error("ctrl-c does nothing")
	}
	v.Send(prompts.Ready)
	if text := v.View(); !strings.Contains(text, "[y] Overwrite it   [n] Cancel") {
		t.Errorf("no answer can be given:\n%s", text)
	}
	v.Send(keys("y")...)
	if given, yes := v.Answer(); !given || !yes {
		t.Errorf("given %v, yes %v", given, yes)
	}
}

func TestOverwrite_PastedTextIsNoAnswer(t *testing.T) {
	v := prompts.NewView(question(diff(t, `{}`, `{"a": 1}`)), 80, 24)
	if end := v.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y"), Paste: true}); end != nil {
		t.Error("a pasted y ends the view")
	}
	v.Send(append(keys("/"), tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("year"), Paste: true})...)
	if !strings.Contains(v.View(), "filter: year_  0 of 1 keys") {
		t.Errorf("what is pasted is no filter:\n%s", v.View())
	}
}

func TestOverwrite_GroupsKeysWithCounts(t *testing.T) {
	v := prompts.NewView(question(diff(t,
		`{"theme": {"color": "blue", "gone": 1, "x": {"y": 0}}, "theme-2": 1, "leaf": 1, "a.b": {"c": 1}}`,
		`{"theme": {"color": "red", "x": {"y": 1}}, "title": "Pets", "leaf": {"below": true}, "a.b": {"c": 2}}`)), 60, 30)
	want := `|> a\.b  1 changed
|    ~ c: 1 → 2
|  - leaf: 1
|  leaf  1 added
|    + below: true
|  theme  2 changed, 1 removed
|    ~ color: "blue" → "red"
|    - gone: 1
|    ~ x.y: 0 → 1
|  - theme-2: 1
|  + title: "Pets"`
	if d := cmp.Diff(want, strings.TrimRight(list(v), "|\n")); d != "" {
		t.Error(d)
	}
	if !strings.Contains(v.View(), "2 added, 3 changed, 3 removed") {
		t.Errorf("no counts:\n%s", v.View())
	}
}

func TestOverwrite_EmptyDifference(t *testing.T) {
	v := prompts.NewView(question(flat.Difference{}), 80, 24)
	v.Send(keys("down", "end", "pgup", "space", "a", "/", "x", "enter", "space", "esc")...)
	if text := v.View(); !strings.Contains(text, "no difference") {
		t.Errorf("the view:\n%s", text)
	}
	said, yes, err := askPlain(question(flat.Difference{}), 24, "list", "yes")
	if !strings.Contains(said, "no difference.\n") || !yes || err != nil {
		t.Errorf("%v %v:\n%s", yes, err, said)
	}
}

func TestOverwrite_FoldsLongValues(t *testing.T) {
	long := strings.Repeat("abcdefghi ", 12)
	v := prompts.NewView(question(diff(t, `{"a": 1, "b": {"c": "`+long+`"}}`, `{"a": 2, "b": {"c": "x`+long+`"}}`)), 50,
		40)
	folded := strings.Replace(list(v), ">", " ", 1)
	if !strings.Contains(folded, `    ~ c: "abcdefghi abcdef… → "xabcdefghi abcde…`) {
		t.Errorf("folded:\n%s", folded)
	}
	v.Send(keys("down", "down", "down", "space")...)
	want := `|  ~ a: 1 → 2
|  b  1 changed
|>   ~ c
|        from "abcdefghi abcdefghi abcdefghi
|             abcdefghi abcdefghi abcdefghi
|             abcdefghi abcdefghi abcdefghi
|             abcdefghi abcdefghi abcdefghi "
|        to   "xabcdefghi abcdefghi abcdefghi
|             abcdefghi abcdefghi abcdefghi
|             abcdefghi abcdefghi abcdefghi
|             abcdefghi abcdefghi abcdefghi "`
	if d := cmp.Diff(want, strings.TrimRight(list(v), "|\n")); d != "" {
		t.Error(d)
	}
	v.Send(keys("enter")...)
	if got := strings.Replace(list(v), ">", " ", 1); got != folded {
		t.Errorf("folded again:\n%s", got)
	}
	v.Send(keys("a")...)
	if got := list(v); !strings.Contains(got, "~ a: 1 → 2\n") || !strings.Contains(got, `to   "xabc`) {
		t.Errorf("all unfolded:\n%s", got)
	}
	v.Send(keys("a")...)
	if got := strings.Replace(list(v), ">", " ", 1); got != folded {
		t.Errorf("all folded again:\n%s", got)
	}
}

func TestOverwrite_ComparesArrayElements(t *testing.T) {
	v := prompts.NewView(question(diff(t,
		`{"tags": ["one", "two", "three", "four", "five", "six", "seven"], "short": [1]}`,
		`{"tags": ["one", "2", "three", "four", "six", "seven", "eight"], "short": [1, 2]}`)), 60, 30)
	if got := list(v); !strings.Contains(got, "~ tags: elements: 1 added, 1 changed, 1 removed\n") ||
		!strings.Contains(got, "~ short: [1] → [1,2]\n") {
		t.Errorf("folded:\n%s", got)
	}
	v.Send(keys("a")...)
	want := `|> ~ short
|      elements: 1 added
|      + [1] 2
|  ~ tags
|      elements: 1 added, 1 changed, 1 removed
|      ~ [1] from "two"
|            to   "2"
|      - [4] "five"
|      + [6] "eight"`
	if d := cmp.Diff(want, strings.TrimRight(list(v), "|\n")); d != "" {
		t.Error(d)
	}
}

// many returns a difference of n keys.
func many(n int) flat.Difference {
	var d flat.Difference
	for i := range n {
		key := fmt.Sprintf("group-%03d.key-%05d", i/20, i)
		switch i % 3 {
		case 0:
			d = append(d, flat.Change{Key: key, To: fmt.Sprintf(`"value %d"`, i)})
		case 1:
			d = append(d, flat.Change{Key: key, From: fmt.Sprintf(`"value %d"`, i), To: fmt.Sprintf(`["value", %d]`, i)})
		default:
			d = append(d, flat.Change{Key: key, From: fmt.Sprint(i)})
		}
	}
	return d
}

func TestOverwrite_Scrolls(t *testing.T) {
	v := prompts.NewView(question(many(200)), 60, 20)
	for _, c := range []struct{ key, selected, status string }{
		{"", "group-000", "lines 1 to 11 of 210"},
		{"j", "key-00000", "lines 1 to 11 of 210"},
		{"pgdown", "key-00011", "lines 12 to 22 of 210"},
		{"end", "key-00199", "lines 200 to 210 of 210"},
		{"pgdown", "key-00199", "lines 200 to 210 of 210"},
		{"pgup", "key-00188", "lines 189 to 199 of 210"},
		{"k", "key-00187", "lines 189 to 199 of 210"},
		{"home", "group-000", "lines 1 to 11 of 210"},
		{"up", "group-000", "lines 1 to 11 of 210"},
		{"jjjjjjjjjjjj", "key-00011", "lines 3 to 13 of 210"},
	} {
		if c.key != "" {
			v.Send(keys(c.key)...)
		}
		text, selected := v.View(), selected(v)
		if !strings.Contains(selected, c.selected) || (c.selected == "") != (selected == "") ||
			!strings.Contains(text, c.status) {
			t.Errorf("after %s, want %s selected and %q:\n%s", c.key, c.selected, c.status, text)
		}
	}
}

func TestOverwrite_FiltersKeysAndValues(t *testing.T) {
	v := prompts.NewView(question(many(200)), 60, 20)
	for _, c := range []struct{ keys, selected, status string }{
		{"/", "group-000", "lines 1 to 11 of 210 • filter: _  200 of 200 keys"},
		{"key-0001", "key-00010", "filter: key-0001_  10 of 200 keys\n"},
		{"enter", "key-00010", "filter: key-0001  10 of 200 keys\n"},
		{"down", "key-00011", "filter: key-0001  10 of 200 keys\n"},
		{"esc", "key-00011", "lines 3 to 13 of 210"},
		{"/", "key-00011", "filter: _"},
		{"VALUE space 1 9 8 7", "", "filter: VALUE 1987_  0 of 200 keys"},
		{"backspace backspace", "key-00019", "filter: VALUE 19_  8 of 200 keys"},
		{"esc", "key-00011", "lines 3 to 13 of 210"},
	} {
		v.Send(keys(strings.Fields(c.keys)...)...)
		text, selected := v.View(), selected(v)
		found := strings.Contains(selected, c.selected) && (c.selected == "") == (selected == "")
		if !found || !strings.Contains(text, c.status) {
			t.Errorf("after %s, want %s selected and %q:\n%s", c.keys, c.selected, c.status, text)
		}
		if n := strings.Count(text, "\n"); n != 19 {
			t.Errorf("after %s there are %d lines:\n%s", c.keys, n, text)
		}
	}
	v.Send(keys("/", "key-00012", "enter", "space")...)
	got := strings.TrimRight(list(v), "|\n")
	if !strings.HasPrefix(got, "|  group-000") || strings.Count(got, "key-") != 1 {
		t.Errorf("what the filter finds:\n%s", got)
	}
}

func TestOverwrite_FitsTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes a second")
	}
	q := question(many(50))
	q.Facts = append(q.Facts, "client.json names another project: @acme/staging",
		"its config was written by carol on 2 Jan 2026 10:00 UTC through the project page")
	q.Notice = "carol changed it while you looked. This is the difference now:"
	long := strings.Repeat("长い値 ", 40)
	q.Difference = append(q.Difference, flat.Change{Key: "z." + strings.Repeat("k", 60), To: `"` + long + `"`})
	for columns := 1; columns <= 130; columns += 3 {
		for rows := 1; rows <= 60; rows += 2 {
			v := prompts.NewView(q, 80, 24)
			v.Send(append([]tea.Msg{prompts.Ready}, keys("end", "a", "end", "/", "key", "enter")...)...)
			v.Send(tea.WindowSizeMsg{Width: columns, Height: rows})
			text := v.View()
			if n := strings.Count(text, "\n") + 1; n > rows && v.Fits() {
				t.Fatalf("%d lines in %dx%d:\n%s", n, columns, rows, text)
			}
			if w := lipgloss.Width(text); w > columns && v.Fits() {
				t.Fatalf("%d columns in %dx%d:\n%s", w, columns, rows, text)
			}
		}
	}
	if !prompts.NewView(q, 40, 15).Fits() {
		t.Error("there is no view at 40x15")
	}
}

func TestOverwrite_NoYesToHiddenQuestion(t *testing.T) {
	v := prompts.NewView(question(many(50)), 80, 24)
	v.Send(tea.WindowSizeMsg{Width: 80, Height: 5})
	if !strings.Contains(v.View(), "too small") {
		t.Errorf("the view:\n%s", v.View())
	}
	if end := v.Send(keys("y", "tab", "enter")...); end != nil {
		t.Error("a yes is taken")
	}
	v.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	if end := v.Send(keys("y")...); end == nil {
		t.Error("no yes is taken after the terminal became larger")
	}
}

func TestOverwrite_EscapesControlCharacters(t *testing.T) {
	d := flat.Difference{{Key: "a\nb\u202e", From: "\"\x7f\u009b31m\"", To: "\"\u200b\u2066\""}}
	v := prompts.NewView(question(d), 80, 24)
	for _, folded := range []bool{true, false} {
		text := v.View()
		for _, want := range []string{`a\nb\u202e`, `"\x7f\u009b31m"`, `"\u200b\u2066"`} {
			if !strings.Contains(text, want) {
				t.Errorf("folded %v: %s is not shown:\n%s", folded, want, text)
			}
		}
		if strings.ContainsAny(text, "\x7f\u009b\u202e\u2066\u200b") {
			t.Errorf("folded %v: %q", folded, text)
		}
		v.Send(keys("a")...)
	}
}

func TestOverwrite_Colours(t *testing.T) {
	q := question(diff(t, `{"ax": 1, "bx": 2}`, `{"ax": 2, "c": {"dx": 3}}`))
	q.Notice = "carol changed it"
	for _, c := range []struct {
		variable        string
		want, forbidden []string
	}{
		{"", []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[7m", "\x1b[1m"}, []string{"[3m", "[4", "[9", "38;5"}},
		{"1", nil, []string{"\x1b"}},
	} {
		t.Setenv("TERM", "xterm-256color")
		t.Setenv("CLICOLOR_FORCE", "1")
		if t.Setenv("NO_COLOR", c.variable); c.variable != "" {
			t.Setenv("CLICOLOR_FORCE", "")
		}
		v := prompts.NewView(q, 80, 24)
		v.Send(append([]tea.Msg{prompts.Ready}, keys("/", "x")...)...)
		text := v.View()
		for _, part := range c.want {
			if !strings.Contains(text, part) {
				t.Errorf("NO_COLOR=%s: %q is missing in %q", c.variable, part, text)
			}
		}
		for _, part := range c.forbidden {
			if strings.Contains(text, part) {
				t.Errorf("NO_COLOR=%s: %q in %q", c.variable, part, text)
			}
		}
	}
}
