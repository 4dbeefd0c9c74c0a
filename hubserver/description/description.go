// Package description reads an API description: OpenAPI 2.0, 3.0 or 3.1, in JSON
// or YAML. It returns what the hub records of one, or why a text is not one, with line
// and column.
//
// A description can come from anybody, so the package bounds the cost before it
// arises: it reads the text into its own tree under limits, resolves references
// itself, and passes kin-openapi a document without references.
//
// The tree with its grammar pays for itself: kin-openapi alone takes time that grows
// with the square of the schemas that refer to one another (7.8 s instead of 0.06 s for
// a ring of 3,200 schemas), without a way to stop it; it panics on a null path item or
// parameter in 2.0; and its errors about a value of the wrong type have no position.
//
// The package opens no file and no connection, and does not know HTTP or storage.
package description

import (
	"context"
	"fmt"

	"example.com/projecthub/hubclient/wire"
)

// Description is what the hub records of an API description.
type Description struct {
	Title     string // info.title, never empty
	Version   string // info.version, never empty
	Format    string // openapi-2.0, openapi-3.0 or openapi-3.1
	MediaType string // application/json or application/yaml
}

// Invalid says why the hub does not accept a text as an API description.
type Invalid struct {
	Reasons []wire.FieldError // at least one, at most MaxReasons; pointers are into the description
}

// MaxReasons is how many reasons an [Invalid] holds at most.
const MaxReasons = 20

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

// Reserve is called with the memory that reading a description is about to need,
// in bytes, before each step that needs more. Its error ends the reading.
type Reserve func(bytes int64) error

// Parse reads an API description, whose length the caller has bounded. The error is an
// *Invalid, that of reserve, or that of ctx, which is checked between steps of bounded
// length. A nil reserve allows everything.
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
	v, err := versionOf(root)
	if err != nil {
		return nil, err
	}
	objects, err := checkShape(root, v)
	if err != nil {
		return nil, err
	}
	plain, err := withoutReferences(root, v)
	if err != nil {
		return nil, err
	}
	if err := step(checkMemory(data, root.size(), objects, plain)); err != nil {
		return nil, err
	}
	if err := checkRules(root, plain, v); err != nil {
		return nil, err
	}
	info := root.member("info")
	return &Description{
		Title:     info.member("title").text,
		Version:   info.member("version").text,
		Format:    "openapi-" + string(v),
		MediaType: mediaType,
	}, nil
}
