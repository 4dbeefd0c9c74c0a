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
)

// ErrInterrupted says that the person ended the program instead of answering.
var ErrInterrupted = errors.New("interrupted")

// Terminal is where a person is asked.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Plain         bool // lines instead of forms
	Columns, Rows int
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
