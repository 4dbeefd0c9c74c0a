// Package tui draws what moves on a terminal: a difference that one looks through
// before one answers, the steps of a command, a transfer. Where the terminal cannot
// redraw, or is read aloud, it writes lines instead.
//
// It shows what it is told; it reads no file, calls no hub and decides nothing. An
// answer that was not given is an error, never a default.
package tui

import (
	"errors"
	"io"
)

// ErrInterrupted says that the person ended the program instead of answering.
var ErrInterrupted = errors.New("interrupted")

// Terminal is where a person reads and answers.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of a view
	Columns, Rows int
}
