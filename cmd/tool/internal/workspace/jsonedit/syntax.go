package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// end checks that nothing follows the value.
func (p *parser) end() error {
	rest := bytes.TrimLeft(p.text[p.offset():], whitespace)
	if len(rest) == 0 {
		return nil
	}
	offset := len(p.text) - len(rest)
	if p.commentAt(offset) {
		return syntaxError(p.text, offset, noComments)
	}
	return syntaxError(p.text, offset, "the end of the file was expected")
}

const (
	whitespace      = " \t\r\n"
	noComments      = "JSON has no comments"
	noTrailingComma = "a value was expected after the comma"
)

// explain turns an error of the decoder into one that says what to correct.
func (p *parser) explain(err error) *SyntaxError {
	var e *jsontext.SyntacticError
	if !errors.As(err, &e) { // the decoder found nothing but white space
		return syntaxError(p.text, p.base, "the file is empty: a JSON object was expected")
	}
	offset := min(p.base+int(e.ByteOffset), len(p.text))
	before := bytes.TrimRight(p.text[:offset], whitespace)
	after := bytes.TrimLeft(bytes.TrimPrefix(p.text[offset:], []byte(",")), whitespace)
	closes := bytes.HasPrefix(after, []byte("}")) || bytes.HasPrefix(after, []byte("]"))
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		return syntaxError(p.text, offset, fmt.Sprintf("%q is set twice", e.JSONPointer.LastToken()))
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		return syntaxError(p.text, offset, "the file ends in the middle of a value")
	case p.commentAt(offset):
		return syntaxError(p.text, offset, noComments)
	case closes && bytes.HasSuffix(before, []byte(",")):
		return syntaxError(p.text, len(before)-1, noTrailingComma)
	case closes && bytes.HasPrefix(p.text[offset:], []byte(",")):
		return syntaxError(p.text, offset, noTrailingComma)
	case bytes.HasSuffix(before, []byte("{")) || bytes.HasSuffix(before, []byte(",")) && p.betweenMembers():
		return syntaxError(p.text, offset, "a member's name in double quotes was expected")
	}
	return syntaxError(p.text, offset, e.Err.Error())
}

// betweenMembers reports whether the decoder stopped where an object's next member starts.
func (p *parser) betweenMembers() bool {
	kind, length := p.dec.StackIndex(p.dec.StackDepth())
	return kind == '{' && length%2 == 0
}

func (p *parser) commentAt(offset int) bool {
	rest := p.text[offset:]
	return bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) || bytes.HasPrefix(rest, []byte("#"))
}

func position(text []byte, offset int) (line, column int) {
	before := bytes.TrimPrefix(text[:offset], []byte(byteOrderMark))
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[lineStart(before):])
	return line, column
}
