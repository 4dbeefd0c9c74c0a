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

// JSON returns a description, which is JSON or YAML, as JSON. Numbers written as in JSON keep their text.
func JSON(document []byte) ([]byte, error) {
	document = bytes.TrimPrefix(document, byteOrderMark)
	if value := jsontext.Value(document); value.IsValid() && value.Kind() == '{' {
		return document, nil
	}
	root, problem := parse("", document)
	if problem != nil {
		return nil, malformed(document, problem)
	}
	// The copy has a limit on the values that aliases can expand to.
	root, err := (&bundler{left: maxValues}).copy(root, 0)
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

// malformed returns the error of a document that is not YAML. One that starts like JSON is
// probably meant as JSON, so the error is about that.
func malformed(document []byte, problem *Problem) error {
	if bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")) {
		if syntax, ok := errors.AsType[*wire.SyntaxError](wire.CheckSyntax(document)); ok {
			line := 1 + bytes.Count(document[:syntax.Offset], []byte("\n"))
			return fmt.Errorf("malformed JSON in line %d: %w", line, syntax.Err)
		}
	}
	return fmt.Errorf("malformed YAML: line %d: %s", problem.Line, problem.Detail)
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
		write := writeJSON
		if isName := n.Kind == yaml.MappingNode && i%2 == 0; isName {
			write = writeName
		}
		if err := write(out, child); err != nil {
			return err
		}
	}
	return out.WriteToken(end)
}

func writeName(out *jsontext.Encoder, n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: the name of a member must be a string", n.Line)
	}
	if n.Tag == "!!merge" {
		return fmt.Errorf("line %d: merge keys (<<) are not supported", n.Line)
	}
	err := out.WriteToken(jsontext.String(n.Value))
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("line %d: %q is given twice", n.Line, n.Value)
	}
	return err
}

func writeScalar(out *jsontext.Encoder, n *yaml.Node) error {
	switch n.Tag {
	case "!!null":
		return out.WriteToken(jsontext.Null)
	case "!!bool":
		return out.WriteToken(jsontext.Bool(strings.EqualFold(n.Value, "true")))
	case "!!int", "!!float":
		return writeNumber(out, n)
	}
	return out.WriteToken(jsontext.String(n.Value))
}

func writeNumber(out *jsontext.Encoder, n *yaml.Node) error {
	if number := jsontext.Value(n.Value); number.IsValid() && number.Kind() == '0' {
		return out.WriteValue(number)
	}
	var value float64
	if err := n.Decode(&value); err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%q cannot be written as a number in JSON", n.Value)
	}
	return out.WriteToken(jsontext.Float(value))
}
