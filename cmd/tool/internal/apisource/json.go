package apisource

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"example.com/projecthub/hubclient/wire"
)

// JSON returns a description, which is JSON or YAML, as JSON. Numbers keep their text.
func JSON(document []byte) ([]byte, error) {
	document = bytes.TrimPrefix(document, byteOrderMark)
	if value := jsontext.Value(document); value.IsValid() && value.Kind() == '{' {
		return document, nil
	}
	root, problem := parse("", document)
	if problem != nil {
		syntax, notJSON := errors.AsType[*wire.SyntaxError](wire.CheckSyntax(document))
		if notJSON && bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")) {
			line := 1 + bytes.Count(document[:syntax.Offset], []byte("\n"))
			return nil, fmt.Errorf("malformed JSON in line %d: %w", line, syntax.Err)
		}
		return nil, fmt.Errorf("malformed YAML: line %d: %s", problem.Line, problem.Detail)
	}
	root, err := (&bundler{left: maxValues}).copy(root, 0) // which bounds what aliases make of it
	if err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("it is not an object")
	}
	var out bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&out), root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeJSON writes a value without aliases.
func writeJSON(out *jsontext.Encoder, n *yaml.Node) error {
	if out.OutputOffset() > 2*MaxBytes {
		return fmt.Errorf("larger than %d MiB with its aliases replaced", 2*MaxBytes>>20)
	}
	begin, end := jsontext.BeginObject, jsontext.EndObject
	switch n.Kind {
	case yaml.ScalarNode:
		if err := writeScalar(out, n); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		return nil
	case yaml.SequenceNode:
		begin, end = jsontext.BeginArray, jsontext.EndArray
	}
	if err := out.WriteToken(begin); err != nil {
		return err
	}
	for i, child := range n.Content {
		var err error
		switch isName := n.Kind == yaml.MappingNode && i%2 == 0; {
		case isName && child.Kind != yaml.ScalarNode:
			err = fmt.Errorf("line %d: the name of a member is not a text", child.Line)
		case isName && child.Tag == "!!merge":
			err = fmt.Errorf("line %d: merge keys (<<) are not supported", child.Line)
		case isName:
			if err = out.WriteToken(jsontext.String(child.Value)); errors.Is(err, jsontext.ErrDuplicateName) {
				err = fmt.Errorf("line %d: %q is given twice", child.Line, child.Value)
			}
		default:
			err = writeJSON(out, child)
		}
		if err != nil {
			return err
		}
	}
	return out.WriteToken(end)
}

func writeScalar(out *jsontext.Encoder, n *yaml.Node) error {
	switch number := jsontext.Value(n.Value); {
	case n.Tag == "!!null":
		return out.WriteToken(jsontext.Null)
	case n.Tag == "!!bool":
		return out.WriteToken(jsontext.Bool(strings.EqualFold(n.Value, "true")))
	case n.Tag != "!!int" && n.Tag != "!!float":
		return out.WriteToken(jsontext.String(n.Value))
	case number.IsValid() && number.Kind() == '0':
		return out.WriteValue(number)
	}
	var value float64
	if err := n.Decode(&value); err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%q is not a number that JSON has", n.Value)
	}
	return out.WriteToken(jsontext.Float(value))
}
