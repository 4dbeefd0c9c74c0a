package description

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/hubclient/wire"
)

func readJSON(data []byte, grows func(int) error) (*node, error) {
	if err := wire.CheckSyntax(data); err != nil {
		return nil, badJSON(data, err)
	}
	r := jsonReader{
		// CheckSyntax has found no duplicate member.
		decoder: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true)),
		place:   cursor{data: data, line: 1, column: 1},
		budget:  newBudget(grows),
	}
	return r.value(1)
}

func badJSON(data []byte, err error) error {
	var syntax *wire.SyntaxError
	if !errors.As(err, &syntax) {
		return invalid("%v", err)
	}
	place := cursor{data: data, line: 1, column: 1}
	place.advance(int(syntax.Offset))
	return invalid("%s", at(place.line, place.column, syntax.Error()))
}

type jsonReader struct {
	decoder *jsontext.Decoder
	place   cursor
	budget  budget
}

// value reads one value in depth arrays and objects, itself included when it is one.
func (r *jsonReader) value(depth int) (*node, error) {
	n := r.begin()
	token, err := r.decoder.ReadToken()
	if err != nil {
		return nil, badJSON(r.place.data, err)
	}
	switch token.Kind() {
	case '{':
		n.kind = object
	case '[':
		n.kind = array
	case '"':
		n.kind, n.text = text, token.String()
	case '0':
		n.kind, n.text = number, token.String()
	case 't', 'f':
		n.kind, n.text = boolean, token.String()
	}
	if err := r.budget.spend(n, depth); err != nil {
		return nil, err
	}
	if n.kind == array || n.kind == object {
		err = r.children(n, depth)
	}
	return n, err
}

// begin returns a node at the position of the next token.
func (r *jsonReader) begin() *node {
	i := int(r.decoder.InputOffset())
	for i < len(r.place.data) && strings.IndexByte(" \t\r\n,:", r.place.data[i]) >= 0 {
		i++
	}
	r.place.advance(i)
	return &node{line: r.place.line, column: r.place.column}
}

func (r *jsonReader) children(n *node, depth int) error {
	for r.decoder.PeekKind() != ']' && r.decoder.PeekKind() != '}' {
		name := ""
		if n.kind == object {
			token, err := r.decoder.ReadToken()
			if err != nil {
				return badJSON(r.place.data, err)
			}
			name = token.String()
		}
		child, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		child.name, child.parent = name, n
		n.children = append(n.children, child)
	}
	_, err := r.decoder.ReadToken()
	return err
}
