package flat

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Counts says how many keys a change adds, changes and removes.
type Counts struct{ Added, Changed, Removed int }

// Count returns the numbers of keys in which two configs differ, given in canonical form.
// The error is that of [Compare].
func Count(from, to []byte) (c Counts, err error) {
	err = Compare(from, to, func(_, before, after []byte) {
		switch {
		case before == nil:
			c.Added++
		case after == nil:
			c.Removed++
		default:
			c.Changed++
		}
	})
	return c, err
}

// Compare calls each with the keys in which two configs differ, given in canonical form,
// in key order, with the texts of their values: nil for a config without the key. They
// are parts of the configs, but for the key, which is valid during the call. Compare
// reads the texts once and builds no config. The error says that a text is not a
// canonical form; not every such text is noticed.
func Compare(from, to []byte, each func(key, before, after []byte)) error {
	before, err := scanMembers(from)
	if err != nil {
		return err
	}
	after, err := scanMembers(to)
	if err != nil {
		return err
	}
	for before.more || after.more {
		order := 0
		switch {
		case !after.more:
			order = -1
		case !before.more:
			order = 1
		default:
			order = bytes.Compare(before.key, after.key)
		}
		switch {
		case order < 0:
			each(before.key, before.value, nil)
		case order > 0:
			each(after.key, nil, after.value)
		case !bytes.Equal(before.value, after.value):
			each(after.key, before.value, after.value)
		}
		switch {
		case order < 0:
			err = before.next()
		case order > 0:
			err = after.next()
		default:
			err = before.nextOfBoth(after)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// members reads the members of an object in canonical form, one by one.
type members struct {
	rest       []byte // from the comma or the brace after the present member
	more       bool   // there is a present member
	key, value []byte // the key without its escapes, the value as it is written
	buffer     []byte // for keys with escapes
}

var errNotCanonical = errors.New("the config is not in canonical form")

func scanMembers(text []byte) (*members, error) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, errNotCanonical
	}
	m := &members{rest: text}
	if string(text) == "{}" {
		return m, nil
	}
	return m, m.next()
}

// next reads the next member.
func (m *members) next() error {
	m.more = false
	if len(m.rest) == 1 && m.rest[0] == '}' {
		return nil
	}
	if len(m.rest) < 2 {
		return errNotCanonical
	}
	text := m.rest[1:] // without the brace or comma before the member
	end := stringEnd(text)
	if end < 0 || end >= len(text) || text[end] != ':' {
		return errNotCanonical
	}
	if m.key = text[1 : end-1]; bytes.IndexByte(m.key, '\\') >= 0 {
		var err error
		if m.buffer, err = jsontext.AppendUnquote(m.buffer[:0], text[:end]); err != nil {
			return errNotCanonical
		}
		m.key = m.buffer
	}
	text = text[end+1:]
	if end = valueEnd(text); end <= 0 {
		return errNotCanonical
	}
	m.value, m.rest, m.more = text[:end], text[end:], true
	return nil
}

// nextOfBoth is next of m and of other, whose next member mostly has the same text.
func (m *members) nextOfBoth(other *members) error {
	start := m.rest
	if err := m.next(); err != nil {
		return err
	}
	n, rest := len(start)-len(m.rest), other.rest
	if m.more && len(rest) > n && (rest[n] == ',' || rest[n] == '}') && bytes.Equal(start[:n], rest[:n]) {
		other.key, other.value, other.rest = m.key, m.value, rest[n:]
		return nil
	}
	return other.next()
}

// stringEnd returns the length of the string with which text begins, -1 for none.
func stringEnd(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return -1
	}
	for i := 1; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		slash := bytes.IndexByte(text[i:i+n], '\\')
		if slash < 0 {
			return i + n + 1
		}
		i += slash + 1 // what is escaped is skipped by the loop
	}
	return -1
}

// valueEnd returns the length of the value with which text begins: up to the comma or
// the brace that ends its member. It is -1 if there is none.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			n := stringEnd(text[i:])
			if n < 0 {
				return -1
			}
			i += n
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}
