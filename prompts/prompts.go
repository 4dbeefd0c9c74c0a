// Package prompts asks a person at a terminal: forms of huh, or plain lines where
// the terminal cannot redraw or is read aloud.
//
// It decides nothing and knows no hub and no file; an answer that was not given is
// an error, never a default.
package prompts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"example.com/projecthub/hubclient/ref"
)

// ErrInterrupted says that the person ended the program instead of answering.
var ErrInterrupted = errors.New("interrupted")

// Terminal is where a person is asked.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of forms
	Columns, Rows int
}

// Question is one that is answered by yes or no.
type Question struct {
	Title string
	Body  string // what the answer decides about, in lines
	Yes   string // what yes does, such as: Overwrite it
	No    string

	Rest func(lines int) string // stands for those of Body that the terminal has no room for
}

// Confirm asks a question; "no" is preset.
func (t Terminal) Confirm(ctx context.Context, q Question) (bool, error) {
	body, fits := t.fit(q)
	if t.Plain || !fits {
		return t.confirmPlain(ctx, q)
	}
	yes := false
	field := huh.NewConfirm().Title(strings.Join(t.wrap(q.Title), "\n")).Description(body).Affirmative(q.Yes).Negative(q.No).Value(&yes)
	err := t.run(ctx, huh.NewForm(huh.NewGroup(field)))
	return yes && err == nil, err
}

// TypeRef asks for r to be typed in full. An empty answer is a no.
func (t Terminal) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	answer := ""
	err := t.Converse(ctx, []Step{{
		Screen: func() Screen {
			return Screen{
				Title: title, Facts: []string{fact}, Prompt: "Its full name, or nothing to leave it", Late: true,
				Check: func(typed string) error {
					if typed = strings.TrimSpace(typed); typed != "" && typed != r.String() {
						return fmt.Errorf("type %s, or nothing to leave it", r)
					}
					return nil
				},
			}
		},
		Take: func(typed string) { answer = strings.TrimSpace(typed) },
	}})
	return err == nil && answer != "", err
}

// run shows a form until it is answered.
func (t Terminal) run(ctx context.Context, form *huh.Form) error {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithKeys("ctrl+c", "ctrl+d"))
	err := form.WithKeyMap(keys).WithTheme(theme()).WithInput(t.In).WithOutput(t.Out).WithAccessible(false).
		WithProgramOptions(tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithoutSignalHandler()).
		RunWithContext(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, huh.ErrUserAborted), form.State != huh.StateCompleted:
		return ErrInterrupted // a form can end with defaults and without an error
	}
	return err
}

func (t Terminal) confirmPlain(ctx context.Context, q Question) (bool, error) {
	t.say("%s", q.Title)
	t.say("%s", q.Body)
	for {
		answer, err := t.line(ctx, fmt.Sprintf("%s? yes or no, no is preset: ", q.Yes))
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
		t.say("Please answer yes or no.")
	}
}
