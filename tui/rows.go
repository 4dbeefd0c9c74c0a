package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
)

// Row is a row of a difference: a key, or the heading of the keys with one first segment.
type Row struct {
	Heading bool
	Section bool   // a heading of rows with headings of their own
	key     string // the whole key; of a heading the first segment of the keys below it
	segment string // the key's first segment; of a file the whole path

	// Of a key.
	kind     Role
	file     bool   // the key is the path of a file, and its values are texts
	from, to string // the texts of its values, "" for no value
	note     string // who wrote it, and when; "" for nothing

	// Of a heading.
	counts counts // of the keys below it

	// parts returns the parts in which the values differ: elements of an array, or lines of a file. It returns
	// false where the values have no such parts.
	parts func() ([]element, bool)
}

// Rows lists a difference by first segment, then by key. Tokens are redacted here, because a
// view that shows only a part of a token could not recognize it.
//
// With files, the keys are paths, and a value is a text, which is compared line by line, or
// one line that says why there is no text. Otherwise enrichments are listed by record.
func Rows(d flat.Difference, files bool) []Row {
	if !files {
		d = d.ByRecord()
	}
	keys := make([]Row, 0, len(d))
	for _, c := range d {
		r := Row{
			key:  redact(c.Key),
			kind: RoleOf(c.Sign()),
			file: files,
			from: redact(c.From),
			to:   redact(c.To),
		}
		r.parts = sync.OnceValues(func() ([]element, bool) {
			if files {
				return compareLines(r.from, r.to)
			}
			return elements(r.from, r.to)
		})
		r.segment = r.key
		if !files {
			r.segment = firstSegment(r.key)
			if name, _, ofRecord := strings.Cut(r.key, "["); ofRecord && name == "enrichments" {
				r.segment = name
			}
		}
		keys = append(keys, r)
	}
	slices.SortFunc(keys, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.segment, b.segment), strings.Compare(a.key, b.key))
	})
	rows := make([]Row, 0, len(keys))
	heading := -1 // index of the last heading
	for _, k := range keys {
		if k.nested() {
			if heading < 0 || rows[heading].key != k.segment {
				heading = len(rows)
				rows = append(rows, Row{Heading: true, key: k.segment, segment: k.segment, counts: counts{}})
			}
			rows[heading].counts[k.kind]++
		}
		rows = append(rows, k)
	}
	return rows
}

// Section puts rows below a heading, and adds notes to them by their keys.
func Section(title string, rows []Row, notes map[string]string) []Row {
	section := Row{Heading: true, Section: true, key: title, segment: title, counts: counts{}}
	for i := range rows {
		if r := &rows[i]; !r.Heading {
			r.note = cmp.Or(notes[r.key], notes[r.segment])
			section.counts[r.kind]++
		}
	}
	return slices.Insert(rows, 0, section)
}

// firstSegment returns the part of a key before its first dot that is not escaped.
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

func (r *Row) nested() bool { return r.key != r.segment }

// Find returns the indexes of the rows in whose key or values text occurs, ignoring case,
// with their headings, and how many of these rows are keys.
func Find(rows []Row, text string) (found []int, keys int) {
	text = strings.ToLower(text)
	heading := -1 // index of the last heading, until it is found
	for i := range rows {
		r := &rows[i]
		if r.Section && text == "" {
			found = append(found, i)
		}
		if r.Heading {
			heading = i
			continue
		}
		if text != "" && !strings.Contains(strings.ToLower(r.key+"\n"+r.from+"\n"+r.to), text) {
			continue
		}
		if r.nested() && heading >= 0 {
			found = append(found, heading)
			heading = -1
		}
		found = append(found, i)
		keys++
	}
	return found, keys
}

func (r *Row) summary(parts []element) string {
	n := counts{}
	for _, e := range parts {
		n[e.kind]++
	}
	if r.file {
		return "lines: " + n.String()
	}
	return "elements: " + n.String()
}

// RowLine is one line of a row.
type RowLine struct {
	kind Role   // of a key, or of a heading
	head string // painted as its kind
	text string // follows head, and is not painted
	note string // ends the line, quietly
}

// Paint returns the line in the colours of th, with each occurrence of text highlighted.
func (l RowLine) Paint(th *Theme, text string) string {
	return th.highlight(l.kind, l.head, text) + th.highlight(Plain, l.text, text) + th.Paint(Quiet, l.note)
}

// highlight paints what is shown, and each text in it as a match.
func (th *Theme) highlight(role Role, shown, text string) string {
	lower, text := strings.ToLower(shown), strings.ToLower(text)
	samePlaces := len(lower) == len(shown) // a few letters have more bytes in lower case
	if text == "" || !samePlaces {
		return th.Paint(role, shown)
	}
	var b strings.Builder
	for {
		at := strings.Index(lower, text)
		if at < 0 {
			return b.String() + th.Paint(role, shown)
		}
		end := at + len(text)
		b.WriteString(th.Paint(role, shown[:at]) + th.Paint(Match, shown[at:end]))
		shown, lower = shown[end:], lower[end:]
	}
}

// Lines returns the row in a line of at most width columns, or with open in as many as it takes.
func (r *Row) Lines(width int, open bool) []RowLine {
	note := ""
	if r.note != "" {
		note = "  " + r.note
	}
	room := width - lipgloss.Width(note)
	hidden := note != "" && room < minNotedColumns // the note, until the row is unfolded
	if hidden {
		note, room = "", width
	}
	folded, whole := r.folded(room)
	if !open || whole && !hidden {
		folded.note += note
		return []RowLine{folded}
	}
	indent := r.indent()
	sign := kinds[r.kind].sign // of the first line
	var lines []RowLine
	for _, text := range wrap(r.label(), width-len(indent)-len("+ ")) {
		lines = append(lines, RowLine{kind: r.kind, head: indent + sign + " " + text})
		sign = " "
	}
	indent += "    "
	if r.note != "" {
		for _, text := range wrap(r.note, width-len(indent)) {
			lines = append(lines, RowLine{text: indent, note: text})
		}
	}
	parts, ok := r.parts()
	if !ok {
		return append(lines, valueLines(r.kind, indent, r.from, r.to, width)...)
	}
	lines = append(lines, RowLine{kind: r.kind, text: indent + r.summary(parts)})
	for _, e := range parts {
		head := fmt.Sprintf("%s%s [%d] ", indent, kinds[e.kind].sign, e.index)
		lines = append(lines, valueLines(e.kind, head, e.from, e.to, width)...)
	}
	return lines
}

func (r *Row) indent() string {
	if r.nested() {
		return "  "
	}
	return ""
}

// label returns the key without the segment that its heading shows.
func (r *Row) label() string {
	if r.nested() {
		return strings.TrimPrefix(r.key[len(r.segment):], ".")
	}
	return r.key
}

// folded returns the row in one line of at most width columns, and whether that is all of it.
func (r *Row) folded(width int) (l RowLine, whole bool) {
	if r.Heading {
		head, _ := shorten(r.key, width)
		note, _ := shorten("  "+r.counts.String(), width-lipgloss.Width(head))
		role := Plain
		if r.Section {
			role = Heading
		}
		return RowLine{kind: role, head: head, note: note}, true
	}
	head, cut := shorten(r.indent()+kinds[r.kind].sign+" "+r.label(), max(width*2/3, width-len(`: "…"`)-20))
	if cut {
		return RowLine{kind: r.kind, head: head}, false
	}
	head += ": "
	room := width - lipgloss.Width(head)
	if room < minValueColumns {
		return RowLine{kind: r.kind, head: head}, false
	}
	text, whole := r.value(room)
	return RowLine{kind: r.kind, head: head, text: text}, whole
}

// minNotedColumns is the least width that a note leaves for the key and its values.
const minNotedColumns = 40

// minValueColumns is the least width in which something of a value can be recognized.
const minValueColumns = 4

const arrow = " → "

// value returns a key's values in one line of at most width columns, and whether the line
// shows all of them. Values that are too long are described by their parts.
func (r *Row) value(width int) (text string, whole bool) {
	parts, ok := r.parts()
	if ok && r.file {
		return Shorten(r.summary(parts), width), false // lines of a text are not shown in one
	}
	values := r.from + r.to // one of them is ""
	if r.kind == Changed {
		values = r.from + arrow + r.to
	}
	text, cut := shorten(values, width)
	switch {
	case !cut || r.kind != Changed:
		return text, !cut && !ok
	case ok:
		return Shorten(r.summary(parts), width), false
	}
	return change(r.from, r.to, width), false
}

// change returns both values of a change in width columns, which are too few for all of
// them. What one value leaves of its half is for the other.
func change(from, to string, width int) string {
	from, to = fromDifference(from, to, width/4)
	room := width - lipgloss.Width(arrow)
	shownFrom, fromCut := shorten(from, room/2)
	roomTo := room / 2
	if !fromCut {
		roomTo = room - lipgloss.Width(shownFrom)
	}
	shownTo, toCut := shorten(to, roomTo)
	if !toCut {
		shownFrom, _ = shorten(from, room-lipgloss.Width(shownTo))
	}
	return shownFrom + arrow + shownTo
}

// valueLines wraps values behind head: a single value, or the two of a change.
func valueLines(k Role, head, from, to string, width int) []RowLine {
	if k != Changed {
		return hanging(k, head, from+to, width)
	}
	blank := strings.Repeat(" ", len(head))
	return append(hanging(k, head+"from ", from, width), hanging(k, blank+"to   ", to, width)...)
}

func hanging(k Role, head, text string, width int) []RowLine {
	var lines []RowLine
	for _, part := range wrap(text, max(width-len(head), width/4)) {
		lines = append(lines, RowLine{kind: k, head: head, text: part})
		head = strings.Repeat(" ", len(head))
	}
	return lines
}

// Sentences describes the keys and the sections among rows in words: one sentence each, with values of at
// most width columns. With width 0 the values are whole, and each part in which they differ
// has a line of its own.
func Sentences(rows []Row, width int) []string {
	var all []string
	for i := range rows {
		r := &rows[i]
		if r.Section {
			all = append(all, r.key+": "+r.counts.String()+".")
		}
		if r.Heading {
			continue
		}
		sentences := r.sentences(width)
		if r.note != "" {
			sentences[0] += " (" + r.note + ")"
		}
		all = append(all, sentences...)
	}
	return all
}

func (r *Row) sentences(width int) []string {
	parts, ok := r.parts()
	byParts := ok && (r.kind == Changed || r.file)
	if !byParts {
		from, to := Values(r.from, r.to, cmp.Or(width, math.MaxInt))
		return []string{r.key + " " + happens(r.kind, from, to)}
	}
	all := []string{fmt.Sprintf("%s %s, %s.", r.key, kinds[r.kind].word, r.summary(parts))}
	if width > 0 {
		return all
	}
	part := "element"
	if r.file {
		part = "line"
	}
	for _, e := range parts {
		all = append(all, fmt.Sprintf("   %s %d %s", part, e.index, happens(e.kind, e.from, e.to)))
	}
	return all
}

func happens(k Role, from, to string) string {
	if k == Changed {
		return fmt.Sprintf("changed: %s to %s", from, to)
	}
	return fmt.Sprintf("%s: %s", kinds[k].word, from+to)
}
