// Package description reads an API description: OpenAPI 2.0, 3.0, 3.1 or 3.2, in JSON or
// YAML. It returns what the hub records of one, with what OpenAPI forbids in it, or why a
// text is not one, with line and column.
//
// A description can come from anybody, so the package bounds the cost before it arises: it
// reads the text into its own tree under limits, and checks the tree by the table of
// package oas, visiting each value once. References into the description are looked up,
// never expanded.
//
// The package opens no file and no connection, and does not know HTTP or storage.
package description

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"example.com/projecthub/hubclient/wire"
)

// Description is what the hub records of an API description.
type Description struct {
	Title     string // info.title; "" without one
	Version   string // info.version; "" without one
	Format    string // openapi-2.0, openapi-3.0, openapi-3.1 or openapi-3.2
	MediaType string // application/json or application/yaml
	Findings  []wire.Finding
}

// Invalid says why the hub does not accept a text as an API description.
type Invalid struct {
	Reasons []wire.FieldError // at least one; pointers are into the description
}

func (e *Invalid) Error() string {
	first := e.Reasons[0]
	text := "the API description is not valid: "
	if first.Pointer != "" {
		text += first.Pointer + ": "
	}
	text += first.Detail
	if more := len(e.Reasons) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// invalid returns an *Invalid with one reason about the whole description.
func invalid(format string, args ...any) *Invalid {
	return &Invalid{[]wire.FieldError{{Detail: fmt.Sprintf(format, args...)}}}
}

// Strict returns an error if the description has findings that are errors.
func (d *Description) Strict() error {
	e := &Invalid{}
	for _, f := range d.Findings {
		if f.Severity == wire.SeverityError {
			e.Reasons = append(e.Reasons, wire.FieldError{Pointer: f.Pointer, Detail: fmt.Sprintf("line %d: %s", f.Line, f.Detail)})
		}
	}
	if len(e.Reasons) == 0 {
		return nil
	}
	return e
}

// Reserve is called with the memory that reading a description is about to need,
// in bytes, before each step that needs more. Its error ends the reading.
type Reserve func(bytes int64) error

// Parse reads an API description, whose length the caller has bounded. The error is an
// *Invalid, that of reserve, or that of ctx, which is checked between steps of bounded
// length. A nil reserve allows everything.
//
// It rejects what is neither YAML nor JSON, has no member openapi or swagger, has none of
// paths, webhooks and components, or exceeds a limit. All else is a finding.
func Parse(ctx context.Context, data []byte, reserve Reserve) (d *Description, err error) {
	defer func() {
		if recover() != nil {
			d, err = nil, invalid("the description cannot be checked")
		}
	}()
	if reserve == nil {
		reserve = func(int64) error { return nil }
	}
	step := func(bytes int64) error {
		if ctx.Err() != nil {
			return fmt.Errorf("read an API description: %w", context.Cause(ctx))
		}
		return reserve(bytes)
	}
	return read(data, step)
}

func read(data []byte, step Reserve) (*Description, error) {
	first := treeMemory(data)
	if err := step(first); err != nil {
		return nil, err
	}
	root, mediaType, err := readTree(data, func(values int) error {
		return step(max(first, 2*int64(len(data))+valueCost*int64(values))) // aliases are more values than the text shows
	})
	if err != nil {
		return nil, err
	}
	tree := 2*int64(len(data)) + valueCost*int64(root.size())
	c := &checker{root: root, step: func() error { return step(tree) }}
	if err := c.readVersion(); err != nil {
		return nil, err
	}
	if !root.has("paths") && !root.has("webhooks") && !root.has("components") {
		return nil, &Invalid{[]wire.FieldError{root.reason("it has none of paths, webhooks and components, so it describes no API")}}
	}
	if err := cmp.Or(step(tree), c.run()); err != nil {
		return nil, err
	}
	info := root.member("info")
	return &Description{
		Title:     scalar(info.member("title")),
		Version:   scalar(info.member("version")),
		Format:    "openapi-" + c.version.String(),
		MediaType: mediaType,
		Findings:  c.found.all(),
	}, nil
}

// scalar returns a string, number or boolean as a line of text.
func scalar(n *node) string {
	if n == nil || n.kind == null {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(n.text, "\x00", ""))
}
