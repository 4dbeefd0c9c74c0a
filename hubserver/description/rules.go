package description

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"example.com/projecthub/hubclient/wire"
)

// checkRules checks with the OpenAPI library what the grammar does not.
func checkRules(root *node, plain []byte, v version) error {
	document, err := load(plain, v)
	if err != nil {
		return invalid("a value has a type that OpenAPI does not allow there")
	}
	err = document.Validate(context.Background(), options()...)
	if err == nil {
		return nil
	}
	var several openapi3.MultiError
	if !errors.As(err, &several) {
		several = openapi3.MultiError{err}
	}
	var found []wire.FieldError
	for _, err := range several[:min(len(several), MaxReasons)] {
		found = append(found, explain(root, err))
	}
	return &Invalid{found}
}

func load(plain []byte, v version) (*openapi3.T, error) {
	if v != v20 {
		var document openapi3.T
		return &document, json.Unmarshal(plain, &document)
	}
	var old openapi2.T
	if err := json.Unmarshal(plain, &old); err != nil {
		return nil, err
	}
	document, err := openapi2conv.ToV3(&old)
	if err == nil && document.Paths == nil {
		document.Paths = openapi3.NewPaths() // conversion loses an empty one
	}
	return document, err
}

// options switches off what the library does with the values that a description
// holds: checking them against their schemas takes time that is exponential in the
// size, and patterns are not written for Go.
func options() []openapi3.ValidationOption {
	return []openapi3.ValidationOption{
		openapi3.EnableMultiError(),
		openapi3.DisableExamplesValidation(),
		openapi3.DisableSchemaDefaultsValidation(),
		openapi3.DisableSchemaPatternValidation(),
	}
}
