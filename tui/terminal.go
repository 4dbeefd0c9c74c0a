// Package tui draws on a terminal: the theme, wrapped text, the rows of a difference, the
// steps of a command, a transfer. Package prompts asks with it.
//
// It shows what it is given: it reads no file, calls no hub and decides nothing.
package tui

import (
	"errors"
	"io"
)

// ErrInterrupted says that the user ended the program instead of answering.
var ErrInterrupted = errors.New("interrupted")

// Terminal is where a user reads and answers.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of views
	Columns, Rows int
}
