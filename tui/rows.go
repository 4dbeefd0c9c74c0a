package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
)

// Row is a row of a difference: a key, or the heading of the keys with one first segment.
type Row struct {
	Heading  bool   // it is no key
	file     bool   // the key is the path of a file, and its values are texts
	kind     kind   // of a key
	key      string // of a heading: the first segment
	segment  string // the key's first segment; of a file the whole path
	from, to string // of a key: the texts of its values, "" where there is none
	counts   counts // of a heading: of the keys below it

	compared bool      // found and hasParts are known
	found    []element // the parts in which the values differ
	hasParts bool
}

// Rows lists a difference by first segment, and within one by key, without tokens: a view
// may show a part of one that is no longer recognized. With files, the keys are paths, and a
// value is a text, which is compared line by line, or one line that says why there is none.
func Rows(d flat.Difference, files bool) []Row {
	keys := make([]Row, 0, d.Len())
	add := func(k kind, key, from, to string) {
		r := Row{file: files, kind: k, key: pat.Redact(key), from: pat.Redact(from), to: pat.Redact(to)}
		r.segment = r.key
		if !files {
			r.segment = firstSegment(r.key)
		}
		keys = append(keys, r)
	}
	for _, e := range d.Added {
		add(added, e.Key, "", e.Text)
	}
	for _, c := range d.Changed {
		add(changed, c.Key, c.From, c.To)
	}
	for _, e := range d.Removed {
		add(removed, e.Key, e.Text, "")
	}
	slices.SortFunc(keys, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.segment, b.segment), strings.Compare(a.key, b.key))
	})
	rows := make([]Row, 0, len(keys))
	heading := -1
	for _, k := range keys {
		if k.nested() {
			if heading < 0 || rows[heading].key != k.segment {
				heading = len(rows)
				rows = append(rows, Row{Heading: true, key: k.segment, segment: k.segment})
			}
			rows[heading].counts[k.kind]++
		}
		rows = append(rows, k)
	}
	return rows
}

// firstSegment returns the part of a key before its first separator.
func firstSegment(key string) string {
	for i := 0; i < len(key); i++ {
		switch key[i] {
		case '\\':
			i++
		case '.':
			return key[:i]
		}
	}
	return key
}

// nested reports whether the row is a key below a heading.
func (r *Row) nested() bool { return r.key != r.segment }

// Find returns the rows in whose key or values text occurs, ignoring case, with their
// headings, and how many of them are keys.
func Find(rows []Row, text string) (found []int, keys int) {
	text = strings.ToLower(text)
	heading := -1
	for i := range rows {
		r := &rows[i]
		if r.Heading {
			heading = i
			continue
		}
		if text != "" && !strings.Contains(strings.ToLower(r.key+"\n"+r.from+"\n"+r.to), text) {
			continue
		}
		if r.nested() && heading >= 0 {
			found, heading = append(found, heading), -1
		}
		found, keys = append(found, i), keys+1
	}
	return found, keys
}

// parts compares the values of a key element by element, or those of a file line by line.
// It returns false where they have no such parts.
func (r *Row) parts() ([]element, bool) {
	if !r.compared {
		if r.file {
			r.found, r.hasParts = compareLines(r.from, r.to)
		} else {
			r.found, r.hasParts = elements(r.from, r.to)
		}
		r.compared = true
	}
	return r.found, r.hasParts
}

// summary counts the parts in which the values differ.
func (r *Row) summary() string {
	var n counts
	for _, e := range r.found {
		n[e.kind]++
	}
	if r.file {
		return "lines: " + n.String()
	}
	return "elements: " + n.String()
}

// RowLine is one line of a row.
type RowLine struct {
	heading bool
	kind    kind
	head    string // painted as its kind
	text    string
}

// Paint returns the line in the colours of th, with the places where text occurs.
func (l RowLine) Paint(th *Theme, text string) string {
	style := th.kinds[l.kind]
	if l.heading {
		style = th.Title
	}
	return highlight(th, style, l.head, text) + highlight(th, lipgloss.NewStyle(), l.text, text)
}

func highlight(th *Theme, style lipgloss.Style, shown, text string) string {
	lower, text := strings.ToLower(shown), strings.ToLower(text)
	if text == "" || len(lower) != len(shown) {
		return style.Render(shown)
	}
	var b strings.Builder
	for {
		at := strings.Index(lower, text)
		if at < 0 {
			return b.String() + style.Render(shown)
		}
		end := at + len(text)
		b.WriteString(style.Render(shown[:at]) + th.Match.Render(shown[at:end]))
		shown, lower = shown[end:], lower[end:]
	}
}

// Lines returns the row in lines of at most width columns: in one, or with open in as many
// as show all of it.
func (r *Row) Lines(width int, open bool) []RowLine {
	folded, whole := r.folded(width)
	if !open || whole {
		return []RowLine{folded}
	}
	indent := r.indent()
	var lines []RowLine
	sign := r.kind.sign()
	for _, text := range wrap(r.label(), width-len(indent)-len("+ ")) {
		lines = append(lines, RowLine{kind: r.kind, head: indent + sign + " " + text})
		sign = " "
	}
	indent += "    "
	found, parts := r.parts()
	switch {
	case parts:
		lines = append(lines, RowLine{kind: r.kind, text: indent + r.summary()})
		for _, e := range found {
			head := fmt.Sprintf("%s%s [%d] ", indent, e.kind.sign(), e.index)
			lines = append(lines, valueLines(e.kind, head, e.from, e.to, width)...)
		}
		return lines
	default:
		return append(lines, valueLines(r.kind, indent, r.from, r.to, width)...)
	}
}

func (r *Row) indent() string {
	if r.nested() {
		return "  "
	}
	return ""
}

// label is what is shown of the key: what its heading does not say already.
func (r *Row) label() string {
	if r.nested() {
		return r.key[len(r.segment)+1:]
	}
	return r.key
}

// folded returns the row in one line of at most width columns, and whether that is all of it.
func (r *Row) folded(width int) (l RowLine, whole bool) {
	if r.Heading {
		head, _ := shorten(r.key, width)
		text, _ := shorten("  "+r.counts.String(), width-lipgloss.Width(head))
		return RowLine{heading: true, head: head, text: text}, true
	}
	head, cut := shorten(r.indent()+r.kind.sign()+" "+r.label(), max(width*2/3, width-len(`: "…"`)-20))
	if !cut {
		head += ": "
	}
	room := width - lipgloss.Width(head)
	if cut || room < 4 {
		return RowLine{kind: r.kind, head: head}, false
	}
	text, whole := r.value(room)
	return RowLine{kind: r.kind, head: head, text: text}, whole
}

const arrow = " → "

// value returns what is to be seen of a key's values in width columns, and whether that is
// all of them.
func (r *Row) value(width int) (text string, whole bool) {
	_, parts := r.parts()
	if !parts || !r.file {
		joint := r.from + r.to
		if r.kind == changed {
			joint = r.from + arrow + r.to
		}
		text, cut := shorten(joint, width)
		if !cut || r.kind != changed {
			return text, !cut && !parts
		}
	}
	if parts {
		return Shorten(r.summary(), width), false
	}
	a, b := fromDifference(r.from, r.to, width/4)
	half := (width - lipgloss.Width(arrow)) / 2
	from, fromCut := shorten(a, half)
	if !fromCut {
		half = width - lipgloss.Width(arrow) - lipgloss.Width(from)
	}
	to, toCut := shorten(b, half)
	if !toCut {
		from, _ = shorten(a, width-lipgloss.Width(arrow)-lipgloss.Width(to))
	}
	return from + arrow + to, false
}

// valueLines wraps values behind head: one, or the two of a change.
func valueLines(k kind, head, from, to string, width int) []RowLine {
	if k != changed {
		return hanging(k, head, from+to, width)
	}
	blank := strings.Repeat(" ", len(head))
	return append(hanging(k, head+"from ", from, width), hanging(k, blank+"to   ", to, width)...)
}

// hanging wraps text behind head.
func hanging(k kind, head, text string, width int) []RowLine {
	var lines []RowLine
	for _, part := range wrap(text, max(width-len(head), width/4)) {
		lines = append(lines, RowLine{kind: k, head: head, text: part})
		head = strings.Repeat(" ", len(head))
	}
	return lines
}

// Sentences describes the keys among rows in words: one sentence each, with values of at
// most width columns. With width 0 the values are whole, and each part in which they differ
// has a line of its own.
func Sentences(rows []Row, width int) []string {
	var all []string
	for i := range rows {
		if r := &rows[i]; !r.Heading {
			all = append(all, r.sentences(width)...)
		}
	}
	return all
}

func (r *Row) sentences(width int) []string {
	found, parts := r.parts()
	if !parts || r.kind != changed && !r.file {
		shown := cmp.Or(width, math.MaxInt)
		from, to := Values(r.from, r.to, shown)
		return []string{r.key + " " + happens(r.kind, from, to)}
	}
	all := []string{fmt.Sprintf("%s %s, %s.", r.key, r.kind.word(), r.summary())}
	if width > 0 {
		return all
	}
	part := "element"
	if r.file {
		part = "line"
	}
	for _, e := range found {
		all = append(all, fmt.Sprintf("   %s %d %s", part, e.index, happens(e.kind, e.from, e.to)))
	}
	return all
}

// happens describes what happens to a value.
func happens(k kind, from, to string) string {
	if k == changed {
		return fmt.Sprintf("changed: %s to %s", from, to)
	}
	return fmt.Sprintf("%s: %s", k.word(), from+to)
}
