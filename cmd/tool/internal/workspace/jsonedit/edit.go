package jsonedit

import (
	"bytes"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Edit returns the text changed so that the object has exactly the members of want:
// each value that is equal keeps its bytes, one that differs is replaced where it
// stands, an absent one goes last in its object, one that want lacks is cut with its
// comma and its line. Objects are edited member by member at every depth, arrays as
// a whole. Values are equal when they mean the same and their numbers are spelled alike.
//
// The members of want, no two of one name, may be those of the document, of another
// one, or made by [Object] and [String]. When nothing changes, the text itself is returned.
func (d *Document) Edit(want []Member) []byte {
	text, _ := d.EditWithin(math.MaxInt, want)
	return text
}

// EditWithin is Edit if it takes at most limit bytes of new text, indentation included, and
// reports whether it does. Otherwise it stops before it writes more.
func (d *Document) EditWithin(limit int, want []Member) (text []byte, ok bool) {
	e := editor{text: d.text, style: styleOf(d)}
	e.style.room = &limit
	// An object without any white space shows no style: it gets lines, as a new file does.
	e.object(d.root, want, string(d.root.Text) == "{}")
	if limit < 0 {
		return nil, false
	}
	return e.apply(), true
}

type editor struct {
	text    []byte
	style   style
	splices []splice // in the order of the text

	lineStart, lineEnd int // of the line that indentAt was last asked about
}

// splice puts text in the place of the bytes from start to end.
type splice struct {
	start, end int
	text       []byte
}

func (e *editor) splice(start, end int, text ...[]byte) {
	e.splices = append(e.splices, splice{start, end, slices.Concat(text...)})
}

func (e *editor) apply() []byte {
	if len(e.splices) == 0 {
		return e.text
	}
	var b bytes.Buffer
	from := 0
	for _, s := range e.splices {
		b.Write(e.text[from:s.start])
		b.Write(s.text)
		from = s.end
	}
	b.Write(e.text[from:])
	return b.Bytes()
}

// object edits o. If o is empty, lines says whether new members get lines of their own.
func (e *editor) object(o Value, want []Member, lines bool) {
	if len(o.Members) == 0 {
		e.fill(o, want, lines)
		return
	}
	lines = hasNewline(o.Text)
	wanted := make(map[string]Value, len(want))
	for _, w := range want {
		wanted[w.Name] = w.Value
	}
	cut := 0 // members right before the present one that go
	for i, m := range o.Members {
		if *e.style.room < 0 {
			return
		}
		w, ok := wanted[m.Name]
		if !ok {
			cut++
			continue
		}
		delete(wanted, m.Name)
		if cut > 0 {
			e.cut(o, i-cut, i)
			cut = 0
		}
		e.value(m, w, lines)
	}
	added := slices.DeleteFunc(slices.Clone(want), func(w Member) bool {
		_, isNew := wanted[w.Name]
		return !isNew
	})
	e.tail(o, len(o.Members)-cut, added, lines)
}

// value edits the value of a member whose object has lines or has not.
func (e *editor) value(m Member, want Value, lines bool) {
	old := m.Value
	if bytes.Equal(old.Text, want.Text) {
		return
	}
	if old.Text.Kind() == '{' && want.Text.Kind() == '{' {
		e.object(old, want.Members, lines)
		return
	}
	if !Equal(old.Text, want.Text) {
		lines = lines && !filledOnOneLine(old.Text)
		e.splice(old.Offset, old.end(), e.style.format(want.Text, e.indentAt(m.Offset), lines))
	}
}

// cut takes out o's members from i to before j, which stays, in such a way that no
// other line changes.
func (e *editor) cut(o Value, i, j int) {
	first, next := o.Members[i].Offset, o.Members[j].Offset
	from, to := e.leadStart(o, i), e.leadStart(o, j)
	before, after := e.text[from:first], e.text[to:next]
	switch {
	case hasNewline(before) && hasNewline(after):
		e.splice(from+lineStart(before), to+lineStart(after))
	case hasNewline(after):
		e.splice(from, to)
	default:
		e.splice(first, next)
	}
}

// tail takes out o's members from n on and puts added after the rest.
func (e *editor) tail(o Value, n int, added []Member, lines bool) {
	end := o.Members[len(o.Members)-1].Value.end()
	switch {
	case n == len(o.Members) && len(added) == 0:
	case n == len(o.Members):
		e.splice(end, end, e.separator(o), e.members(o, added, lines))
	case len(added) > 0:
		e.splice(o.Members[n].Offset, end, e.members(o, added, lines))
	case n > 0:
		e.splice(o.Members[n-1].Value.end(), end)
	default:
		e.splice(o.Offset+1, o.end()-1)
	}
}

// members writes new members in the manner of o's last one.
func (e *editor) members(o Value, added []Member, lines bool) []byte {
	last := o.Members[len(o.Members)-1]
	s := e.style
	if colon := e.text[last.nameEnd:last.Value.Offset]; !hasNewline(colon) {
		s.colon = string(colon)
	}
	return s.join(added, e.separator(o), e.indentAt(last.Offset), lines)
}

// separator is the text between two members of o: between the last two if
// there are two, without blank lines.
func (e *editor) separator(o Value) []byte {
	last := len(o.Members) - 1
	comma := e.leadStart(o, last) // its end
	lead := e.text[comma:o.Members[last].Offset]
	switch {
	case last > 0:
		return slices.Concat(e.text[o.Members[last-1].Value.end():comma], lastLine(lead))
	case hasNewline(lead):
		return slices.Concat([]byte(","), lastLine(lead))
	default:
		return e.style.comma()
	}
}

// fill puts members into o, which has none. White space in it stays if it can.
func (e *editor) fill(o Value, members []Member, lines bool) {
	if len(members) == 0 {
		return
	}
	open, closing := o.Offset+1, o.end()-1
	inner := e.text[open:closing]
	if !lines && !hasNewline(inner) {
		e.splice(closing, closing, e.style.join(members, e.style.comma(), "", false), inner)
		return
	}
	outer := e.indentAt(o.Offset)
	indent := outer + e.style.unit
	newline := []byte(e.style.newline + indent)
	text := e.style.join(members, slices.Concat([]byte(","), newline), indent, true)
	if hasNewline(inner) {
		e.splice(open, open, newline, text)
	} else {
		e.splice(open, closing, newline, text, []byte(e.style.newline+outer))
	}
}

// leadStart is the offset after the brace or comma before o's member i.
func (e *editor) leadStart(o Value, i int) int {
	if i == 0 {
		return o.Offset + 1
	}
	end := o.Members[i-1].Value.end()
	return end + bytes.IndexByte(e.text[end:], ',') + 1
}

// indentAt is the indentation of the line of a byte. It finds where a line starts once,
// because a file may be one line.
func (e *editor) indentAt(offset int) string {
	if offset < e.lineStart || offset > e.lineEnd {
		e.lineStart = lineStart(e.text[:offset])
		line, _, _ := bytes.Cut(e.text[e.lineStart:], []byte("\n"))
		e.lineEnd = e.lineStart + len(line)
	}
	indent := indentOf(e.text[e.lineStart:offset])
	*e.style.room -= len(indent)
	return indent
}

// Equal reports whether two values mean the same and spell their numbers alike.
func Equal(a, b jsontext.Value) bool {
	return a.Kind() == b.Kind() && bytes.Equal(normal(a), normal(b))
}

// normal has one spelling of each string and one order of an object's members.
func normal(v jsontext.Value) []byte {
	v = v.Clone()
	must(v.Format(jsontext.ReorderRawObjects(true)))
	return v
}

func filledOnOneLine(v jsontext.Value) bool {
	if kind := v.Kind(); kind != '{' && kind != '[' {
		return false
	}
	return !hasNewline(v) && len(bytes.TrimSpace(v[1:len(v)-1])) > 0
}
