package prompts

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// goBack is what is typed instead of an answer to go back.
const goBack = "<"

// askPlain takes the steps in turn, in lines that can be read aloud.
func (p Prompter) askPlain(ctx context.Context, steps []Step) error {
	if p.Status != "" {
		p.say("%s", p.Status)
	}
	var asked []int // the steps that were answered, to go back to
	for at := 0; at < len(steps); at++ {
		step := steps[at]
		if step.Skip != nil && step.Skip() {
			continue
		}
		if step.Load != nil {
			if step.Doing != "" {
				p.say("%s.", step.Doing)
			}
			if err := step.Load(ctx); err != nil {
				return err
			}
		}
		if step.Question == nil {
			continue
		}
		question := step.Question()
		answer, back, err := p.questionPlain(ctx, question, len(asked) > 0 || p.CanGoBack)
		switch {
		case err != nil:
			return err
		case question.stops(answer):
			return ErrStop
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

// questionPlain asks until there is a valid answer.
func (p Prompter) questionPlain(ctx context.Context, q Question, back bool) (answer string, wentBack bool, err error) {
	p.say("")
	p.say("%s", q.Title)
	for _, fact := range q.Facts {
		p.say("%s", fact)
	}
	for i, c := range q.Choices {
		p.say("%d. %s", i+1, c.Text)
	}
	for {
		read := p.line
		if q.Secret {
			read = p.secret
		}
		typed, err := read(ctx, q.prompt(back))
		if err != nil {
			return "", false, err
		}
		if typed == goBack && back {
			return "", true, nil
		}
		answer, err := q.accept(ctx, typed, p.say)
		if err == nil {
			return answer, false, nil
		}
		p.say("Invalid answer: %v.", err)
	}
}

// choosePlain asks q with one more choice, which lists all that there is and asks again.
func (p Prompter) choosePlain(ctx context.Context, q Question, all func() []string) (answer string, err error) {
	const list = "list"
	p.CanGoBack = false
	q.Choices = append(slices.Clip(q.Choices), Choice{list, "List all"})
	step := Step{Question: func() Question { return q }, Take: func(taken string) { answer = taken }}
	for {
		if err := p.askPlain(ctx, []Step{step}); err != nil || answer != list {
			return answer, err
		}
		for _, line := range all() { // unbroken, to be copied
			fmt.Fprintln(p.Terminal.Out, tui.Localize(escape.Line(line)))
		}
		q.Facts, p.Status = nil, "" // which were said
	}
}

// prompt is what the answer is typed behind.
func (q Question) prompt(back bool) string {
	prompt, preset := q.Prompt, q.Preset
	if n := len(q.Choices); n > 0 {
		prompt, preset = fmt.Sprint("Choose 1 to ", n), ""
		if i := slices.IndexFunc(q.Choices, func(c Choice) bool { return c.Value == q.Preset }); i >= 0 {
			preset = strconv.Itoa(i + 1)
		}
	}
	var notes []string
	if preset != "" {
		notes = append(notes, "default "+preset)
	}
	if back {
		notes = append(notes, goBack+" goes back")
	}
	if len(notes) > 0 {
		prompt += " (" + strings.Join(notes, "; ") + ")"
	}
	return prompt + ": "
}

// accept turns what was typed into an answer, and says what a lookup finds.
func (q Question) accept(ctx context.Context, typed string, say func(string, ...any)) (string, error) {
	switch {
	case typed == "":
		typed = q.Preset
	case len(q.Choices) > 0:
		return q.choice(typed)
	}
	if q.Check != nil {
		if err := q.Check(typed); err != nil {
			return "", err
		}
	}
	if q.Lookup == nil {
		return typed, nil
	}
	found, err := q.Lookup(ctx, typed)
	if err == nil && found != "" {
		say("%s.", found)
	}
	return typed, err
}

// choice returns the choice that is typed: by its number, its value, or the letter of yes
// or no.
func (q Question) choice(typed string) (string, error) {
	if letter := q.letter(typed); letter != "" {
		return letter, nil
	}
	if n, err := strconv.Atoi(typed); err == nil && 1 <= n && n <= len(q.Choices) {
		return q.Choices[n-1].Value, nil
	}
	if slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Value == typed }) {
		return typed, nil
	}
	return "", fmt.Errorf("type a number from 1 to %d", len(q.Choices))
}

// say writes a sentence in lines that fit.
func (p Prompter) say(format string, args ...any) {
	for _, line := range p.wrap(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(p.Terminal.Out, tui.Localize(line))
	}
}

func (p Prompter) wrap(text string) []string {
	return tui.Wrap(escape.Line(text), p.Terminal.Columns-1)
}

// show writes a prompt, with these line ends, whose last line is typed on.
func (p Prompter) show(prompt, lineEnd string) {
	p.Terminal.DiscardInput()
	fmt.Fprint(p.Terminal.Out, strings.Join(p.wrap(strings.TrimRight(prompt, " ")), lineEnd)+" ")
}

// line asks for one line of text. The end of the input is an interrupt.
func (p Prompter) line(ctx context.Context, prompt string) (string, error) {
	p.show(prompt, "\n")
	typed, err := p.await(ctx, func() (string, error) { return readLine(p.Terminal.In) })
	if err != nil {
		fmt.Fprintln(p.Terminal.Out) // the prompt's line has no end yet
	}
	return typed, err
}

// secret asks for one line that is not shown.
func (p Prompter) secret(ctx context.Context, prompt string) (string, error) {
	f, ok := p.Terminal.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p.line(ctx, prompt)
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), before) }()
	p.show(prompt, "\r\n") // the terminal is raw
	typed, err := p.await(ctx, func() (string, error) { return readLine(f) })
	fmt.Fprint(p.Terminal.Out, "\r\n")
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
			return "", tui.ErrInterrupted
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
func (p Prompter) await(ctx context.Context, read func() (string, error)) (string, error) {
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
			return "", tui.ErrInterrupted
		}
		return strings.TrimSpace(r.text), nil
	}
}
