// Package description reads an API description: OpenAPI 2.0, 3.0 or 3.1, in JSON
// or YAML. It says what the hub records of one, or in plain words, with line and
// column, why a text is none.
//
// A description comes from a stranger, so the package refuses what is costly
// before it is costly: it reads the text into its own tree under limits, follows
// no reference, and hands the library that knows OpenAPI a document without any.
// It opens no file and no connection, and knows neither HTTP nor storage.
package description

import (
	"context"
	"fmt"

	"example.com/projecthub/hubclient/wire"
)

// Description is what can be said of an API description without its content.
type Description struct {
	Title     string // info.title, never empty
	Version   string // info.version, never empty
	Format    string // openapi-2.0, openapi-3.0 or openapi-3.1
	MediaType string // application/json or application/yaml
}

// Invalid says why a text is no API description that the hub accepts.
type Invalid struct {
	Reasons []wire.FieldError // at least one, at most MaxReasons; pointers lead into the description
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

// invalid returns an *Invalid with one reason that concerns no single value.
func invalid(format string, args ...any) *Invalid {
	return &Invalid{[]wire.FieldError{{Detail: fmt.Sprintf(format, args...)}}}
}

// Reserve is called with the memory that reading a description is about to need,
// in bytes, before each step that needs more. Its error ends the reading.
type Reserve func(bytes int64) error

// Parse reads an API description, whose length the caller has bounded. The error
// is an *Invalid, that of reserve, or that of ctx. The limits on descriptions bound
// the time between two looks at ctx. A nil reserve allows everything.
func Parse(ctx context.Context, data []byte, reserve Reserve) (d *Description, err error) {
	defer func() {
		if recover() != nil {
			d, err = nil, invalid("the description is so odd that it cannot be checked")
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
		return step(max(first, 2*int64(len(data))+valueCost*int64(values))) // what aliases stand for is more than the text shows
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
