// Package prompts asks a user at a terminal, and shows what a command is doing: forms of huh
// and views of tui, or plain lines where the terminal cannot redraw or a screen reader reads
// it aloud.
//
// It decides nothing and knows no hub and no file. An answer that was not given is an
// error, never a default.
package prompts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/tui"
)

// ErrBack says that the user went back from the first question.
var ErrBack = errors.New("went back")

// Prompter asks the user of a terminal.
type Prompter struct {
	Terminal  tui.Terminal
	Status    string // the hub and the identity, shown in every view; "" when there are none yet
	CanGoBack bool   // from the first question too: the error is ErrBack
}

// TypeRef asks for r to be typed in full. An empty answer is a no, and so is escape.
func (p Prompter) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	answer := ""
	p.CanGoBack = !p.Terminal.Plain // where nothing typed cancels
	err := p.Ask(ctx, Step{
		Question: func() Question {
			return Question{
				Title: title, Facts: []string{fact}, CheckLast: true,
				Prompt: "Type its full name to confirm, or nothing to cancel",
				Check: func(typed string) error {
					if typed = strings.TrimSpace(typed); typed != "" && typed != r.String() && typed != r.Path() {
						return fmt.Errorf("type %s to confirm, or nothing to cancel", r)
					}
					return nil
				},
			}
		},
		Take: func(typed string) { answer = strings.TrimSpace(typed) },
	})
	if errors.Is(err, ErrBack) {
		return false, nil
	}
	return err == nil && answer != "", err
}
