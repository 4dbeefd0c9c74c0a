package jsonedit

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// style is how the author of a text writes JSON.
type style struct {
	newline string // "\n" or "\r\n"
	unit    string // indentation of one level: spaces and tabs
	colon   string // between a name and its value
	room    *int   // bytes that may still be written; below 0 once something was left out
}

func styleOf(d *Document) style {
	s := style{newline: "\n", unit: "  ", colon: ": "}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if unit, ok := unitOf(d.text, d.root); ok {
		s.unit = unit
	}
	if len(d.root.Members) > 0 {
		m := d.root.Members[0]
		if colon := d.text[m.nameEnd:m.Value.Offset]; !hasNewline(colon) {
			s.colon = string(colon)
		}
	}
	return s
}

// unitOf finds the first object whose members have lines of their own, and by how
// much they are indented.
func unitOf(text []byte, o Value) (string, bool) {
	if len(o.Members) == 0 {
		return "", false
	}
	if first := o.Members[0].Offset; hasNewline(text[o.Offset:first]) {
		return strings.CutPrefix(indentAt(text, first), indentAt(text, o.Offset))
	}
	for _, m := range o.Members {
		if unit, ok := unitOf(text, m.Value); ok {
			return unit, true
		}
	}
	return "", false
}

// comma separates members on one line.
func (s style) comma() []byte {
	if s.spaced() {
		return []byte(", ")
	}
	return []byte(",")
}

func (s style) spaced() bool { return len(strings.TrimRight(s.colon, " \t")) < len(s.colon) }

// join writes members in lines of the given indentation.
func (s style) join(members []Member, separator []byte, indent string, lines bool) []byte {
	var b bytes.Buffer
	for i, m := range members {
		if *s.room -= len(separator) + len(m.Name) + len(s.colon); *s.room < 0 {
			return nil
		}
		if i > 0 {
			b.Write(separator)
		}
		b.Write(quote(m.Name))
		b.WriteString(s.colon)
		b.Write(s.format(m.Value.Text, indent, lines))
	}
	return b.Bytes()
}

// format writes a value, in several lines if it has content and they are asked for;
// the line in which it starts has the given indentation.
func (s style) format(v jsontext.Value, indent string, lines bool) []byte {
	if *s.room -= s.size(v, indent, lines); *s.room < 0 {
		return nil
	}
	v = v.Clone()
	options := []jsontext.Options{
		jsontext.SpaceAfterColon(s.spaced()),
		jsontext.SpaceAfterComma(s.spaced() && !lines),
		jsontext.Multiline(lines),
	}
	if lines {
		options = append(options, jsontext.WithIndent(s.unit), jsontext.WithIndentPrefix(indent))
	}
	must(v.Format(options...))
	// A string holds no raw newline, so every newline is one between lines.
	return bytes.ReplaceAll(v, []byte("\n"), []byte(s.newline))
}

// size is the length of what format returns, or a bit more: a small value of many levels
// can become large by its indentation.
func (s style) size(v jsontext.Value, indent string, lines bool) int {
	size, level := len(v), 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			for i++; v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
			}
			continue
		case '{', '[':
			level++
		case '}', ']':
			level--
		case ':', ',':
		default:
			continue
		}
		if size++; lines && v[i] != ':' {
			size += len(s.newline) + len(indent) + level*len(s.unit)
		}
	}
	return size
}

// must panics on an error that a parsed value cannot have.
func must(err error) {
	if err != nil {
		panic(err)
	}
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
func indentAt(text []byte, offset int) string { return indentOf(text[lineStart(text[:offset]):offset]) }

func indentOf(line []byte) string { return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]) }
