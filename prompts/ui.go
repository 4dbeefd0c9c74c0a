package prompts

import (
	"context"

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
	Home(ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int) (Action, int, error)

	// Transfer shows progress: to a person who watches, else a line now and then.
	Transfer(watched bool) Transfer
	Checklist(names ...string) Checklist
	// WaitFor shows that a hub is waited for, until answered is called, where nothing else
	// is shown.
	WaitFor(hub string, watched bool) (answered func())

	// Note shows a line below what is going on, until that goes on. It returns false if
	// nothing is shown that it could be below.
	Note(text string) bool

	// Plain reports that questions are lines, and nothing is redrawn.
	Plain() bool
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
