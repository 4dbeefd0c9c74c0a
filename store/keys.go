package store

import (
	"bytes"
	"cmp"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// CompareConfigs calls each, in key order, for the keys that differ between two configs in canonical form. A value
// is nil if the key is absent, and valid only during the call. It reads the configs once, and keeps nothing of
// them.
func CompareConfigs(from, to []byte, each func(key string, before, after []byte)) error {
	before, after := readMembers(from), readMembers(to)
	for before.more || after.more {
		order := strings.Compare(before.key, after.key)
		switch {
		case !after.more || before.more && order < 0:
			each(before.key, before.value, nil)
			before.next()
		case !before.more || order > 0:
			each(after.key, nil, after.value)
			after.next()
		default:
			if !bytes.Equal(before.value, after.value) {
				each(after.key, before.value, after.value)
			}
			before.next()
			after.next()
		}
	}
	return cmp.Or(before.err, after.err)
}

// members reads the members of an object one by one.
type members struct {
	dec   *jsontext.Decoder
	more  bool // there is a present member
	key   string
	value []byte
	err   error
}

var errNoConfig = errors.New("the config is not in canonical form")

func readMembers(object []byte) *members {
	m := &members{dec: jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true))}
	if m.dec.PeekKind() != '{' {
		m.err = errNoConfig
		return m
	}
	_, m.err = m.dec.ReadToken()
	m.next()
	return m
}

func (m *members) next() {
	name, err := m.dec.ReadToken()
	if m.more = err == nil && name.Kind() == '"'; m.more {
		m.key = name.String()
		m.value, err = m.dec.ReadValue()
		m.more = err == nil
	}
	if err != nil {
		m.err = errNoConfig
	}
}
