package prompts

import (
	"cmp"
	"context"
	"errors"
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

// askPlain takes the steps in turn. It asks in lines, which can be read aloud.
func (p prompter) askPlain(ctx context.Context, steps []Step) error {
	if p.status != "" {
		p.say("%s", p.status)
	}
	var asked []int // indexes of the steps that were answered, to go back to
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
		question := step.question()
		if question.Title == "" {
			continue
		}
		canGoBack := p.canGoBack || len(asked) > 0
		answer, err := p.questionPlain(ctx, question, canGoBack)
		last := len(asked) - 1
		switch {
		case errors.Is(err, ErrBack) && last >= 0:
			at, asked = asked[last]-1, asked[:last] // the loop adds 1
			continue
		case err != nil:
			return err
		case question.stops(answer):
			return ErrStop
		}
		asked = append(asked, at)
		step.Take(answer)
	}
	return nil
}

// questionPlain asks until there is a valid answer. The error is ErrBack if the user goes back.
func (p prompter) questionPlain(ctx context.Context, q Question, canGoBack bool) (string, error) {
	p.say("")
	p.say("%s", q.Title)
	for _, fact := range q.Facts {
		p.say("%s", fact)
	}
	for i, c := range q.Choices {
		p.say("%d. %s", i+1, c.Text)
	}
	read := p.line
	if q.Secret {
		read = p.secret
	}
	for {
		typed, err := read(ctx, q.prompt(canGoBack))
		if err != nil {
			return "", err
		}
		if canGoBack && typed == goBack {
			return "", ErrBack
		}
		answer, invalid := q.accept(ctx, typed, p.say)
		if invalid == nil {
			return answer, nil
		}
		p.say("Invalid answer: %v.", invalid)
	}
}

// choosePlain asks q with one more choice, which prints all lines of a list and asks again.
func (p prompter) choosePlain(ctx context.Context, q Question, all func() []string) (answer string, err error) {
	const list = "list"
	p.canGoBack = false
	q.Choices = append(slices.Clip(q.Choices), Choice{list, "List all"})
	step := Step{Question: func() Question { return q }, Take: func(taken string) { answer = taken }}
	for {
		if err := p.askPlain(ctx, []Step{step}); err != nil || answer != list {
			return answer, err
		}
		for _, line := range all() { // not wrapped, so that it can be copied
			fmt.Fprintln(p.Out, tui.Localize(escape.Line(line)))
		}
		q.Facts = nil // shown already, as is the status
		p.status = ""
	}
}

// prompt returns the text after which the answer is typed.
func (q Question) prompt(canGoBack bool) string {
	prompt := q.Prompt
	byDefault := q.Preset
	if len(q.Choices) > 0 {
		prompt = fmt.Sprint("Choose 1 to ", len(q.Choices))
		byDefault = ""
		preset := slices.IndexFunc(q.Choices, func(c Choice) bool { return c.Value == q.Preset })
		if preset >= 0 {
			byDefault = strconv.Itoa(preset + 1)
		}
	}
	var notes []string
	if byDefault != "" {
		notes = append(notes, "default "+byDefault)
	}
	if canGoBack {
		notes = append(notes, goBack+" goes back")
	}
	if len(notes) > 0 {
		prompt += " (" + strings.Join(notes, "; ") + ")"
	}
	return prompt + ": "
}

// accept turns what was typed into an answer, and says what a lookup finds.
func (q Question) accept(ctx context.Context, typed string, say func(string, ...any)) (string, error) {
	if len(q.Choices) > 0 {
		return q.choice(typed)
	}
	typed = cmp.Or(typed, q.Preset)
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

// choice returns the choice that was typed: by its number, its value, or the letter of yes or no.
func (q Question) choice(typed string) (string, error) {
	if typed == "" && q.offers(q.Preset) {
		return q.Preset, nil
	}
	if answer := q.yesOrNo(typed); answer != "" {
		return answer, nil
	}
	number, err := strconv.Atoi(typed)
	if err == nil && 1 <= number && number <= len(q.Choices) {
		return q.Choices[number-1].Value, nil
	}
	if q.offers(typed) {
		return typed, nil
	}
	return "", fmt.Errorf("type a number from 1 to %d", len(q.Choices))
}

// say writes a sentence, wrapped to the terminal's width.
func (p prompter) say(format string, args ...any) {
	for _, line := range p.wrap(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(p.Out, tui.Localize(line))
	}
}

func (p prompter) wrap(text string) []string {
	return tui.Wrap(escape.Line(text), p.Columns-1)
}

// show writes a prompt. The answer is typed at the end of its last line.
func (p prompter) show(prompt, lineEnd string) {
	p.DiscardInput()
	fmt.Fprint(p.Out, strings.Join(p.wrap(strings.TrimRight(prompt, " ")), lineEnd)+" ")
}

// line asks for a line of text. The error at the end of the input is [tui.ErrInterrupted].
func (p prompter) line(ctx context.Context, prompt string) (string, error) {
	p.show(prompt, "\n")
	typed, err := p.await(ctx, func() (string, error) { return readLine(p.In) })
	if err != nil {
		fmt.Fprintln(p.Out) // nobody has pressed enter to end the prompt's line
	}
	return typed, err
}

// secret asks for a line of text that is not shown while it is typed.
func (p prompter) secret(ctx context.Context, prompt string) (string, error) {
	f, ok := p.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p.line(ctx, prompt)
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), before) }()
	p.show(prompt, "\r\n") // a raw terminal does not add the \r
	typed, err := p.await(ctx, func() (string, error) { return readLine(f) })
	fmt.Fprint(p.Out, "\r\n")
	return typed, err
}

// readLine reads a line, and no byte after it. In raw mode it gets each key, and does what the
// terminal otherwise does.
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

// await returns what read returns, without spaces around it, or the error of ctx when ctx ends.
// In that case read goes on in the background, because reading a terminal cannot be canceled.
// If read fails, the error is [tui.ErrInterrupted].
func (p prompter) await(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	results := make(chan result, 1)
	go func() {
		text, err := read()
		results <- result{text: text, err: err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-results:
		if r.err != nil {
			return "", tui.ErrInterrupted
		}
		return strings.TrimSpace(r.text), nil
	}
}
