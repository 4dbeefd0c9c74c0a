// Package description recognises API descriptions: OpenAPI 2.0, 3.0, 3.1 or 3.2, in JSON or YAML. It
// returns what the hub records of one, its operations and schemas, and its JSON form, or why a text is
// not one, with line and column. It is not a linter. The hub and its client both read descriptions so.
//
// A description can come from anyone, so the package reads it into a tree of its own, with limits.
// References into the description are looked up, never expanded.
//
// The package opens no file and no connection, and does not know HTTP or storage.
package description

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Description is an API description.
type Description struct {
	Title     string // info.title; "" without one
	Version   string // info.version; "" without one
	Format    string // openapi-2.0, openapi-3.0, openapi-3.1 or openapi-3.2
	MediaType string // application/json or application/yaml
	JSONBytes int64  // at most, of its JSON form, unless that has more than MaxJSON

	root *node
}

// Invalid says why a text is not an API description, and where: Line and Column are from 1, or 0 if they are not known.
type Invalid struct {
	Line, Column int
	Detail       string
}

// Placed returns the detail with the place before it.
func (e *Invalid) Placed() string {
	switch {
	case e.Line == 0:
		return e.Detail
	case e.Column == 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Detail)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Detail)
}

func (e *Invalid) Error() string { return "the API description is not valid: " + e.Placed() }

func invalid(format string, args ...any) *Invalid {
	return &Invalid{Detail: fmt.Sprintf(format, args...)}
}

// Reserve is called with how much memory a description needs by now, in bytes, before each step that
// needs more. Its error ends the reading.
type Reserve func(bytes int64) error

// Parse reads an API description, whose length the caller has bounded. The error is an
// *Invalid, that of reserve, or that of ctx, which is checked between steps of bounded
// length. A nil reserve allows everything.
//
// It rejects what is neither YAML nor JSON, has no member openapi or swagger, has none of
// paths, webhooks and components, or exceeds a limit. All else is accepted.
func Parse(ctx context.Context, data []byte, reserve Reserve) (d *Description, err error) {
	defer func() {
		if recover() != nil { // of the YAML library
			d, err = nil, invalid("the description cannot be read")
		}
	}()
	b := &budget{bytes: int64(len(data)), need: func(bytes int64) error {
		if ctx.Err() != nil {
			return fmt.Errorf("read an API description: %w", context.Cause(ctx))
		}
		if reserve == nil {
			return nil
		}
		return reserve(bytes)
	}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkUTF8(data); err != nil {
		return nil, err
	}
	mediaType, read := "application/yaml", readYAML
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		mediaType, read = "application/json", readJSON
	}
	root, at, err := read(data, b)
	if err != nil {
		return nil, err
	}
	swagger, openapi := root.member("swagger"), root.member("openapi")
	switch {
	case root.kind != object:
		return nil, at.invalid("a description must be an object, not %v", root.kind)
	case swagger == nil && openapi == nil:
		return nil, at.invalid("it has neither openapi nor swagger, so it is not an API description")
	case !root.has("paths") && !root.has("webhooks") && !root.has("components"):
		return nil, at.invalid("it has none of paths, webhooks and components, so it describes no API")
	}
	info := root.member("info")
	return &Description{
		Title:     line(info.member("title")),
		Version:   line(info.member("version")),
		Format:    "openapi-" + edition(openapi),
		MediaType: mediaType,
		JSONBytes: min(6*int64(b.text)+8*int64(b.values), MaxJSON), // a character takes at most six bytes
		root:      root,
	}, nil
}

// checkUTF8 returns an error at the first byte that is not UTF-8.
func checkUTF8(data []byte) error {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return positionOf(data, i).invalid("the text is not UTF-8")
		}
		i += size
	}
	return nil
}

// edition returns the edition of OpenAPI that is most like the version that a description states;
// nil: only the member swagger states one.
func edition(openapi *node) string {
	if openapi == nil {
		return "2.0"
	}
	parts := regexp.MustCompile(`^(\d{1,3})(?:\.\d{1,3})?`).FindStringSubmatch(openapi.text)
	switch {
	case parts == nil, parts[0] == "3", parts[0] == "3.0":
		return "3.0"
	case parts[1] == "1", parts[1] == "2":
		return "2.0"
	case parts[0] == "3.1":
		return "3.1"
	}
	return "3.2"
}

// line returns a string, number or boolean as a line of text.
func line(n *node) string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(n.text, "\x00", ""))
}
