// Package ui asks a person and shows what goes on. Only it imports prompts and tui;
// commands see the interface UI, which package apptest implements, too.
//
// It decides nothing. A question that was interrupted is context.Canceled.
package ui

import (
	"context"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

type (
	// Question is one question.
	Question = prompts.Question
	// Step is a step of a dialog.
	Step = prompts.Step
	// Choice is one of those that a question offers.
	Choice = prompts.Choice
	// Wizard asks for what a new project needs.
	Wizard = prompts.Wizard
	// Given are answers that the wizard need not ask for.
	Given = prompts.Given
	// Answers are what a new project needs.
	Answers = prompts.Answers
	// Preflight is what is known before a project is created.
	Preflight = prompts.Preflight
	// Asked is what the hub says about a project that may be created.
	Asked = prompts.Asked
	// Files are the files of an app.
	Files = prompts.Files
	// Overwrite is the question whether one config replaces another.
	Overwrite = prompts.Overwrite
	// Merge is the question which side of each conflict to take.
	Merge = prompts.Merge
	// Home is what the home view shows.
	Home = prompts.Home
	// Item is a local project of the home view.
	Item = prompts.Item
	// Action is what the home view offers.
	Action = prompts.Action
	// Progress is how far a transfer has come.
	Progress = tui.Progress
	// State is the state of a local project.
	State = tui.State
)

// The states of a local project.
const (
	None     = tui.None
	Same     = tui.Same
	Ahead    = tui.Ahead
	Behind   = tui.Behind
	Diverged = tui.Diverged
	Failed   = tui.Failed
)

var (
	// ErrBack says that the person went back from the first question.
	ErrBack = prompts.ErrBack
	// ErrStop ends a dialog without a failure.
	ErrStop = prompts.ErrStop
)

// YesNo is a question whose preset answer is no.
type YesNo struct {
	Title   string
	Facts   []string // lines above the answers
	Yes, No string   // what they do, such as: Push them
}

// UI is where a command asks and shows what goes on.
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

// Transfer shows how far a transfer has come.
type Transfer interface {
	Update(Progress)
	// Hide takes the line away, at the end and before a question.
	Hide()
}

// Checklist shows the steps of a command.
type Checklist interface {
	Start(step int)
	Update(Progress)
	// End ends the list; problem is a word for why the running step failed, "" if it did not.
	End(problem string)
}

// How values are shown in one line of at most width columns, and numbers with a word.
var (
	Shorten  = tui.Shorten
	Values   = tui.Values
	Conflict = tui.ConflictValues
	Count    = tui.Count
	Bar      = tui.Bar
)
