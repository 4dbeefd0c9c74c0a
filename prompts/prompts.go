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
	"slices"
	"strings"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/tui"
)

// UI is where a command asks and shows its progress: a [Terminal], or a test. The error of
// an interrupted question is [context.Canceled].
type UI interface {
	// Confirm asks a question whose preset answer is no.
	Confirm(ctx context.Context, q YesNo) (bool, error)
	// Choose returns one of names.
	Choose(ctx context.Context, title string, names []string, preset string) (string, error)
	// Overwrite shows a difference, and asks whether it is wanted.
	Overwrite(ctx context.Context, q Overwrite) (bool, error)
	// Merge returns the side of each conflict, nil if the user leaves.
	Merge(ctx context.Context, q Merge) ([]flat.Side, error)
	// TypeRef asks for r to be typed in full.
	TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error)
	// Ask takes steps in turn, between which the user can go back.
	Ask(ctx context.Context, steps ...Step) error
	// AskProject asks for the answers that a new project needs and that were not given.
	AskProject(ctx context.Context, w Wizard, answers *Answers) error
	// Home shows the local projects until the user chooses an action.
	Home(ctx context.Context, o Overview) (Action, int, error)
	// Read shows lines until the user leaves.
	Read(ctx context.Context, title string, lines []string) error

	// Transfer shows progress: redrawn if a user watches, else a line at intervals.
	Transfer(watched bool) Transfer
	// Checklist shows the steps of a command by their names.
	Checklist(names ...string) Checklist
	// WaitFor shows that the command waits for a hub, until answered is called. It shows
	// nothing while a view or a transfer is shown.
	WaitFor(hub string, watched bool) (answered func())

	// Note shows text below the line of progress, until there is new progress. It returns
	// false if no progress is shown.
	Note(text string) bool

	// Drawing reports whether a view is on the terminal. Other lines would damage it.
	Drawing() bool
	// AllowBack lets the user go back from the first question. Its error is then ErrBack.
	AllowBack(allow bool)
}

// YesNo is a question whose preset answer is no.
type YesNo struct {
	Title string
	Facts []string // lines above the answers
	Yes   string   // what that answer does, such as: Push them; the other one is Cancel
}

// Transfer shows how far a transfer has come.
type Transfer interface {
	Update(tui.Progress)
	// Hide takes the progress off the screen, at the end and before a question.
	Hide()
}

// Checklist shows the steps of a command.
type Checklist interface {
	// Start starts a step by its index. The step that ran before is done.
	Start(step int)
	// Update shows progress in place of the running step.
	Update(tui.Progress)
	// End ends the list. problem is a word for why the running step failed, "" if it is done.
	End(problem string)
}

// ErrBack says that the user went back from the first question.
var ErrBack = errors.New("went back")

// TypeRef asks for r to be typed in full. Escape and an empty answer are a no.
func (t *Terminal) TypeRef(ctx context.Context, title, fact string, r ref.Ref) (bool, error) {
	answer := ""
	valid := []string{"", r.String(), r.Path()}
	prompt := fmt.Sprintf("Type %s to delete it. Esc cancels.", r)
	if t.IsPlain {
		prompt = fmt.Sprintf("Type %s to delete it; an empty answer cancels", r)
	}
	err := t.askOrCancel(ctx, Step{
		Question: func() Question {
			return Question{
				Title:     title,
				Facts:     []string{fact},
				Prompt:    prompt,
				CheckLast: true,
				Check: func(typed string) error {
					if !slices.Contains(valid, strings.TrimSpace(typed)) {
						return fmt.Errorf("that is not %s", r)
					}
					return nil
				},
			}
		},
		Take: func(typed string) { answer = strings.TrimSpace(typed) },
	})
	return err == nil && answer != "", err
}
