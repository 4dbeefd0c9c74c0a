// Package apisource reads a local project's API description, which can consist of several
// files, and makes one document of it.
//
// It reads only files of the workspace, and sends nothing.
package apisource

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"example.com/projecthub/hubclient/wire"
)

// Limits on the files of a description.
const (
	MaxFiles = 2000
	MaxBytes = 16 << 20 // of all files together, and of the document made of them

	maxProblems = 100
	maxRef      = 4 << 10 // characters

	maxValues = 1_000_000 // counting each use of a YAML alias
	maxDepth  = 200       // of nested values
)

// ReadFile returns the content of a file of the workspace, and where its symlinks lead:
// paths relative to the workspace, with /.
type ReadFile func(name string) (data []byte, path string, err error)

// Problem is a reference that leads nowhere, or a file that cannot be read as YAML or JSON.
type Problem struct {
	File   string `json:"file"` // relative to the workspace, with /
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Detail string `json:"detail"`
}

func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Detail)
}

// Source is a description with all that it refers to.
type Source struct {
	Document []byte    // the file itself if it refers to no other
	Files    []string  // the files that were read, the description first
	Problems []Problem // their references are left as they are
}

// Bundle reads the description called name, with the files to which it refers. References
// within the description itself are for a linter.
func Bundle(read ReadFile, name string) (*Source, error) {
	data, path, err := read(name)
	if err != nil {
		return nil, err
	}
	s := &Source{Document: data, Files: []string{path}}
	if !outside.Match(data) {
		return s, nil
	}
	b := &bundler{
		read:    read,
		root:    &file{path: path},
		order:   s.Files,
		bytes:   len(data),
		left:    maxValues,
		taken:   map[string]int{},
		homes:   map[*yaml.Node]string{},
		from:    map[*yaml.Node]*file{},
		open:    map[*yaml.Node]bool{},
		indexes: map[*yaml.Node]map[string]*yaml.Node{},
	}
	b.files = map[string]*file{path: b.root}
	root, problem := parse(path, data)
	if problem != nil {
		s.Problems = []Problem{*problem}
		return s, nil
	}
	b.root.node = b.copyOf(root, b.root)
	if b.bundle(); b.err != nil {
		return nil, b.err
	}
	s.Files, s.Problems = b.order, b.problems
	if b.changed {
		s.Document, err = encode(b.root.node, bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")))
	}
	return s, err
}

// outside matches a description that may refer to other files. It looks at the text: parsing
// a large description takes seconds.
var outside = regexp.MustCompile(`\$ref["']?\s*:\s*["']?[^"'\s#]`)

var errTooLarge = fmt.Errorf("the description is larger than %d MiB with the files to which it refers", MaxBytes>>20)

// encode writes a document as YAML. Parts that were JSON lose its style: a document must
// not have both.
func encode(n *yaml.Node, plain bool) ([]byte, error) {
	if plain {
		unstyle(n)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := e.Encode(n)
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		return nil, err
	}
	if out.Len() > MaxBytes {
		return nil, errTooLarge
	}
	return out.Bytes(), nil
}

func unstyle(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = 0
	}
	for _, child := range n.Content {
		unstyle(child)
	}
}

// Check returns what keeps a text from being an API description, nil if it is one.
func Check(path string, text []byte) *Problem {
	notValid := func(p Problem) *Problem {
		p.Detail = "the API description is not valid: " + p.Detail
		return &p
	}
	var has func(name string) bool
	var members map[string]jsontext.Value
	if json.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &members) == nil && members != nil {
		has = func(name string) bool { return members[name] != nil } // faster than as YAML
	} else {
		root, problem := parse(path, text)
		if problem != nil {
			return notValid(*problem)
		}
		if root.Kind != yaml.MappingNode {
			return notValid(atStart(path, "it is not an object"))
		}
		has = func(name string) bool { return get(root, name) != nil }
	}
	if !has("openapi") && !has("swagger") {
		return notValid(atStart(path, "it has neither openapi nor swagger"))
	}
	return nil
}

func atStart(path, detail string) Problem {
	return Problem{File: path, Line: 1, Column: 1, Detail: detail}
}

// Title returns info.title of an API description, "" for none.
func Title(document []byte) string {
	var found struct {
		Info struct {
			Title string `json:"title" yaml:"title"`
		} `json:"info" yaml:"info"`
	}
	read := yaml.Unmarshal
	if jsontext.Value(document).IsValid() {
		read = func(text []byte, v any) error { return json.Unmarshal(text, v) }
	}
	if read(document, &found) != nil {
		return ""
	}
	return found.Info.Title
}

var byteOrderMark = []byte("\ufeff")

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// parse reads a text that is exactly one YAML document. JSON is YAML too.
func parse(path string, text []byte) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, byteOrderMark)))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		p := atStart(path, "it is empty")
		return nil, &p
	} else if err != nil {
		return nil, yamlProblem(path, err)
	}
	var second yaml.Node
	err := decoder.Decode(&second)
	if errors.Is(err, io.EOF) {
		return document.Content[0], nil
	}
	if err != nil {
		return nil, yamlProblem(path, err)
	}
	return nil, &Problem{
		File:   path,
		Line:   second.Line,
		Column: 1,
		Detail: "more than one document: a file has one",
	}
}

// yamlProblem takes the line out of an error of the YAML decoder.
func yamlProblem(path string, err error) *Problem {
	p := atStart(path, strings.TrimPrefix(err.Error(), "yaml: "))
	if line := yamlLine.FindStringSubmatch(p.Detail); line != nil {
		p.Detail = p.Detail[len(line[0]):]
		_, _ = fmt.Sscan(line[1], &p.Line) // digits
	}
	return &p
}

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
