package prompts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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

// checkShown checks that nothing is shown that a terminal would act on, apart from
// the colours of a form.
func checkShown(t *testing.T, shown, text string) {
	t.Helper()
	for i, part := range strings.Split(shown, "\x1b") {
		if i > 0 && !strings.HasPrefix(part, "[") || strings.HasPrefix(part, "[2J") {
			t.Errorf("an escape sequence is shown: %q in %q", part, shown)
		}
	}
	for _, r := range shown {
		if r < ' ' && r != '\n' && r != '\x1b' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
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
			wide := tui.Terminal{Columns: 80, Rows: 24}
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
				prompts.Step{Doing: text, Load: func(context.Context) error { return nil }, Question: func() prompts.Question { return chosen }, Take: func(a string) { answer = a }},
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
			Added:   []flat.Entry{{Key: text, Text: text}, {Key: "group." + text, Text: text}},
			Changed: []flat.Change{{Key: "changed" + text, From: text, To: text + text}, {Key: "list", From: fmt.Sprintf("[%q]", text), To: fmt.Sprintf("[%q, 1]", text+"x")}},
			Removed: []flat.Entry{{Key: "removed" + text, Text: strings.Repeat(text, 20)}},
		}
		overwrite := prompts.Overwrite{Title: text, Facts: []string{text, "fact " + text}, Notice: text, Yes: "Yes", No: "No", Difference: difference}
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
			p := prompts.Prompter{Terminal: tui.Terminal{In: strings.NewReader("list\n\n"), Out: &shown, Plain: true, Columns: 80, Rows: 24}}
			p.Overwrite(t.Context(), overwrite) // which ends as it may
			checkShown(t, shown.String(), text)
		})
		t.Run(name+"/home", func(t *testing.T) {
			home := prompts.Home{Status: text, Notices: []string{text}, Items: []prompts.Item{{Name: text, State: text, Details: []string{text, "detail " + text}}}}
			for _, columns := range []int{40, 80, 400} {
				checkShown(t, prompts.HomeText(home, text, columns, 30), text)
			}
		})
	}
}
