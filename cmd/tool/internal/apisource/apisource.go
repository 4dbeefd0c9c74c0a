// Package apisource reads a local project's API description, which can consist of several
// files, and makes one document of it.
//
// It reads only files of the workspace, and sends nothing.
package apisource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"gopkg.in/yaml.v3"

	"example.com/projecthub/hubclient/description"
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

// Check returns what keeps a text from being an API description, as the hub says it; nil if it is one.
func Check(path string, text []byte) *Problem {
	_, err := description.Parse(context.Background(), text, nil)
	if invalid, ok := errors.AsType[*description.Invalid](err); ok {
		p := problemOf(path, invalid)
		p.Detail = "the API description is not valid: " + p.Detail
		return p
	}
	return nil
}

// problemOf places what is wrong in a file; at its start if it is not known where.
func problemOf(path string, e *description.Invalid) *Problem {
	return &Problem{File: path, Line: max(1, e.Line), Column: max(1, e.Column), Detail: e.Detail}
}

var byteOrderMark = []byte("\ufeff")

// parse reads a text that is exactly one YAML document. JSON is YAML too.
func parse(path string, text []byte) (*yaml.Node, *Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, byteOrderMark)))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, problemOf(path, &description.Invalid{Detail: "it is empty"})
	} else if err != nil {
		return nil, problemOf(path, description.Malformed(err))
	}
	var second yaml.Node
	err := decoder.Decode(&second)
	if errors.Is(err, io.EOF) {
		return document.Content[0], nil
	}
	if err != nil {
		return nil, problemOf(path, description.Malformed(err))
	}
	return nil, &Problem{
		File:   path,
		Line:   second.Line,
		Column: 1,
		Detail: "more than one document: a file has one",
	}
}
