package prompts_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/prompts"
)

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

func TestScreens_ShowNothingThatATerminalActsOn(t *testing.T) {
	for name, text := range map[string]string{
		"OSC 0": "\x1b]0;title\x07", "OSC 52": "\x1b]52;c;ZWNobw==\x1b\\", "CSI": "\x1b[2J\x1b[H", "DCS": "\x1bP$q\x1b\\",
		"C1 CSI": "\u009b2J", "raw C1": "\x9b2J", "carriage": "safe\roverwritten", "backspace": "safe\b\b", "delete": "\x7f",
		"bidi override": "\u202egnp.exe", "bidi isolate": "\u2066abc\u2069", "token": pat.New(),
	} {
		t.Run(name, func(t *testing.T) {
			chosen := prompts.Screen{
				Title: text, Facts: []string{text, "fact " + text}, Preset: text,
				Choices: []prompts.Choice{{Value: text, Text: text}, {Value: "b", Text: "choice " + text}},
			}
			typed := prompts.Screen{
				Title: text, Facts: []string{text}, Prompt: text, Preset: "preset",
				Check: func(answer string) error {
					if answer == "refused" {
						return errors.New(text)
					}
					return nil
				},
				Look: func(context.Context, string) (string, error) { return text, nil },
			}
			wide := prompts.Terminal{Columns: 80, Rows: 24}
			for _, s := range []prompts.Screen{chosen, typed} {
				for _, refuse := range []error{nil, errors.New(text)} {
					loading, form := wide.Draw(s, text, text, refuse)
					checkShown(t, loading, text)
					checkShown(t, form, text)
				}
			}
			answer := ""
			typed.Preset = text
			term, shown := plain("9", "1", "refused", "", "")
			err := term.Converse(t.Context(), []prompts.Step{
				{Doing: text, Load: func(context.Context) error { return nil }, Screen: func() prompts.Screen { return chosen }, Take: func(a string) { answer = a }},
				{Screen: func() prompts.Screen { return typed }, Take: func(string) {}},
			})
			if err != nil || answer != text {
				t.Errorf("the answer is %q, %v", answer, err)
			}
			checkShown(t, shown.String(), text)
		})
	}
}
