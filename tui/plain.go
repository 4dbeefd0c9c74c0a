package tui

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// plainWidth is the columns of a value that is not listed in full: as much as one
// listens to.
const plainWidth = 60

// overwritePlain asks in lines: the counts first, then the keys by number and in
// words, as many as fit, then the question, which names what is preset.
func (t Terminal) overwritePlain(ctx context.Context, q Overwrite) (bool, error) {
	say := func(line string) { fmt.Fprintln(t.Out, printable(line)) }
	say(q.Title)
	for _, fact := range q.Facts {
		say(fact)
	}
	if q.Notice != "" {
		say(q.Notice)
	}
	d := q.Difference
	n := counts{added: len(d.Added), changed: len(d.Changed), removed: len(d.Removed)}
	say(fmt.Sprintf("%s: %s.", plural(n.total(), "difference", "differences"), n))
	all := keysOf(items(d))
	room := max(fewest, t.Rows-len(q.Facts)-5)
	if len(all) <= room {
		room = len(all)
	}
	for _, it := range all[:room] {
		say(it.sentence(plainWidth))
	}
	if room < len(all) {
		say(fmt.Sprintf("and %d more; answer list to read all.", len(all)-room))
	}
	for {
		answer, err := t.line(ctx, q.Yes+"? yes, no or list, no is preset: ")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		case "l", "list":
			for _, it := range all {
				it.say(say)
			}
		default:
			say("Please answer yes, no or list.")
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
	from, _ := shorten(it.from, width)
	to, _ := shorten(it.to, width)
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
