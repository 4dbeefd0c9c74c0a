package jsonedit

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Edit returns the text changed so that the object has exactly the members of want:
// each value that is equal keeps its bytes, one that differs is replaced in its place,
// an absent one goes last in its object, one that want lacks is removed with its
// comma and its line. Objects are edited member by member at every depth, arrays as
// a whole. Values are equal when they mean the same and their numbers are spelled alike.
//
// The members of want, no two of one name, may be those of the document, of another
// one, or made by [Object] and [String].
func (d *Document) Edit(want []Member) []byte {
	text, _ := d.EditWithin(math.MaxInt, want)
	return text
}

// EditWithin is Edit for a result of at most limit bytes. If it is larger, it stops early and returns false.
func (d *Document) EditWithin(limit int, want []Member) (text []byte, ok bool) {
	e := editor{text: d.Source, limit: limit, newline: []byte("\n"), unit: []byte("  "), colon: []byte(": ")}
	first, rest, _ := bytes.Cut(d.Source, []byte("\n"))
	if bytes.HasSuffix(first, []byte("\r")) {
		e.newline = []byte("\r\n")
	}
	indent := indentOf(d.Source[lineStart(d.Source[:d.Offset]):d.Offset])
	for line := range bytes.Lines(rest) { // the first that starts with a name or an element
		inner := indentOf(line)
		text := line[len(inner):] // "" at the end of a text without a newline
		if len(text) > 0 && !bytes.ContainsAny(text[:1], "\r\n,]}") {
			e.unit = bytes.TrimPrefix(inner, indent)
			break
		}
	}
	if len(d.Members) > 0 {
		e.colon = e.colonOf(d.Members[0])
	}
	if len(bytes.TrimRight(e.colon, " \t")) < len(e.colon) {
		e.space = []byte(" ")
	}
	// An object without any white space shows no style: it gets lines, as a new file does.
	e.object(d.Value, want, indent, string(d.Text) == "{}")
	e.splice(len(d.Source), len(d.Source))
	if e.full() {
		return nil, false
	}
	return e.out, true
}

// editor replaces parts of a text, from its start to its end, in the style of its author.
type editor struct {
	text  []byte
	done  int // what is before it is in out
	out   []byte
	limit int // of the bytes in out

	newline []byte // "\n" or "\r\n"
	unit    []byte // indentation of one level: spaces and tabs
	colon   []byte // between a name and its value
	space   []byte // after a comma on one line
}

// splice puts texts in the place of the bytes from start to end.
func (e *editor) splice(start, end int, texts ...[]byte) {
	e.out = append(e.out, e.text[e.done:start]...)
	e.done = end
	for _, text := range texts {
		if !e.full() {
			e.out = append(e.out, text...)
		}
	}
}

func (e *editor) full() bool { return len(e.out) > e.limit }

// object gives o the members of want. The line in which o starts has this indentation. If o is
// empty, lines says whether new members get lines of their own.
func (e *editor) object(o Value, want []Member, indent []byte, lines bool) {
	n := len(o.Members)
	if n > 0 {
		lines = hasNewline(o.Text)
	}
	wanted := make(map[string]Value, len(want))
	for _, w := range want {
		wanted[w.Name] = w.Value
	}
	removed := 0 // members right before the present one
	for i, m := range o.Members {
		if e.full() {
			return
		}
		if lead := e.lead(o, i); hasNewline(lead) {
			indent = indentOf(lead[lineStart(lead):])
		}
		w, ok := wanted[m.Name]
		if !ok {
			removed++
			continue
		}
		delete(wanted, m.Name)
		if removed > 0 {
			e.remove(o, i-removed, i)
			removed = 0
		}
		old := m.Value
		switch {
		case bytes.Equal(old.Text, w.Text):
		case old.Text.Kind() == '{' && w.Text.Kind() == '{':
			e.object(old, w.Members, indent, lines)
		case !Equal(old.Text, w.Text):
			e.splice(old.Offset, old.end())
			e.value(w.Text, indent, lines && !filledOnOneLine(old.Text))
		}
	}
	if len(wanted) > 0 {
		isOld := func(m Member) bool {
			_, isNew := wanted[m.Name]
			return !isNew
		}
		e.add(o, removed, slices.DeleteFunc(slices.Clone(want), isOld), indent, lines)
		return
	}
	switch {
	case removed == 0:
	case removed == n:
		e.splice(o.Offset+1, o.end()-1)
	default:
		e.splice(o.Members[n-removed-1].Value.end(), o.Members[n-1].Value.end())
	}
}

// add puts new members at the end of o, in the place of its last members that are removed. They
// are written in the manner of the last one.
func (e *editor) add(o Value, removed int, members []Member, indent []byte, lines bool) {
	start, end := o.Offset+1, o.end()-1 // what o has if it is empty
	before, separator, after := e.text[start:end], slices.Concat([]byte(","), e.space), e.text[start:end]
	colon := e.colon
	switch n := len(o.Members); {
	case n > 0:
		colon = e.colonOf(o.Members[n-1])
		lead, trail := e.lead(o, n-1), []byte(nil)
		if n > 1 {
			trail, _, _ = bytes.Cut(e.between(o, n-1), []byte(","))
		}
		if hasNewline(lead) {
			lead = slices.Concat(e.newline, indent) // without blank lines
		} else if n == 1 {
			lead = e.space
		}
		separator, after = slices.Concat(trail, []byte(","), lead), nil
		end = o.Members[n-1].Value.end()
		if start, before = end, separator; removed > 0 {
			start, before = o.Members[n-removed].Offset, nil
		}
	case lines || hasNewline(after):
		lines = true
		outer := slices.Concat(e.newline, indent)
		if !hasNewline(after) {
			after = outer
		}
		before, indent = slices.Concat(outer, e.unit), slices.Concat(indent, e.unit)
		separator = slices.Concat([]byte(","), before)
	}
	for _, m := range members {
		if e.full() {
			return
		}
		e.splice(start, end, before, quote(m.Name), colon)
		e.value(m.Value.Text, indent, lines)
		start, before = end, separator
	}
	e.splice(end, end, after)
}

// colonOf returns the text between a member's name and its value, if it is on one line.
func (e *editor) colonOf(m Member) []byte {
	if colon := e.text[m.nameEnd:m.Value.Offset]; !hasNewline(colon) {
		return colon
	}
	return e.colon
}

// remove removes the members of o from i to j, and their lines. No other line changes.
func (e *editor) remove(o Value, i, j int) {
	start, end := o.Members[i].Offset, o.Members[j].Offset
	before, after := e.lead(o, i), e.lead(o, j)
	if hasNewline(after) {
		start -= len(before) - lineStart(before)
		end -= len(after)
		if hasNewline(before) {
			end += lineStart(after)
		}
	}
	e.splice(start, end)
}

// between returns the white space and the comma before the member i of o.
func (e *editor) between(o Value, i int) []byte {
	start := o.Offset + 1
	if i > 0 {
		start = o.Members[i-1].Value.end()
	}
	return e.text[start:o.Members[i].Offset]
}

// lead returns the white space before the member i of o, after the comma.
func (e *editor) lead(o Value, i int) []byte {
	space := e.between(o, i)
	return space[bytes.IndexByte(space, ',')+1:]
}

// value writes a new value, in several lines if it has content and they are asked for. The
// line in which it starts has the given indentation.
func (e *editor) value(v jsontext.Value, indent []byte, lines bool) {
	spaced := len(e.space) > 0
	options := []jsontext.Options{
		jsontext.SpaceAfterColon(spaced), jsontext.SpaceAfterComma(spaced && !lines), jsontext.Multiline(lines),
	}
	if lines {
		options = append(options, jsontext.WithIndent(string(e.unit)), jsontext.WithIndentPrefix(string(indent)))
	}
	// Token by token, because a small value of many levels can become large by its indentation.
	from, to := jsontext.NewDecoder(bytes.NewBuffer(v)), jsontext.NewEncoder(e, options...)
	for {
		token, err := from.ReadToken()
		if err != nil || to.WriteToken(token) != nil { // the end, or the limit
			break
		}
	}
}

// Write takes what an encoder writes: after the value a newline, which is left out. A string
// holds no raw newline, so every other is one between lines.
func (e *editor) Write(text []byte) (int, error) {
	e.out = append(e.out, bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), e.newline)...)
	if e.full() {
		return 0, errors.New("the text is too large")
	}
	return len(text), nil
}

// Equal reports whether two values mean the same and spell their numbers alike.
func Equal(a, b jsontext.Value) bool {
	return bytes.Equal(a, b) || a.Kind() == b.Kind() && bytes.Equal(normal(a), normal(b))
}

// normal has one spelling of each string and one order of an object's members.
func normal(v jsontext.Value) []byte {
	v = v.Clone()
	_ = v.Format(jsontext.ReorderRawObjects(true)) // it was parsed
	return v
}

func filledOnOneLine(v jsontext.Value) bool {
	kind := v.Kind()
	return (kind == '{' || kind == '[') && !hasNewline(v) && len(bytes.TrimSpace(v[1:len(v)-1])) > 0
}

func hasNewline(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// lineStart is the offset at which the last line of b starts.
func lineStart(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

func indentOf(line []byte) []byte { return line[:len(line)-len(bytes.TrimLeft(line, " \t"))] }
