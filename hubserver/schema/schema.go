// Package schema checks settings against the JSON Schema that a stack includes.
//
// Schemas are other people's: nothing is fetched, and their size, their patterns and the
// time that a check takes are limited. The package knows no stack, project or request.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"example.com/projecthub/hubclient/wire"
)

// Limits of a schema, and of a check.
const (
	MaxBytes    = 256 << 10
	maxObjects  = 5_000 // objects and arrays in a schema
	maxDepth    = 64
	maxPattern  = 2_000    // instructions of a compiled pattern
	maxPatterns = 20_000   // instructions of all patterns
	maxMatch    = 32 << 20 // instructions times bytes of a text that is matched
	maxFindings = 100
	maxDetail   = 300 // bytes of a finding's text
	maxTime     = 2 * time.Second
	maxMemory   = 64 << 20 // bytes of findings, of which all are kept until the end
)

// Finding is what the schema does not allow.
type Finding struct {
	Pointer string // JSON pointer into the settings
	Detail  string
}

// ErrTooExpensive says that settings were not checked to the end, because that would take
// too long, or too much memory.
var ErrTooExpensive = errors.New("the settings cannot be checked: the schema takes too long")

// location is the address of a schema: nothing else is ever loaded.
const location = "hub:settings.schema.json"

// Check returns an error unless text is a valid JSON Schema within the limits. Without
// $schema, it is of draft 2020-12.
func Check(text []byte) error {
	_, err := compile(text, &budget{})
	return err
}

// Validate returns what the schema text does not allow in settings, a JSON object, at most
// a hundred findings. The error is ErrTooExpensive, or that of [Check].
func Validate(text, settings []byte) (findings []Finding, err error) {
	defer func() {
		if p := recover(); p == any(ErrTooExpensive) { //nolint:errorlint // what budget.take panics with
			findings, err = nil, ErrTooExpensive
		} else if p != nil {
			panic(p)
		}
	}()
	b := &budget{end: time.Now().Add(maxTime)}
	compiled, err := compile(text, b)
	if err != nil {
		return nil, err
	}
	instance, err := parse(settings)
	if err != nil {
		return nil, err
	}
	instance = withinRange(instance)
	var invalid *jsonschema.ValidationError
	switch err := compiled.Validate(instance); {
	case err == nil:
		return nil, nil
	case errors.As(err, &invalid):
		return collect(nil, invalid), nil
	default:
		return nil, err
	}
}

func parse(text []byte) (any, error) {
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// collect appends the findings of e: those of its causes, where it has any.
func collect(findings []Finding, e *jsonschema.ValidationError) []Finding {
	if len(findings) >= maxFindings {
		return findings
	}
	if len(e.Causes) == 0 {
		detail := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		if len(detail) > maxDetail {
			detail = strings.ToValidUTF8(detail[:maxDetail], "") + "…"
		}
		var pointer strings.Builder
		for _, name := range e.InstanceLocation {
			pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
		}
		return append(findings, Finding{pointer.String(), detail})
	}
	for _, cause := range e.Causes {
		findings = collect(findings, cause)
	}
	return findings
}

// compile compiles a schema, each evaluation of which takes from b.
func compile(text []byte, b *budget) (*jsonschema.Schema, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("it is larger than %d KiB", MaxBytes>>10)
	}
	if err := wire.CheckSyntax(text); err != nil {
		return nil, err
	}
	document, err := parse(text)
	if err != nil {
		return nil, err
	}
	m := measure{}
	if err := m.add(document, 1); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return b.pattern(pattern) })
	if err := c.AddResource(location, document); err != nil {
		return nil, plainError(err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, plainError(err)
	}
	b.limit(reflect.ValueOf(compiled), map[any]bool{})
	return compiled, nil
}

// plainError shortens what the library says.
func plainError(err error) error {
	text := strings.ReplaceAll(err.Error(), location, "the schema")
	if len(text) > 3*maxDetail {
		text = strings.ToValidUTF8(text[:3*maxDetail], "") + "…"
	}
	return errors.New(text)
}

// noLoader refuses to load a schema that another one refers to.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("$ref to %q: a schema refers to itself only, nothing is fetched", url)
}

// measure checks the limits of a schema.
type measure struct{ objects int }

func (m *measure) add(v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	var children []any
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			children = append(children, child)
		}
	case []any:
		children = v
	case json.Number:
		if outOfRange(v) {
			return fmt.Errorf("the number %.40s is out of range", string(v))
		}
		return nil
	default:
		return nil
	}
	if m.objects++; m.objects > maxObjects {
		return fmt.Errorf("it has more than %d objects and arrays", maxObjects)
	}
	for _, child := range children {
		if err := m.add(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// outOfRange reports whether a number takes much memory as a fraction, as the library
// compares it.
func outOfRange(n json.Number) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	return len(n) > 400 || len(strings.TrimLeft(exponent, "+-0")) > 3
}

// withinRange replaces numbers that are out of range by others of the same sign.
func withinRange(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			v[name] = withinRange(child)
		}
	case []any:
		for i, child := range v {
			v[i] = withinRange(child)
		}
	case json.Number:
		if !outOfRange(v) {
			return v
		}
		near := "1e999"
		if strings.Contains(strings.ToLower(string(v)), "e-") {
			near = "1e-999"
		}
		if strings.HasPrefix(string(v), "-") {
			near = "-" + near
		}
		return json.Number(near)
	}
	return v
}

// budget limits one check. Its zero value is for schemas that are compiled only.
type budget struct {
	end          time.Time
	memory       int64 // of what was evaluated
	patterns     map[string]*pattern
	instructions int // of all patterns
}

// A rough estimate of the memory, in bytes, of what the library says of one evaluation that
// fails: it lists the names that are missing, and those that are not allowed.
const (
	evaluationCost = 128
	nameCost       = 16
)

// take is called when a schema is evaluated, and before each match of a pattern.
func (b *budget) take(memory int) {
	if b.memory += int64(memory); b.memory > maxMemory || !b.end.IsZero() && time.Now().After(b.end) {
		panic(ErrTooExpensive)
	}
}

// format is a format that everything has: it takes from the budget.
func (b *budget) format(schema *jsonschema.Schema) *jsonschema.Format {
	names := len(schema.Required)
	for _, required := range schema.DependentRequired {
		names += len(required)
	}
	for _, dependency := range schema.Dependencies {
		if required, ok := dependency.([]string); ok {
			names += len(required)
		}
	}
	return &jsonschema.Format{Name: "budget", Validate: func(v any) error {
		object, _ := v.(map[string]any)
		b.take(evaluationCost + nameCost*(names+len(object)))
		return nil
	}}
}

// limit has every schema that v leads to take from the budget.
func (b *budget) limit(v reflect.Value, seen map[any]bool) {
	switch v.Kind() {
	case reflect.Interface:
		b.limit(v.Elem(), seen)
	case reflect.Pointer:
		schema, ok := v.Interface().(*jsonschema.Schema)
		if ok && schema != nil && !seen[schema] {
			seen[schema] = true
			schema.Format = b.format(schema)
			b.limit(v.Elem(), seen)
		} else if dynamic, ok := v.Interface().(*jsonschema.DynamicRef); ok && dynamic != nil {
			b.limit(reflect.ValueOf(dynamic.Ref), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				b.limit(v.Field(i), seen)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			b.limit(v.Index(i), seen)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			b.limit(v.MapIndex(key), seen)
		}
	}
}

// pattern is a regular expression within the limits.
type pattern struct {
	*regexp.Regexp
	size   int // instructions
	budget *budget
}

// pattern compiles a regular expression, once.
func (b *budget) pattern(text string) (*pattern, error) {
	if known := b.patterns[text]; known != nil {
		return known, nil
	}
	tooMany := errors.New("its patterns are too complex together")
	if b.instructions > maxPatterns {
		return nil, tooMany
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if b.instructions += len(program.Inst); b.instructions > maxPatterns {
		return nil, tooMany
	}
	if len(program.Inst) > maxPattern {
		return nil, fmt.Errorf("the pattern %.40q is too complex", text)
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if b.patterns == nil {
		b.patterns = map[string]*pattern{}
	}
	p := &pattern{compiled, len(program.Inst), b}
	b.patterns[text] = p
	return p, nil
}

// MatchString limits the time of one match, which is in proportion to both sizes.
func (p *pattern) MatchString(s string) bool {
	p.budget.take(0)
	if len(s) > maxMatch/p.size {
		panic(ErrTooExpensive)
	}
	return p.Regexp.MatchString(s)
}
