// Package prompts asks a person at a terminal: forms of huh, or plain lines where
// the terminal cannot redraw or is read aloud.
//
// It decides nothing and knows no hub and no file; an answer that was not given is
// an error, never a default.
package prompts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/tui"
)

// ErrInterrupted says that the person ended the program instead of answering.
var ErrInterrupted = errors.New("interrupted")

// ErrBack says that the person went back from the first question.
var ErrBack = errors.New("went back")

// Terminal is where a person is asked.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of forms
	Columns, Rows int
	CanGoBack     bool // from the first question too: the answer is ErrBack
}

// view is where a view of tui is shown.
func (t Terminal) view() tui.Terminal {
	return tui.Terminal{In: t.In, Out: t.Out, Plain: t.Plain, Columns: t.Columns, Rows: t.Rows}
}

// TypeRef asks for r to be typed in full. An empty answer is a no.
func (t Terminal) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	answer := ""
	err := t.Converse(ctx, []Step{{
		Screen: func() Screen {
			return Screen{
				Title: title, Facts: []string{fact}, Prompt: "Its full name, or nothing to leave it", Late: true,
				Check: func(typed string) error {
					if typed = strings.TrimSpace(typed); typed != "" && typed != r.String() && typed != r.Path() {
						return fmt.Errorf("type %s, or nothing to leave it", r)
					}
					return nil
				},
			}
		},
		Take: func(typed string) { answer = strings.TrimSpace(typed) },
	}})
	return err == nil && answer != "", err
}
