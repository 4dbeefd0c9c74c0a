package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"example.com/projecthub/tui/escape"
)

// jqFlag is the flag --jq: an expression that selects what is printed of a result.
type jqFlag struct{ app *App }

// Type returns the type that help shows.
func (jqFlag) Type() string { return "string" }

// String returns the default.
func (jqFlag) String() string { return "" }

// Set compiles the expression. Its error says where the expression is wrong.
func (f jqFlag) Set(expression string) error {
	query, err := gojq.Parse(expression)
	if wrong, ok := errors.AsType[*gojq.ParseError](err); ok {
		before := strings.TrimSuffix(expression[:wrong.Offset], wrong.Token)
		return fmt.Errorf("%w after %q", err, before)
	}
	if err == nil {
		f.app.jq, err = gojq.Compile(query)
	}
	f.app.JSON = true
	return err
}

// filter returns what the expression selects of a document: a line for each value, and strings
// without quotes.
func filter(code *gojq.Code, document string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber() // numbers keep their digits
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	var lines strings.Builder
	values := code.Run(value)
	for {
		value, more := values.Next()
		if !more {
			return lines.String(), nil
		}
		if err, failed := value.(error); failed {
			return "", fmt.Errorf("--jq: %w", err)
		}
		text, isString := value.(string)
		if !isString {
			encoded, err := gojq.Marshal(value)
			if err != nil {
				return "", err
			}
			text = escape.JSON(string(encoded))
		}
		lines.WriteString(escape.Text(text) + "\n")
	}
}
