package jsonedit

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
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

// EditWithin is Edit if the text has at most limit bytes then, and reports whether it has.
// Otherwise it stops soon after it wrote as many.
func (d *Document) EditWithin(limit int, want []Member) (text []byte, ok bool) {
	e := editor{text: d.text, limit: limit, newline: []byte("\n"), unit: []byte("  "), colon: []byte(": ")}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		e.newline = []byte("\r\n")
	}
	if unit, ok := unitOf(d.text, d.root); ok {
		e.unit = unit
	}
	if len(d.root.Members) > 0 {
		e.colon = e.colonOf(d.root.Members[0])
	}
	if len(bytes.TrimRight(e.colon, " \t")) < len(e.colon) {
		e.space = []byte(" ")
	}
	e.write(d.text[:d.root.Offset])
	// An object without any white space shows no style: it gets lines, as a new file does.
	e.object(d.root, want, string(d.root.Text) == "{}")
	e.write(d.text[d.root.end():])
	if e.full() {
		return nil, false
	}
	return e.out, true
}

// editor writes a text anew, in the style of its author.
type editor struct {
	text []byte // as it was
	out  []byte // as it becomes

	limit     int // of the bytes in out
	lineStart int // where the last line of out starts

	newline []byte // "\n" or "\r\n"
	unit    []byte // indentation of one level: spaces and tabs
	colon   []byte // between a name and its value
	space   []byte // after a comma on one line
}

// part is a member as it is written: lead, name with its colon, value, trail, and a comma
// unless it is the last one.
type part struct {
	lead, name, trail []byte
	old, new          Value // old is zero for a new member
}

// object writes o with the members of want. If o is empty, lines says whether new members
// get lines of their own.
func (e *editor) object(o Value, want []Member, lines bool) {
	if len(o.Members) == 0 && len(want) == 0 {
		e.write(o.Text)
		return
	}
	wanted := make(map[string]Value, len(want))
	for _, w := range want {
		wanted[w.Name] = w.Value
	}
	parts := make([]part, 0, len(want))
	removed := 0 // members right before the present one
	for i, m := range o.Members {
		w, ok := wanted[m.Name]
		if !ok {
			removed++
			continue
		}
		delete(wanted, m.Name)
		lead := m.tree.Name.BeforeExtra
		if removed > 0 {
			lead, removed = joinLeads(o.Members[i-removed].tree.Name.BeforeExtra, lead), 0
		}
		parts = append(parts, part{lead, e.text[m.Offset:m.Value.Offset], m.tree.Value.AfterExtra, m.Value, w})
	}
	kept := len(parts)
	like, closing, lines := e.layout(o, lines)
	for _, w := range want {
		if _, isNew := wanted[w.Name]; isNew {
			name := slices.Concat(quote(w.Name), like.name)
			parts = append(parts, part{lead: like.lead, name: name, trail: like.trail, new: w.Value})
		}
	}
	switch {
	case len(parts) == kept:
	case removed > 0:
		parts[kept].lead = o.Members[len(o.Members)-removed].tree.Name.BeforeExtra
	case kept > 0:
		parts[kept-1].trail = like.trail
	case !lines: // in an object that was empty
		parts[0].lead = closing
	}
	e.parts(parts, closing, lines)
}

// parts writes an object. lines says whether it has several.
func (e *editor) parts(parts []part, closing []byte, lines bool) {
	e.write([]byte("{"))
	for i, p := range parts {
		if e.full() {
			return
		}
		if i > 0 {
			e.write(parts[i-1].trail, []byte(","))
		}
		e.write(p.lead)
		indent := e.indent()
		e.write(p.name)
		switch {
		case p.old.Text == nil:
			e.value(p.new.Text, indent, lines)
		case bytes.Equal(p.old.Text, p.new.Text):
			e.write(p.old.Text)
		case p.old.Text.Kind() == '{' && p.new.Text.Kind() == '{':
			e.object(p.old, p.new.Members, lines)
		case Equal(p.old.Text, p.new.Text):
			e.write(p.old.Text)
		default:
			e.value(p.new.Text, indent, lines && !filledOnOneLine(p.old.Text))
		}
	}
	if len(parts) > 0 {
		e.write(closing)
	}
	e.write([]byte("}"))
}

// layout returns how new members of o are written: in the manner of the last one, without
// blank lines, if o has any. closing is the white space before the closing brace.
func (e *editor) layout(o Value, lines bool) (like part, closing []byte, inLines bool) {
	closing = o.tree.Value.(*hujson.Object).AfterExtra
	n := len(o.Members)
	if n == 0 {
		if !lines && !hasNewline(closing) {
			return part{lead: e.space, name: e.colon}, closing, false
		}
		outer := slices.Concat(e.newline, e.indent())
		if !hasNewline(closing) {
			closing = outer
		}
		return part{lead: slices.Concat(outer, e.unit), name: e.colon}, closing, true
	}
	last := o.Members[n-1]
	like = part{lead: last.tree.Name.BeforeExtra, name: e.colonOf(last)}
	if n > 1 {
		like.trail = o.Members[n-2].tree.Value.AfterExtra
	} else if !hasNewline(like.lead) {
		like.lead = e.space
	}
	like.lead = lastLine(like.lead)
	return like, closing, hasNewline(o.Text)
}

// joinLeads returns the white space before a member, of which the members before it were
// removed, in such a way that no other line changes. before was that of the first of them.
func joinLeads(before, after []byte) []byte {
	switch {
	case !hasNewline(after):
		return before
	case !hasNewline(before):
		return after
	}
	return slices.Concat(before[:lineStart(before)], after[lineStart(after):])
}

// value writes a new value, in several lines if it has content and they are asked for. The
// line in which it starts has the given indentation.
func (e *editor) value(v jsontext.Value, indent []byte, lines bool) {
	spaced := len(e.space) > 0
	options := []jsontext.Options{
		jsontext.SpaceAfterColon(spaced),
		jsontext.SpaceAfterComma(spaced && !lines),
		jsontext.Multiline(lines),
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
	e.write(bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), e.newline))
	if e.full() {
		return 0, errors.New("the text is too large")
	}
	return len(text), nil
}

func (e *editor) write(texts ...[]byte) {
	for _, text := range texts {
		if e.full() {
			return
		}
		if hasNewline(text) {
			e.lineStart = len(e.out) + lineStart(text)
		}
		e.out = append(e.out, text...)
	}
}

func (e *editor) full() bool { return len(e.out) > e.limit }

// indent is the indentation of the line that is written.
func (e *editor) indent() []byte { return indentOf(e.out[e.lineStart:]) }

// colonOf returns the text between a member's name and its value, if it is on one line.
func (e *editor) colonOf(m Member) []byte {
	if colon := e.text[m.tree.Name.EndOffset:m.Value.Offset]; !hasNewline(colon) {
		return colon
	}
	return e.colon
}

// unitOf finds the first object whose members have lines of their own, and by how
// much they are indented.
func unitOf(text []byte, o Value) ([]byte, bool) {
	if len(o.Members) == 0 {
		return nil, false
	}
	if first := o.Members[0].Offset; hasNewline(text[o.Offset:first]) {
		return bytes.CutPrefix(indentAt(text, first), indentAt(text, o.Offset))
	}
	for _, m := range o.Members {
		if unit, ok := unitOf(text, m.Value); ok {
			return unit, true
		}
	}
	return nil, false
}

// Equal reports whether two values mean the same and spell their numbers alike.
func Equal(a, b jsontext.Value) bool {
	return a.Kind() == b.Kind() && bytes.Equal(normal(a), normal(b))
}

// normal has one spelling of each string and one order of an object's members.
func normal(v jsontext.Value) []byte {
	v = v.Clone()
	_ = v.Format(jsontext.ReorderRawObjects(true)) // it was parsed
	return v
}

func filledOnOneLine(v jsontext.Value) bool {
	if kind := v.Kind(); kind != '{' && kind != '[' {
		return false
	}
	return !hasNewline(v) && len(bytes.TrimSpace(v[1:len(v)-1])) > 0
}

func hasNewline(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// lastLine drops all lines but the last, of which it keeps the newline before it.
func lastLine(space []byte) []byte {
	i := bytes.LastIndexByte(space, '\n')
	if i > 0 && space[i-1] == '\r' {
		i--
	}
	return space[max(i, 0):]
}

// lineStart is the offset at which the last line of b starts.
func lineStart(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// indentAt is the indentation of the line of a byte.
func indentAt(text []byte, offset int) []byte { return indentOf(text[lineStart(text[:offset]):offset]) }

func indentOf(line []byte) []byte { return line[:len(line)-len(bytes.TrimLeft(line, " \t"))] }
