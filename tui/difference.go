package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/pat"
)

// item is a key of a difference, or the heading of those below one first segment.
type item struct {
	heading  bool
	nested   bool   // a key below a heading
	kind     kind   // of a key
	key      string // of a heading: the first segment
	from, to string // of a key: the texts of its values, "" where there is none
	counts   counts // of a heading: of the keys below it
	number   int    // of a key among all keys, from 1
	lines    bool   // the key is the path of a file, and its values are texts of lines
}

// items lists a difference by first segment, and within one by key, without tokens:
// a view may show a part of one that is no longer recognized.
func items(d flat.Difference) []item {
	keys := make([]item, 0, len(d.Added)+len(d.Changed)+len(d.Removed))
	for _, e := range d.Added {
		keys = append(keys, item{kind: added, key: pat.Redact(e.Key), to: pat.Redact(e.Text)})
	}
	for _, c := range d.Changed {
		keys = append(keys, item{kind: changed, key: pat.Redact(c.Key), from: pat.Redact(c.From), to: pat.Redact(c.To)})
	}
	for _, e := range d.Removed {
		keys = append(keys, item{kind: removed, key: pat.Redact(e.Key), from: pat.Redact(e.Text)})
	}
	segments := make(map[string]string, len(keys))
	for i := range keys {
		segment := firstSegment(keys[i].key)
		segments[keys[i].key], keys[i].nested = segment, segment != keys[i].key
	}
	slices.SortFunc(keys, func(a, b item) int {
		if c := strings.Compare(segments[a.key], segments[b.key]); c != 0 {
			return c
		}
		return strings.Compare(a.key, b.key)
	})
	all := make([]item, 0, len(keys))
	group := -1 // of the heading
	for i, k := range keys {
		k.number = i + 1
		if !k.nested {
			group = -1
		} else if segment := segments[k.key]; group < 0 || all[group].key != segment {
			group = len(all)
			all = append(all, item{heading: true, key: segment})
		}
		if group >= 0 {
			all[group].counts[k.kind]++
		}
		all = append(all, k)
	}
	return all
}

// countsOf counts the keys of a difference.
func countsOf(d flat.Difference) counts {
	return counts{added: len(d.Added), changed: len(d.Changed), removed: len(d.Removed)}
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

// label is what is shown of the key: what its heading does not say already.
func (it *item) label() string {
	if it.nested {
		return it.key[len(firstSegment(it.key))+1:]
	}
	return it.key
}

// line is one line of an item, without the columns before it.
type line struct {
	kind kind
	head string // painted as its kind
	text string
}

// folded returns the item in one line of at most width columns, and whether that
// is all of it.
func (it *item) folded(width int) (l line, whole bool) {
	if it.heading {
		head, _ := shorten(it.key, width)
		text, _ := shorten("  "+it.counts.String(), width-lipgloss.Width(head))
		return line{head: head, text: text}, true
	}
	indent := ""
	if it.nested {
		indent = "  "
	}
	head, cut := shorten(indent+it.kind.sign()+" "+it.label(), max(width*2/3, width-len(`: "…"`)-20))
	if !cut {
		head += ": "
	}
	room := width - lipgloss.Width(head)
	if cut || room < 4 {
		return line{it.kind, head, ""}, false
	}
	text, whole := it.value(room)
	return line{it.kind, head, text}, whole
}

// value returns what is to be seen of an item's values in width columns, and
// whether that is all of them.
func (it *item) value(width int) (text string, whole bool) {
	if found, ok := it.elements(); ok && it.lines {
		text, _ = shorten(it.elementsText(found), width)
		return text, false
	}
	joint := it.from + it.to
	if it.kind == changed {
		joint = it.from + arrow + it.to
	}
	text, cut := shorten(joint, width)
	if !cut || it.kind != changed {
		return text, !cut
	}
	if found, ok := it.elements(); ok {
		text, _ = shorten(it.elementsText(found), width)
		return text, false
	}
	a, b := fromDifference(it.from, it.to, width/4)
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

// fromDifference cuts off what two values begin with alike, but for a few
// characters, where they would be cut before they differ. room is the bytes of
// each that are seen in any case.
func fromDifference(a, b string, room int) (string, string) {
	const context = 6
	same := sameStart(a, b)
	start := same - context
	if same < room || start <= 0 {
		return a, b
	}
	for start > 0 && !utf8.RuneStart(a[start]) {
		start--
	}
	return ellipsis + a[start:], ellipsis + b[start:]
}

// Values returns the two sides of a change, each as it is shown in one line of at most
// width columns. Where one has to be cut, both start shortly before the first difference.
func Values(from, to string, width int) (string, string) {
	from, to = pat.Redact(from), pat.Redact(to) // a token that is cut is not recognized
	a, fromCut := shorten(from, width)
	b, toCut := shorten(to, width)
	if !fromCut && !toCut {
		return a, b
	}
	from, to = fromDifference(from, to, width/2)
	a, _ = shorten(from, width)
	b, _ = shorten(to, width)
	return a, b
}

// ConflictValues returns the values of a conflict as Values does: base, too, starts shortly
// before it differs from one of the sides.
func ConflictValues(c flat.Conflict, width int) (base, mine, theirs string) {
	mine, theirs = Values(c.Mine, c.Theirs, width)
	if base = Shorten(c.Base, width); !strings.HasSuffix(base, ellipsis) {
		return base, mine, theirs
	}
	first := c.Mine
	if c.Mine == "" || c.Theirs != "" && sameStart(c.Base, c.Theirs) < sameStart(c.Base, c.Mine) {
		first = c.Theirs
	}
	if first != "" {
		base, _ = Values(c.Base, first, width)
	}
	return base, mine, theirs
}

// sameStart returns how many bytes two values begin with alike.
func sameStart(a, b string) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same
}

const arrow = " → "

// elementsText counts the elements by which two arrays differ, or the lines of files.
func (it *item) elementsText(found []element) string {
	var n counts
	for _, e := range found {
		n[e.kind]++
	}
	if it.lines {
		return "lines: " + n.String()
	}
	return "elements: " + n.String()
}

// unfolded returns all of the item in lines of at most width columns.
func (it *item) unfolded(width int) []line {
	found, arrays := it.elements()
	if folded, whole := it.folded(width); whole && !arrays {
		return []line{folded}
	}
	indent := ""
	if it.nested {
		indent = "  "
	}
	var lines []line
	sign := it.kind.sign()
	for _, text := range wrap(it.label(), width-len(indent)-len("+ ")) {
		lines = append(lines, line{it.kind, indent + sign + " " + text, ""})
		sign = " "
	}
	if arrays {
		lines = append(lines, line{it.kind, "", indent + "    " + it.elementsText(found)})
		for _, e := range found {
			lines = append(lines, e.lines(indent, width)...)
		}
		return lines
	}
	if it.kind == changed {
		lines = append(lines, hanging(changed, indent+"    from ", it.from, width)...)
		return append(lines, hanging(changed, indent+"    to   ", it.to, width)...)
	}
	return append(lines, hanging(it.kind, indent+"    ", it.from+it.to, width)...)
}

// lines returns an element in lines of at most width columns.
func (e element) lines(indent string, width int) []line {
	head := fmt.Sprintf("%s    %s [%d] ", indent, e.kind.sign(), e.index)
	if e.kind != changed {
		return hanging(e.kind, head, e.from+e.to, width)
	}
	lines := hanging(changed, head+"from ", e.from, width)
	return append(lines, hanging(changed, strings.Repeat(" ", len(head))+"to   ", e.to, width)...)
}

// hanging wraps text behind head.
func hanging(k kind, head, text string, width int) []line {
	var lines []line
	for _, part := range wrap(text, max(width-len(head), width/4)) {
		lines = append(lines, line{k, head, part})
		head = strings.Repeat(" ", len(head))
	}
	return lines
}
