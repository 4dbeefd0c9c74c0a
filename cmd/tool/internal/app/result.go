package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui/escape"
)

// Result is what a command prints. A result of a write also has Effect, which says what was done if the result
// cannot be printed, such as: the role was set. A long one has Paged.
type Result interface {
	Kind() string // the type of the JSON document
	Text(w *Printer)
}

// OnHub is the part of a result that names the hub. [App.Call] fills it in, and
// [Printer.Head] writes it.
type OnHub struct {
	Origin string `json:"origin"`
}

func (h *OnHub) answeredBy(origin string) { h.Origin = origin }

func (h *OnHub) where() (env, origin string) { return "", h.Origin }

// About is the part of a result that names the project. [Target.About] returns it, and
// [Printer.Head] writes its environment and its hub.
type About struct {
	ProjectName string  `json:"projectName,omitzero"`
	Env         string  `json:"environment,omitzero"`
	Project     ref.Ref `json:"project,omitzero"`
	Origin      string  `json:"origin,omitzero"`
}

func (b *About) where() (env, origin string) { return b.Env, b.Origin }

// Noted is the part of a result that has notes, which are written below its text.
type Noted struct {
	Notes []string `json:"notes"`
}

func (n *Noted) notes() []string { return n.Notes }

// Note adds a note.
func (n *Noted) Note(format string, args ...any) {
	n.Notes = append(n.Notes, fmt.Sprintf(format, args...))
}

// Show prints a result: as JSON, or as text with its notes below.
func (a *App) Show(r Result) error {
	a.releaseWarnings()
	a.shown = r
	effect := ""
	if r, ok := r.(interface{ Effect() string }); ok {
		effect = r.Effect()
	}
	_, hasToken := r.(interface{ secret() })
	if a.JSON {
		redact := pat.Redact
		if hasToken {
			redact = func(document string) string { return document }
		}
		return unprinted(effect, a.writeJSON(r.Kind(), r, redact))
	}
	p := a.Printer()
	_, mayBeLong := r.(interface{ Paged() })
	var text strings.Builder
	if mayBeLong {
		p.w = &text
	}
	if r, ok := r.(interface{ where() (env, origin string) }); ok {
		p.env, p.origin = r.where()
	}
	r.Text(p)
	if r, ok := r.(interface{ notes() []string }); ok {
		if hasToken { // it is alone on stdout
			for _, note := range r.notes() {
				a.Diagnose("note: %s", note)
			}
		} else {
			p.Notes(r.notes())
		}
	}
	if mayBeLong {
		p.err = a.page(text.String())
	}
	return unprinted(effect, p.err)
}

// Said returns the first line of the result that was shown last, "" for none, and forgets it.
func (a *App) Said() string {
	if a.shown == nil {
		return ""
	}
	var text strings.Builder
	a.shown.Text(a.PrinterTo(&text))
	a.shown = nil
	line, _, _ := strings.Cut(text.String(), "\n")
	return line
}

// schema is the version of the results' form. It rises only if a member is ever
// removed or changes its meaning.
const schema = 1

func (a *App) writeJSON(kind string, v any, redact func(string) string) error {
	members, err := wire.Encode(v)
	if err != nil {
		return err
	}
	document, err := wire.Encode(struct {
		Type    string         `json:"type"`
		Schema  int            `json:"schema"`
		Command string         `json:"command"`
		Members jsontext.Value `json:",embed"`
	}{kind, schema, a.Command, members})
	if err != nil {
		return err
	}
	text := escape.JSON(redact(string(document)))
	if a.collecting {
		a.collected = append(a.collected, jsontext.Value(text))
		return nil
	}
	text += "\n"
	if a.jq != nil {
		if text, err = filter(a.jq, text); err != nil {
			return err
		}
	}
	_, err = io.WriteString(a.Streams.Out, text)
	return err
}

// printError says that a result could not be written to stdout, where a failure in JSON
// would go too.
type printError struct{ error }

func (e *printError) Unwrap() error { return e.error }

// unprinted returns err, why a result could not be written, as a printError; nil for nil. effect
// says what the command had already done, "" for nothing.
func unprinted(effect string, err error) error {
	if err == nil {
		return nil
	}
	if strings.HasPrefix(err.Error(), "--jq: ") && effect == "" {
		return &printError{err}
	}
	if effect != "" {
		effect += ", but "
	}
	return &printError{fmt.Errorf("%sits result could not be written to stdout: %w", effect, failure.Cause(err))}
}

// NewToken is the part of a result that has the one whole token: the one that was just
// created. In text [Printer.Secret] writes it alone on stdout, and the notes go to stderr.
type NewToken struct {
	Noted `json:",inline"`
}

// ShownOnce returns the part of a result with a token that was just created.
func ShownOnce() (n NewToken) {
	n.Note("this token is shown once; the hub keeps only its hash")
	return n
}

// Effect says that the token is valid.
func (*NewToken) Effect() string { return "the token was created" }

func (*NewToken) secret() {}

// Secret writes a whole token.
func (p *Printer) Secret(token string) { _, p.err = fmt.Fprintln(p.w, token) }

// setJQ compiles the expression of --jq, which selects what is printed of a result. Its error says where
// the expression is wrong.
func (a *App) setJQ(expression string) error {
	query, err := gojq.Parse(expression)
	if wrong, ok := errors.AsType[*gojq.ParseError](err); ok {
		before := strings.TrimSuffix(expression[:wrong.Offset], wrong.Token)
		return fmt.Errorf("%w after %q", err, before)
	}
	if err == nil {
		a.jq, err = gojq.Compile(query)
	}
	a.JSON = true
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
