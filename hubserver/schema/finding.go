package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"example.com/projecthub/hubclient/wire"
)

// collect appends the findings of e, which are those of its causes if it has any.
func collect(findings []wire.FieldError, e *jsonschema.ValidationError) []wire.FieldError {
	if len(findings) >= maxFindings {
		return findings
	}
	for _, cause := range e.Causes {
		findings = collect(findings, cause)
	}
	if len(e.Causes) > 0 {
		return findings
	}
	var pointer jsontext.Pointer
	for _, name := range e.InstanceLocation {
		pointer = pointer.AppendToken(name)
	}
	detail, want, got := explain(e.ErrorKind)
	finding := wire.FieldError{
		Pointer: string(pointer), Detail: clip(detail, maxDetail), Want: short(want), Got: short(got),
	}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		finding.Keyword = path[0]
	}
	return append(findings, finding)
}

// explain says what a keyword asks of a value, as a sentence without its subject: "must not be empty". It also
// returns what the keyword asks for, and what the value has: its type, length, number or names, but never a text,
// which may be a secret. They are nil if there is no such thing.
func explain(k jsonschema.ErrorKind) (detail string, want, got any) {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + anyOf(k.Want, typed) + ", not " + typed(k.Got), k.Want, k.Got
	case *kind.Enum:
		return "must be " + anyOf(k.Want, quote), k.Want, nil
	case *kind.Const:
		return "must be " + quote(k.Want), k.Want, nil
	case *kind.Pattern:
		return "must match the pattern " + k.Want, k.Want, nil
	case *kind.MinLength:
		return counted("at least", "character", k.Want, k.Got)
	case *kind.MaxLength:
		return counted("at most", "character", k.Want, k.Got)
	case *kind.MinItems:
		return counted("at least", "item", k.Want, k.Got)
	case *kind.MaxItems:
		return counted("at most", "item", k.Want, k.Got)
	case *kind.MinProperties:
		return counted("at least", "member", k.Want, k.Got)
	case *kind.MaxProperties:
		return counted("at most", "member", k.Want, k.Got)
	case *kind.MinContains:
		return counted("at least", "matching item", k.Want, len(k.Got))
	case *kind.MaxContains:
		return counted("at most", "matching item", k.Want, len(k.Got))
	case *kind.Minimum:
		return compared("at least", k.Want, k.Got)
	case *kind.Maximum:
		return compared("at most", k.Want, k.Got)
	case *kind.ExclusiveMinimum:
		return compared("greater than", k.Want, k.Got)
	case *kind.ExclusiveMaximum:
		return compared("less than", k.Want, k.Got)
	case *kind.MultipleOf:
		return compared("a multiple of", k.Want, k.Got)
	case *kind.Required:
		return "must have " + members(k.Missing), k.Missing, nil
	case *kind.DependentRequired:
		return "must have " + members(k.Missing) + " because it has " + quote(k.Prop), k.Missing, nil
	case *kind.Dependency:
		return "must have " + members(k.Missing) + " because it has " + quote(k.Prop), k.Missing, nil
	case *kind.AdditionalProperties:
		return "must not have " + members(k.Properties), nil, k.Properties
	case *kind.UniqueItems:
		return fmt.Sprintf("must not have equal items: items %d and %d are equal",
			k.Duplicates[0]+1, k.Duplicates[1]+1), nil, nil
	case *kind.Contains:
		return "must not be empty", nil, nil // else each item has findings
	case *kind.Not:
		return "must not match what the schema excludes", nil, nil
	case *kind.FalseSchema:
		return "must be absent", nil, nil
	case *kind.OneOf:
		return fmt.Sprintf("must match one alternative of the schema, not %d", len(k.Subschemas)), 1, len(k.Subschemas)
	}
	return k.LocalizedString(message.NewPrinter(language.English)), nil, nil
}

func counted(bound, noun string, want, got int) (detail string, wanted, counted any) {
	if want == 1 && got == 0 {
		return "must not be empty", want, got
	}
	if want != 1 {
		noun += "s"
	}
	return fmt.Sprintf("must have %s %d %s, not %d", bound, want, noun, got), want, got
}

func compared(relation string, want, got *big.Rat) (detail string, wanted, compared any) {
	w, _ := want.Float64()
	g, _ := got.Float64()
	return fmt.Sprintf("must be %s %s, not %s", relation, quote(w), quote(g)), w, g
}

func typed(name string) string {
	switch name {
	case "null":
		return name
	case "array", "integer", "object":
		return "an " + name
	}
	return "a " + name
}

func members(names []string) string {
	if len(names) == 1 {
		return "the member " + quote(names[0])
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return "the members " + strings.Join(quoted, ", ")
}

// anyOf joins alternatives by commas, and the last one by "or".
func anyOf[T any](values []T, text func(T) string) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(text(v))
	}
	return b.String()
}

// quote returns v as JSON.
func quote[T any](v T) string {
	if text := encode(v); text != nil {
		return string(text)
	}
	return fmt.Sprint(v) // an infinite number
}

// short returns v as JSON, nil if there is none or if it is longer than a detail.
func short(v any) jsontext.Value {
	if text := encode(v); v != nil && len(text) <= maxDetail {
		return text
	}
	return nil
}

// encode returns v as JSON, nil for what JSON does not have. It is not [wire.Encode], which takes a [json.Number],
// of which the library's values are made, for a text.
func encode(v any) jsontext.Value {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// clip truncates text to about so many bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
