// Package prompts asks a person at a terminal: forms of huh, or plain lines where
// the terminal cannot redraw or is read aloud.
//
// It decides nothing and knows no hub and no file; an answer that was not given is
// an error, never a default.
package prompts

import (
	"bufio"
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
func (t Terminal) TypeRef(ctx context.Context, title, body string, r ref.Ref) (bool, error) {
	check := func(s string) error {
		if s = strings.TrimSpace(s); s != "" && s != r.String() {
			return fmt.Errorf("type %s, or nothing to leave it", r)
		}
		return nil
	}
	if t.Plain {
		return t.typePlain(ctx, title, body, check)
	}
	typed := ""
	field := huh.NewInput().Title(strings.Join(t.wrap(title), "\n")).Description(strings.Join(t.wrap(body), "\n")).Placeholder(r.String()).Value(&typed).Validate(check)
	err := t.run(ctx, huh.NewForm(huh.NewGroup(field)))
	return err == nil && strings.TrimSpace(typed) != "", err
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

func (t Terminal) typePlain(ctx context.Context, title, body string, check func(string) error) (bool, error) {
	t.say("%s", title)
	t.say("%s", body)
	for {
		answer, err := t.line(ctx, "Name, or nothing to leave it: ")
		if err != nil {
			return false, err
		}
		if err := check(answer); err != nil {
			t.say("Not deleted: %v.", err)
			continue
		}
		return answer != "", nil
	}
}

func (t Terminal) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" {
		fmt.Fprintln(t.Out, text)
	}
}

// line asks for one line of text. The end of the input is an interrupt.
func (t Terminal) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.Out, prompt)
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := bufio.NewReader(t.In).ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.Out)
		return "", ctx.Err()
	case r := <-done:
		if r.err != nil {
			fmt.Fprintln(t.Out)
			return "", ErrInterrupted
		}
		return strings.TrimSpace(r.text), nil
	}
}
