package prompts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/tuitest"
)

func TestQuestion_EscapesControlCharacters(t *testing.T) {
	for name, text := range tuitest.Hostile {
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
					tuitest.CheckShown(t, loading, text)
					tuitest.CheckShown(t, form, text)
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
			tuitest.CheckShown(t, shown.String(), text)
		})
	}
}

func TestViews_EscapeControlCharacters(t *testing.T) {
	for name, text := range tuitest.Hostile {
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
				tuitest.CheckShown(t, v.View(), text)
				v.Send(prompts.Ready, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a")})
				tuitest.CheckShown(t, v.View(), text)
				v.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/")}, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
				tuitest.CheckShown(t, v.View(), text)
			}
		})
		t.Run(name+"/overwrite in lines", func(t *testing.T) {
			var shown bytes.Buffer
			p := prompts.On(tui.Terminal{In: strings.NewReader("list\n\n"), Out: &shown, Plain: true, Columns: 80, Rows: 24})
			p.Overwrite(t.Context(), overwrite) // which ends as it may
			tuitest.CheckShown(t, shown.String(), text)
		})
		merge := prompts.Merge{Title: text, Facts: []string{text},
			Conflicts: flat.Conflicts{{Key: text, Base: text, Mine: text + "x", Theirs: strings.Repeat(text, 20)}}}
		t.Run(name+"/merge", func(t *testing.T) {
			for _, columns := range []int{40, 80, 400} {
				v := prompts.NewMergeView(merge, columns, 60)
				tuitest.CheckShown(t, v.View(), text)
				v.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("t")})
				tuitest.CheckShown(t, v.View(), text)
			}
		})
		t.Run(name+"/merge in lines", func(t *testing.T) {
			var shown bytes.Buffer
			p := prompts.On(tui.Terminal{In: strings.NewReader("list\nx\n\n"), Out: &shown, Plain: true, Columns: 80, Rows: 24})
			p.Merge(t.Context(), merge) // which ends as it may
			tuitest.CheckShown(t, shown.String(), text)
		})
		t.Run(name+"/home", func(t *testing.T) {
			home := prompts.Home{Status: text, Notices: []prompts.Said{{Text: text}},
				Items: []prompts.Item{{Name: text, State: text, Next: text, Details: []string{text, "detail " + text}}}}
			for _, columns := range []int{40, 80, 400} {
				tuitest.CheckShown(t, prompts.HomeText(home, text, columns, 30), text)
			}
		})
	}
}
