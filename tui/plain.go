package tui

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui/escape"
)

// plainWidth is the columns of a value that is not listed in full: as much as one
// listens to.
const plainWidth = 60

// overwritePlain asks in lines: the counts first, then the keys by number and in
// words, as many as fit, then the question, which names what is preset.
func (t Terminal) overwritePlain(ctx context.Context, q Overwrite) (bool, error) {
	prompt := q.Yes + "? yes, no or list, no is preset: "
	left := t.Rows - t.rowsOf(prompt)
	say := func(line string) {
		line = escape.Line(line)
		left -= t.rowsOf(line)
		fmt.Fprintln(t.Out, line)
	}
	say(q.Title)
	for _, fact := range q.Facts {
		say(fact)
	}
	if q.Notice != "" {
		say(q.Notice)
	}
	n := countsOf(q.Difference)
	if n.total() == 0 {
		say("0 differences.")
	} else {
		say(fmt.Sprintf("%s: %s.", plural(n.total(), "difference", "differences"), n))
	}
	keys := keysOf(items(q.Difference))
	for i, it := range keys {
		sentence := it.sentence(plainWidth)
		if rest := len(keys) - i; i >= fewest && left <= t.rowsOf(sentence) && rest > 1 {
			say(fmt.Sprintf("and %d more; answer list to read all.", rest))
			break
		}
		say(sentence)
	}
	return t.answerPlain(ctx, prompt, func() {
		for _, it := range keys {
			it.say(say)
		}
	})
}

// rowsOf returns how many rows of the terminal a line takes.
func (t Terminal) rowsOf(line string) int {
	return max(1, (lipgloss.Width(line)+t.Columns-1)/max(1, t.Columns))
}

// answerPlain asks until there is an answer, and lists what the question is about
// when that is wanted.
func (t Terminal) answerPlain(ctx context.Context, prompt string, list func()) (bool, error) {
	for {
		answer, err := t.line(ctx, prompt)
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
			fmt.Fprintln(t.Out, "Please answer yes, no or list.")
		}
	}
}

// keysOf returns the keys among items.
func keysOf(all []item) []item {
	var keys []item
	for _, it := range all {
		if !it.heading {
			it.nested = false
			keys = append(keys, it)
		}
	}
	return keys
}

// sentence says what happens to a key, in words, with values of at most width columns.
func (it *item) sentence(width int) string {
	from, to := it.from, it.to
	if len(from) > width || len(to) > width {
		from, to = fromDifference(from, to, width)
	}
	from, _ = shorten(from, width)
	to, _ = shorten(to, width)
	if found, ok := elements(it.from, it.to); ok && it.kind == changed {
		return fmt.Sprintf("%d. %s changed, %s.", it.number, it.key, elementsText(found))
	}
	return fmt.Sprintf("%d. %s %s", it.number, it.key, happens(it.kind, from, to))
}

// say tells all of a key.
func (it *item) say(say func(string)) {
	say(it.sentence(len(it.from) + len(it.to)))
	if it.kind != changed {
		return
	}
	found, _ := elements(it.from, it.to)
	for _, e := range found {
		say(fmt.Sprintf("   element %d %s", e.index, happens(e.kind, e.from, e.to)))
	}
}

// happens says what happens to a value.
func happens(k kind, from, to string) string {
	if k == changed {
		return fmt.Sprintf("changed: %s to %s", from, to)
	}
	return fmt.Sprintf("%s: %s", k.word(), from+to)
}

// line asks for one line of text. The end of the input is an interrupt.
func (t Terminal) line(ctx context.Context, prompt string) (string, error) {
	t.DiscardInput()
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
