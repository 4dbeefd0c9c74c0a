package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// SyntaxError says where a text is not the JSON that was expected, and why.
type SyntaxError struct {
	Line, Column int // of the first character at fault, both from 1
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Reason)
}

func syntaxError(text []byte, offset int, reason string) *SyntaxError {
	line, column := position(text, offset)
	return &SyntaxError{line, column, reason}
}

func position(text []byte, offset int) (line, column int) {
	before := bytes.TrimPrefix(text[:offset], []byte(byteOrderMark))
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[lineStart(before):])
	return line, column
}

const whitespace = " \t\r\n"

// outline checks that a text is exactly one JSON value, of at most 10,000 levels, and returns
// it with spaces for a byte order mark and for the elements of arrays, so that offsets stay.
// The error is a *SyntaxError.
func outline(text []byte) ([]byte, error) {
	unmarked := text
	if rest, ok := bytes.CutPrefix(text, []byte(byteOrderMark)); ok {
		unmarked = slices.Concat([]byte("   "), rest)
	}
	blank := slices.Clone(unmarked)
	dec := jsontext.NewDecoder(bytes.NewBuffer(unmarked))
	for done := false; !done; done = dec.StackDepth() == 0 {
		if dec.PeekKind() != '[' {
			if _, err := dec.ReadToken(); err != nil {
				return nil, explain(text, dec, err)
			}
			continue
		}
		array, err := dec.ReadValue()
		if err != nil {
			return nil, explain(text, dec, err)
		}
		end := int(dec.InputOffset())
		for i := end - len(array) + 1; i < end-1; i++ {
			blank[i] = ' '
		}
	}
	rest := bytes.TrimLeft(text[dec.InputOffset():], whitespace)
	switch {
	case len(rest) == 0:
		return blank, nil
	case startsComment(rest):
		return nil, syntaxError(text, len(text)-len(rest), "JSON has no comments")
	}
	return nil, syntaxError(text, len(text)-len(rest), "the end of the file was expected")
}

// explain turns an error of the decoder into one that says what to correct.
func explain(text []byte, dec *jsontext.Decoder, err error) *SyntaxError {
	var e *jsontext.SyntacticError
	if !errors.As(err, &e) { // the decoder found nothing but white space
		return syntaxError(text, 0, "the file is empty: a JSON object was expected")
	}
	offset := min(int(e.ByteOffset), len(text))
	before := bytes.TrimRight(text[:offset], whitespace)
	after := bytes.TrimLeft(bytes.TrimPrefix(text[offset:], []byte(",")), whitespace)
	closes := bytes.HasPrefix(after, []byte("}")) || bytes.HasPrefix(after, []byte("]"))
	afterComma := bytes.HasSuffix(before, []byte(","))
	kind, length := dec.StackIndex(dec.StackDepth())
	betweenMembers := kind == '{' && length%2 == 0
	reason := e.Err.Error()
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		reason = fmt.Sprintf("%q is set twice", e.JSONPointer.LastToken())
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		reason = "the file ends in the middle of a value"
	case startsComment(text[offset:]):
		reason = "JSON has no comments"
	case closes && afterComma:
		offset, reason = len(before)-1, "a value was expected after the comma"
	case closes && text[offset] == ',':
		reason = "a value was expected after the comma"
	case bytes.HasSuffix(before, []byte("{")), afterComma && betweenMembers:
		reason = "a member's name in double quotes was expected"
	}
	return syntaxError(text, offset, reason)
}

func startsComment(text []byte) bool {
	return bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*")) ||
		bytes.HasPrefix(text, []byte("#"))
}
