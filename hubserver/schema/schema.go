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
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

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

// ErrTooExpensive says that a check was ended, because it takes too long or too much memory.
var ErrTooExpensive = errors.New("the settings cannot be checked: the schema takes too long")

// location is the address of a schema: nothing else is ever loaded.
const location = "hub:settings.schema.json"

// Check returns an error unless text is a valid JSON Schema within the limits. Without
// $schema, it is of draft 2020-12.
func Check(text []byte) error {
	c, err := (&budget{}).compiler(text)
	if err != nil {
		return err
	}
	if _, err = c.Compile(location); err != nil {
		return plainError(err)
	}
	return nil
}

// Validate returns what a schema that has passed [Check] does not allow in settings, a JSON object: at
// most a hundred findings, sorted by their pointers. The error is ErrTooExpensive, or says what else
// prevents the check.
func Validate(text, settings []byte) (findings []wire.FieldError, err error) {
	defer func() {
		if p := recover(); p == any(ErrTooExpensive) { //nolint:errorlint // what budget.take panics with
			findings, err = nil, ErrTooExpensive
		} else if p != nil {
			panic(p)
		}
	}()
	b := &budget{end: time.Now().Add(maxTime)}
	c, err := b.compiler(text)
	if err != nil {
		return nil, err
	}
	// With a vocabulary of our own, the library checks less of a schema itself: see Check.
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: "hub:budget", Compile: b.limit})
	c.AssertVocabs()
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, plainError(err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(settings))
	if err != nil {
		return nil, err
	}
	err = compiled.Validate(withinRange(instance))
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, err
	}
	findings = collect(nil, invalid)
	slices.SortStableFunc(findings, func(a, b wire.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return findings, nil
}

// compiler returns a compiler that has a schema at location, and knows no other.
func (b *budget) compiler(text []byte) (*jsonschema.Compiler, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("it is larger than %d KiB", MaxBytes>>10)
	}
	if err := wire.CheckSyntax(text); err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	objects := 0
	if err := measure(document, 1, &objects); err != nil {
		return nil, err
	}
	b.patterns = map[string]*pattern{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return b.pattern(pattern) })
	return c, c.AddResource(location, document)
}

// plainError shortens what the library says.
func plainError(err error) error {
	return errors.New(clip(strings.ReplaceAll(err.Error(), location, "the schema"), 3*maxDetail))
}

// noLoader refuses to load a schema that another one refers to.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("$ref to %q: a schema refers to itself only, nothing is fetched", url)
}

// measure checks the limits of a schema, and counts its objects and arrays.
func measure(v any, depth int, objects *int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	var children []any
	switch v := v.(type) {
	case map[string]any:
		children = slices.Collect(maps.Values(v))
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
	if *objects++; *objects > maxObjects {
		return fmt.Errorf("it has more than %d objects and arrays", maxObjects)
	}
	for _, child := range children {
		if err := measure(child, depth+1, objects); err != nil {
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

// limit has the schema that c compiles take from the budget when it is evaluated. A format does that,
// because the library checks it before all that leads to other schemas.
func (b *budget) limit(c *jsonschema.CompilerContext, _ map[string]any) (jsonschema.SchemaExt, error) {
	schema := c.Enqueue(nil)
	names := len(schema.Required)
	for _, required := range schema.DependentRequired {
		names += len(required)
	}
	for _, dependency := range schema.Dependencies {
		required, _ := dependency.([]string) // it may be a schema
		names += len(required)
	}
	schema.Format = &jsonschema.Format{Name: "budget", Validate: func(v any) error {
		object, _ := v.(map[string]any)
		b.take(evaluationCost + nameCost*(names+len(object)))
		return nil
	}}
	return nil, nil
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
	b.patterns[text] = &pattern{compiled, len(program.Inst), b}
	return b.patterns[text], nil
}

// MatchString limits the time of one match, which is in proportion to both sizes.
func (p *pattern) MatchString(s string) bool {
	p.budget.take(0)
	if len(s) > maxMatch/p.size {
		panic(ErrTooExpensive)
	}
	return p.Regexp.MatchString(s)
}
