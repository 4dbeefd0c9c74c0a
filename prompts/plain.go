package prompts

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"example.com/projecthub/tui/escape"
)

// goBack is what is typed instead of an answer to go back.
const goBack = "<"

// conversePlain takes the steps in turn, in lines that can be read aloud.
func (t Terminal) conversePlain(ctx context.Context, steps []Step) error {
	var asked []int // the steps that were answered, to go back to
	for at := 0; at < len(steps); at++ {
		step := steps[at]
		if step.Skip != nil && step.Skip() {
			continue
		}
		if step.Load != nil {
			if step.Doing != "" {
				t.say("%s.", step.Doing)
			}
			if err := step.Load(ctx); err != nil {
				return err
			}
		}
		if step.Screen == nil {
			continue
		}
		answer, back, err := t.askPlain(ctx, step.Screen(), len(asked) > 0 || t.CanGoBack)
		switch {
		case err != nil:
			return err
		case back && len(asked) == 0:
			return ErrBack
		case back:
			at = asked[len(asked)-1] - 1
			asked = asked[:len(asked)-1]
			continue
		}
		asked = append(asked, at)
		step.Take(answer)
	}
	return nil
}

// askPlain asks until there is an answer that can be taken.
func (t Terminal) askPlain(ctx context.Context, s Screen, back bool) (answer string, wentBack bool, err error) {
	t.say("")
	t.sayWrapped(s.Title)
	for _, fact := range s.Facts {
		t.sayWrapped(fact)
	}
	for i, c := range s.Choices {
		t.sayWrapped(fmt.Sprintf("%d. %s", i+1, c.Text))
	}
	for {
		typed, err := t.lineOf(ctx, s, escape.Line(t.prompt(s, back)))
		if err != nil {
			return "", false, err
		}
		if typed == goBack && back {
			return "", true, nil
		}
		answer, err := s.accept(ctx, typed, t.say)
		if err == nil {
			return answer, false, nil
		}
		t.sayWrapped(fmt.Sprintf("Not taken: %v.", err))
	}
}

func (t Terminal) sayWrapped(text string) {
	for _, line := range t.wrap(text) {
		t.say("%s", line)
	}
}

func (t Terminal) prompt(s Screen, back bool) string {
	var preset, also string
	if back {
		also = ", " + goBack + " goes back"
	}
	if len(s.Choices) == 0 {
		if s.Preset != "" {
			preset = ", " + s.Preset + " is preset"
		}
		return s.Prompt + preset + also + ": "
	}
	for i, c := range s.Choices {
		if c.Value == s.Preset {
			preset = fmt.Sprintf(", %d is preset", i+1)
		}
	}
	return fmt.Sprintf("Choose 1 to %d%s%s: ", len(s.Choices), preset, also)
}

func (t Terminal) lineOf(ctx context.Context, s Screen, prompt string) (string, error) {
	if s.Secret {
		return t.secret(ctx, prompt)
	}
	return t.line(ctx, prompt)
}

// accept turns what was typed into an answer, and says what a look finds.
func (s Screen) accept(ctx context.Context, typed string, say func(string, ...any)) (string, error) {
	if typed == "" {
		typed = s.Preset
	} else if len(s.Choices) > 0 {
		n, err := strconv.Atoi(typed)
		if err != nil || n < 1 || n > len(s.Choices) {
			return "", fmt.Errorf("type a number from 1 to %d", len(s.Choices))
		}
		return s.Choices[n-1].Value, nil
	}
	if s.Check != nil {
		if err := s.Check(typed); err != nil {
			return "", err
		}
	}
	if s.Look == nil {
		return typed, nil
	}
	found, err := s.Look(ctx, typed)
	if err == nil && found != "" {
		say("%s.", found)
	}
	return typed, err
}

func (t Terminal) say(format string, args ...any) {
	fmt.Fprintln(t.Out, escape.Line(fmt.Sprintf(format, args...)))
}

// line asks for one line of text. The end of the input is an interrupt.
func (t Terminal) line(ctx context.Context, prompt string) (string, error) {
	t.view().DiscardInput()
	fmt.Fprint(t.Out, prompt)
	typed, err := t.await(ctx, func() (string, error) { return readLine(t.In) })
	if err != nil {
		fmt.Fprintln(t.Out) // the prompt's line has no end yet
	}
	return typed, err
}

// secret asks for one line that is not shown.
func (t Terminal) secret(ctx context.Context, prompt string) (string, error) {
	f, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return t.line(ctx, prompt)
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer term.Restore(int(f.Fd()), before)
	t.view().DiscardInput()
	fmt.Fprint(t.Out, prompt)
	typed, err := t.await(ctx, func() (string, error) { return readLine(f) })
	fmt.Fprint(t.Out, "\r\n")
	return typed, err
}

// readLine reads a line and no byte more. In raw mode every key is a byte of it.
func readLine(r io.Reader) (string, error) {
	var typed []byte
	key := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, key); err != nil {
			return "", err
		}
		switch key[0] {
		case '\r', '\n':
			return string(typed), nil
		case 3, 4: // ctrl-c, ctrl-d
			return "", ErrInterrupted
		case 8, 127: // backspace
			typed = typed[:max(0, len(typed)-1)]
		case 21: // ctrl-u
			typed = nil
		default:
			typed = append(typed, key[0])
		}
	}
}

// await returns what read does, or gives it up when ctx ends.
func (t Terminal) await(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-done:
		if r.err != nil {
			return "", ErrInterrupted
		}
		return strings.TrimSpace(r.text), nil
	}
}
