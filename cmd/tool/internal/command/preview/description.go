package preview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// Limits of a description as JSON, which aliases of YAML can make larger than its text.
const (
	maxDescription = 32 << 20 // bytes
	maxDepth       = 500
)

// toJSON returns an API description, which is JSON or YAML, as JSON.
func toJSON(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if value := jsontext.Value(text); value.IsValid() && value.Kind() == '{' {
		return text, nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	}
	if err == nil {
		if err = decoder.Decode(&second); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("it has more than one document")
		}
	}
	switch {
	case err != nil && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")):
		return nil, jsonError(text)
	case err != nil:
		return nil, fmt.Errorf("malformed YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var out bytes.Buffer
	w := writer{jsontext.NewEncoder(&out)}
	if err := w.node(&document, 0); err != nil {
		return nil, err
	}
	if document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it is not an object")
	}
	return out.Bytes(), nil
}

// jsonError returns why text is not JSON.
func jsonError(text []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.ReadValue(); err != nil {
		line := bytes.Count(text[:min(int64(len(text)), decoder.InputOffset())], []byte("\n")) + 1
		return fmt.Errorf("malformed JSON in line %d or below", line)
	}
	return errors.New("malformed JSON")
}

// writer writes YAML as JSON.
type writer struct {
	encoder *jsontext.Encoder
}

func (w *writer) node(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("line %d: nested too deeply, or an alias of itself", n.Line)
	case w.encoder.OutputOffset() > maxDescription:
		return fmt.Errorf("larger than %d MiB with its aliases replaced", maxDescription>>20)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.node(n.Content[0], depth)
	case yaml.AliasNode:
		return w.node(n.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.SequenceNode:
		if err := w.encoder.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for _, item := range n.Content {
			if err := w.node(item, depth+1); err != nil {
				return err
			}
		}
		return w.encoder.WriteToken(jsontext.EndArray)
	}
	return w.scalar(n)
}

func (w *writer) mapping(n *yaml.Node, depth int) error {
	if err := w.encoder.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	names := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		switch {
		case name.Kind != yaml.ScalarNode:
			return fmt.Errorf("line %d: the name of a member is not a text", name.Line)
		case name.Tag == "!!merge":
			return fmt.Errorf("line %d: merge keys (<<) are not supported", name.Line)
		case names[name.Value]:
			return fmt.Errorf("line %d: %q is given twice", name.Line, name.Value)
		}
		names[name.Value] = true
		if err := w.encoder.WriteToken(jsontext.String(name.Value)); err != nil {
			return fmt.Errorf("line %d: %w", name.Line, err)
		}
		if err := w.node(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	return w.encoder.WriteToken(jsontext.EndObject)
}

func (w *writer) scalar(n *yaml.Node) error {
	var err error
	switch number := jsontext.Value(n.Value); {
	case n.Tag == "!!null":
		err = w.encoder.WriteToken(jsontext.Null)
	case n.Tag == "!!bool":
		err = w.encoder.WriteToken(jsontext.Bool(strings.EqualFold(n.Value, "true")))
	case (n.Tag == "!!int" || n.Tag == "!!float") && number.IsValid() && number.Kind() == '0':
		err = w.encoder.WriteValue(number) // with the text that it was written with
	case n.Tag == "!!int" || n.Tag == "!!float":
		var value float64
		if err := n.Decode(&value); err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("line %d: %q is not a number that JSON has", n.Line, n.Value)
		}
		err = w.encoder.WriteToken(jsontext.Float(value))
	default:
		err = w.encoder.WriteToken(jsontext.String(n.Value))
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}
