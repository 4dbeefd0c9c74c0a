// Package wire defines the protocol between a hub and its clients: the table of
// endpoints, the JSON bodies and the error codes. It has no network, no storage and no
// policy.
//
// Times are RFC 3339 in UTC, digests are SHA-256 in lower-case hex, sizes are bytes.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SyntaxError is the error of a text that is not JSON: malformed, a duplicate member,
// invalid UTF-8, a lone surrogate, or text after the value.
type SyntaxError struct {
	Offset int64 // bytes into the text
	Err    error
}

func (e *SyntaxError) Error() string { return e.Err.Error() }
func (e *SyntaxError) Unwrap() error { return e.Err }

// ShapeError is the error of JSON that is not what is needed: an unknown member, a value
// of the wrong type, or null instead of an object.
type ShapeError struct {
	Pointer string // JSON pointer of the offending value, "" for the whole text
	Detail  string
}

func (e *ShapeError) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Pointer + ": " + e.Detail
}

// CheckSyntax returns a *SyntaxError unless data is exactly one JSON value.
func CheckSyntax(data []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if err := dec.SkipValue(); err != nil {
		return syntaxError(err, int64(len(data)))
	}
	end := dec.InputOffset()
	if _, err := dec.ReadToken(); err == nil {
		return &SyntaxError{end, errors.New("unexpected text after the JSON value")}
	} else if !errors.Is(err, io.EOF) {
		return syntaxError(err, end)
	}
	return nil
}

func syntaxError(err error, offset int64) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		text := shorten(syntactic.Err.Error())
		if syntactic.JSONPointer != "" {
			text += " at " + shorten(string(syntactic.JSONPointer))
		}
		return &SyntaxError{syntactic.ByteOffset, errors.New(text)}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the text is empty")
	}
	return &SyntaxError{offset, err}
}

// Decode reads one JSON object into v, strictly: the error is a *SyntaxError or
// a *ShapeError. Options loosen it: a client passes [json.RejectUnknownMembers](false)
// to read the responses of a newer hub.
func Decode(data []byte, v any, opts ...json.Options) error {
	opts = append([]json.Options{json.RejectUnknownMembers(true)}, opts...)
	err := json.Unmarshal(data, v, opts...)
	if err != nil { // which need not be the first mistake
		if err := CheckSyntax(data); err != nil {
			return err
		}
	}
	if jsontext.Value(data).Kind() != '{' {
		return &ShapeError{"", "must be a JSON object"}
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return &ShapeError{shorten(string(semantic.JSONPointer)), shorten(shapeDetail(semantic))}
	}
	return err
}

// NoSuchMember is the detail of a FieldError for an unknown member.
const NoSuchMember = "no such member"

// UnknownMember returns the error of [Decode] for an object with a member of this name.
func UnknownMember(name string) *ShapeError {
	return &ShapeError{shorten(string(jsontext.Pointer("").AppendToken(name))), NoSuchMember}
}

// maxText bounds how much an error quotes of a text, in bytes.
const maxText = 150

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

func shapeDetail(e *json.SemanticError) string {
	isNumber := errors.Is(e.Err, strconv.ErrSyntax) || errors.Is(e.Err, strconv.ErrRange)
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return NoSuchMember
	case isNumber:
		return "the number " + string(e.JSONValue) + " does not fit here"
	case e.Err != nil:
		return e.Err.Error()
	default:
		return fmt.Sprintf("a JSON %s does not fit here", e.JSONKind)
	}
}

// Encode writes v as one JSON text without white space. JSON in v is taken to have no
// duplicate names: to look for them takes a quarter of the time of a small request.
func Encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.AllowDuplicateNames(true))
}
