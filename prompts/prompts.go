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

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/tui"
)

// UI is where a command asks and shows what goes on: a [Terminal], or a test. An
// interrupted question is [context.Canceled].
type UI interface {
	Confirm(ctx context.Context, q YesNo) (bool, error)
	Choose(ctx context.Context, title string, names []string, preset string) (string, error)
	Overwrite(ctx context.Context, q Overwrite) (bool, error)
	// Merge returns the side of each conflict, nil if the person leaves.
	Merge(ctx context.Context, q Merge) ([]flat.Side, error)
	TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error)
	Ask(ctx context.Context, steps ...Step) error
	// AskBelow takes one step and leaves in sight what was printed before.
	AskBelow(ctx context.Context, step Step) error
	AskProject(ctx context.Context, w Wizard, answers *Answers) error
	Home(
		ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int,
	) (Action, int, error)

	// Transfer shows progress: to a person who watches, else a line now and then.
	Transfer(watched bool) Transfer
	Checklist(names ...string) Checklist
	// WaitFor shows that a hub is waited for, until answered is called, where nothing else
	// is shown.
	WaitFor(hub string, watched bool) (answered func())

	// Note shows a line below what is going on, until that goes on. It returns false if
	// nothing is shown that it could be below.
	Note(text string) bool

	// Drawing reports that a view is on the terminal, which other lines would damage.
	Drawing() bool
	// AllowBack lets a person go back from the first question, which then returns ErrBack.
	AllowBack(allow bool)
}

// YesNo is a question whose preset answer is no.
type YesNo struct {
	Title   string
	Facts   []string // lines above the answers
	Yes, No string   // what they do, such as: Push them
}

// Transfer shows how far a transfer has come.
type Transfer interface {
	Update(tui.Progress)
	// Hide takes the line away, at the end and before a question.
	Hide()
}

// Checklist shows the steps of a command.
type Checklist interface {
	Start(step int)
	Update(tui.Progress)
	// End ends the list; problem is a word for why the running step failed, "" if it did not.
	End(problem string)
}

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
