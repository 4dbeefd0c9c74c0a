package prompts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// hostile are texts that would do something to a terminal, each with the part that
// must not be shown as it is.
var hostile = map[string]string{
	"OSC 0":         "\x1b]0;title\x07",
	"OSC 52":        "\x1b]52;c;ZWNobw==\x1b\\",
	"OSC 8":         "\x1b]8;;https://example.com\x1b\\",
	"CSI":           "\x1b[2J\x1b[H",
	"DCS":           "\x1bP$q\x1b\\",
	"C1 CSI":        "\u009b2J",
	"raw C1":        "\x9b2J",
	"carriage":      "safe\roverwritten",
	"backspace":     "safe\b\b\b\b",
	"bell":          "\x07",
	"delete":        "\x7f",
	"bidi override": "\u202egnp.exe",
	"bidi isolate":  "\u2066abc\u2069",
	"token":         pat.New(),
}

// checkShown checks that a view shows nothing that a terminal would act on, apart
// from the colours that the view itself paints with.
func checkShown(t testing.TB, shown, text string) {
	t.Helper()
	for i, part := range strings.Split(shown, "\x1b") {
		if i > 0 && !strings.HasPrefix(part, "[") || strings.HasPrefix(part, "[2J") {
			t.Errorf("an escape sequence is shown: %q in %q", part, shown)
		}
	}
	for _, r := range shown {
		control := r < ' ' && r != '\n' && r != '\x1b' || r >= 0x7f && r <= 0x9f
		bidi := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		if control || bidi {
			t.Errorf("%U is shown: %q", r, shown)
		}
	}
	if pat.Index([]byte(shown)) >= 0 || pat.Valid(text) && strings.Contains(shown, text[20:]) {
		t.Errorf("a token is shown: %q", shown)
	}
}

func TestQuestion_EscapesControlCharacters(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			chosen := prompts.Question{
				Title: text, Facts: []string{text, "fact " + text}, Preset: text,
				Choices: []prompts.Choice{{Value: text, Text: text}, {Value: "b", Text: "choice " + text}},
			}
			typed := prompts.Question{
				Title: text, Facts: []string{text}, Prompt: text, Preset: "preset",
				Check: func(answer string) error {
					if answer == "refused" {
						return errors.New(text)
					}
					return nil
				},
				Lookup: func(context.Context, string) (string, error) { return text, nil },
			}
			wide := tui.Terminal{Out: io.Discard, Columns: 80, Rows: 24}
			for _, s := range []prompts.Question{chosen, typed} {
				for _, refuse := range []error{nil, errors.New(text)} {
					loading, form := prompts.Draw(wide, s, text, text, refuse)
					checkShown(t, loading, text)
					checkShown(t, form, text)
				}
			}
			answer := ""
			typed.Preset = text
			p, shown := plain("9", "1", "refused", "", "")
			err := p.Ask(t.Context(),
				prompts.Step{Doing: text, Load: func(context.Context) error { return nil },
					Question: func() prompts.Question { return chosen }, Take: func(a string) { answer = a }},
				prompts.Step{Question: func() prompts.Question { return typed }, Take: func(string) {}},
			)
			if err != nil || answer != text {
				t.Errorf("the answer is %q, %v", answer, err)
			}
			checkShown(t, shown.String(), text)
		})
	}
}

func TestViews_EscapeControlCharacters(t *testing.T) {
	for name, text := range hostile {
		difference := flat.Difference{
			{Key: text, To: text}, {Key: "group." + text, To: text},
			{Key: "changed" + text, From: text, To: text + text},
			{Key: "list", From: fmt.Sprintf("[%q]", text), To: fmt.Sprintf("[%q, 1]", text+"x")},
			{Key: "removed" + text, From: strings.Repeat(text, 20)},
		}
		overwrite := prompts.Overwrite{Title: text, Facts: []string{text, "fact " + text}, Notice: text, Yes: "Yes",
			Difference: difference}
		t.Run(name+"/overwrite", func(t *testing.T) {
			for _, columns := range []int{40, 80, 400} {
				v := prompts.NewView(overwrite, columns, 60)
				checkShown(t, v.View(), text)
				v.Send(prompts.Ready, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a")})
				checkShown(t, v.View(), text)
				v.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/")}, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
				checkShown(t, v.View(), text)
			}
		})
		t.Run(name+"/overwrite in lines", func(t *testing.T) {
			var shown bytes.Buffer
			p := prompts.On(tui.Terminal{In: strings.NewReader("list\n\n"), Out: &shown, Plain: true, Columns: 80, Rows: 24})
			p.Overwrite(t.Context(), overwrite) // which ends as it may
			checkShown(t, shown.String(), text)
		})
		merge := prompts.Merge{Title: text, Facts: []string{text},
			Conflicts: flat.Conflicts{{Key: text, Base: text, Mine: text + "x", Theirs: strings.Repeat(text, 20)}}}
		t.Run(name+"/merge", func(t *testing.T) {
			for _, columns := range []int{40, 80, 400} {
				v := prompts.NewMergeView(merge, columns, 60)
				checkShown(t, v.View(), text)
				v.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("t")})
				checkShown(t, v.View(), text)
			}
		})
		t.Run(name+"/merge in lines", func(t *testing.T) {
			var shown bytes.Buffer
			p := prompts.On(tui.Terminal{In: strings.NewReader("list\nx\n\n"), Out: &shown, Plain: true, Columns: 80, Rows: 24})
			p.Merge(t.Context(), merge) // which ends as it may
			checkShown(t, shown.String(), text)
		})
		t.Run(name+"/home", func(t *testing.T) {
			home := prompts.Home{Status: text, Notices: []prompts.Said{{Text: text}},
				Items: []prompts.Item{{Name: text, State: text, Next: text, Details: []string{text, "detail " + text}}}}
			for _, columns := range []int{40, 80, 400} {
				checkShown(t, prompts.HomeText(home, text, columns, 30), text)
			}
		})
	}
}

func TestChecklist_EscapesControlCharacters(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var drawn bytes.Buffer
				said := ""
				for _, line := range []*tui.Line{
					tui.NewLine(&drawn, func() int { return 80 }),
					tui.NewLines(time.Minute, 0, func(line string) { said += line }),
				} {
					list := tui.NewChecklist(line, "step "+text)
					list.Start(0)
					time.Sleep(time.Second) // of the test's own clock
					line.Note(text)
					time.Sleep(time.Second)
					list.Update(tui.Progress{Phase: text})
					time.Sleep(time.Second)
					list.End(text)
				}
				moves := strings.NewReplacer("\r", "", "\x1b[J", "", "\x1b[K", "", "\x1b[A", "") // of the line itself
				checkShown(t, moves.Replace(drawn.String()), text)
				checkShown(t, said, text)
				if !strings.Contains(drawn.String(), "step ") || !strings.Contains(said, "step ") {
					t.Errorf("it shows %q and says %q", drawn.String(), said)
				}
			})
		})
	}
}
