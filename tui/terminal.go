// Package tui draws on a terminal: the theme, wrapped text, the rows of a difference, the
// steps of a command, a transfer. Package prompts asks with it.
//
// It shows what it is given: it reads no file, calls no hub and decides nothing.
package tui

import (
	"context"
	"fmt"
	"io"

	_ "example.com/projecthub/tui/quiet" // see there
)

// ErrInterrupted says that the user ended the program instead of answering. It is
// [context.Canceled], as when a signal had ended it.
var ErrInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)

// Terminal is where a user reads and answers.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of views
	Columns, Rows int
}
