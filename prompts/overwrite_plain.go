package prompts

import (
	"context"
	"fmt"
	"strings"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// plainWidth is the columns of a value that is not listed in full.
const plainWidth = 60

// overwritePlain asks in lines: the counts first, then the keys by number and in
// words, as many as fit, then the question with its default.
func (p Prompter) overwritePlain(ctx context.Context, q Overwrite) (bool, error) {
	prompt := q.Yes + "? yes, no or list (default no): "
	left := p.Terminal.Rows - p.rowsOf(prompt)
	say := func(line string) {
		left -= p.rowsOf(line)
		p.say("%s", line)
	}
	if p.Status != "" {
		say(p.Status)
	}
	say(q.Title)
	for _, fact := range q.Facts {
		say(fact)
	}
	if q.Notice != "" {
		say(q.Notice)
	}
	short, full := tui.Sentences, tui.FullSentences
	if q.Files {
		short, full = tui.FileSentences, tui.FullFileSentences
	}
	keys := short(q.Difference, plainWidth)
	switch n := len(keys); n {
	case 0:
		say("0 differences.")
	case 1:
		say(fmt.Sprintf("1 difference: %s.", tui.Counts(q.Difference)))
	default:
		say(fmt.Sprintf("%d differences: %s.", n, tui.Counts(q.Difference)))
	}
	for i, sentence := range keys {
		if rest := len(keys) - i; i >= minKeys && left <= p.rowsOf(sentence) && rest > 1 {
			say(fmt.Sprintf("and %d more; answer list to read all.", rest))
			break
		}
		say(sentence)
	}
	return p.answerPlain(ctx, prompt, func() {
		for _, sentence := range full(q.Difference) { // unbroken, to be copied
			fmt.Fprintln(p.Terminal.Out, tui.Localize(escape.Line(sentence)))
		}
	})
}

// rowsOf returns how many rows of the terminal a line takes.
func (p Prompter) rowsOf(line string) int { return len(p.wrap(line)) }

// answerPlain asks until there is an answer, and lists the differences on request.
func (p Prompter) answerPlain(ctx context.Context, prompt string, list func()) (bool, error) {
	for {
		answer, err := p.line(ctx, prompt)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		case "l", "list":
			list()
		default:
			p.say("Please answer yes, no or list.")
		}
	}
}
