package apptest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/prompts"
)

// UI answers questions from a list, and remembers what was asked.
type UI struct {
	// Answers are given in turn: yes and no to confirmations, a value or a text to other
	// questions. A question without an answer fails the test.
	Answers []string
	Asked   []string // titles, and the facts below each

	// Meanwhile is called while a question is shown.
	Meanwhile func(title string)

	Items []prompts.Item // of the last home view

	WaitedFor sync.Map     // the hubs
	Pending   atomic.Int32 // requests without an answer

	t testing.TB
}

func (u *UI) answer(title string, facts ...string) string {
	u.t.Helper()
	u.Asked = append(u.Asked, strings.Join(append([]string{title}, facts...), "\n"))
	if u.Meanwhile != nil {
		u.Meanwhile(title)
	}
	if len(u.Answers) == 0 {
		u.t.Errorf("no answer to: %s", title)
		return ""
	}
	answer := u.Answers[0]
	u.Answers = u.Answers[1:]
	return answer
}

// Confirm answers yes or no, or with ctrl-c.
func (u *UI) Confirm(_ context.Context, q prompts.YesNo) (bool, error) {
	answer := u.answer(q.Title, q.Facts...)
	if answer == "ctrl-c" {
		return false, context.Canceled
	}
	return answer == "yes", nil
}

// Choose answers with one of names.
func (u *UI) Choose(_ context.Context, title string, names []string, preset string) (string, error) {
	return u.answer(title, names...), nil
}

// Overwrite answers yes, no or merge, and remembers the changes that were shown.
func (u *UI) Overwrite(_ context.Context, q prompts.Overwrite) (bool, error) {
	facts := append([]string{q.Notice}, q.Facts...)
	for _, c := range q.Difference {
		if c.Sign() == "~" {
			facts = append(facts, fmt.Sprintf("%s: %s -> %s", c.Key, c.From, c.To))
		}
	}
	for _, c := range q.Undone {
		facts = append(facts, "undoes "+c.Key+": "+q.Notes[c.Key])
	}
	answer := u.answer(q.Title, facts...)
	if answer == "merge" {
		return false, prompts.ErrMerge
	}
	return answer == "yes", nil
}

// Merge answers with a letter for each conflict, m or t; with no, it leaves.
func (u *UI) Merge(_ context.Context, q prompts.Merge) ([]flat.Side, error) {
	facts := q.Facts
	for _, c := range q.Conflicts {
		facts = append(facts, fmt.Sprintf("%s: %s | %s | %s", c.Key, c.Base, c.Mine, c.Theirs))
	}
	answer := u.answer(q.Title, facts...)
	if answer == "no" {
		return nil, nil
	}
	var sides []flat.Side
	for _, letter := range answer {
		if letter == 't' {
			sides = append(sides, flat.Theirs)
		} else {
			sides = append(sides, flat.Mine)
		}
	}
	return sides, nil
}

// TypeRef types the answer.
func (u *UI) TypeRef(_ context.Context, title, fact string, r ref.Ref) (bool, error) {
	return u.answer(title, fact) == r.String(), nil
}

// Ask takes the steps as a terminal does, without going back.
func (u *UI) Ask(ctx context.Context, steps ...prompts.Step) error {
	for _, s := range steps {
		if s.Skip != nil && s.Skip() {
			continue
		}
		if s.Load != nil {
			if err := s.Load(ctx); err != nil {
				return err
			}
		}
		if s.Question == nil {
			continue
		}
		q := s.Question()
		answer := u.answer(q.Title, q.Facts...)
		if q.Check != nil {
			if err := q.Check(answer); err != nil {
				return fmt.Errorf("%s: %q: %w", q.Title, answer, err)
			}
		}
		s.Take(answer)
	}
	return nil
}

// AskProject lets the wizard look at the local project, and takes the name of the hub
// project as the answer.
func (u *UI) AskProject(ctx context.Context, w prompts.Wizard, answers *prompts.Answers) error {
	if len(w.Locals) == 0 {
		if err := w.Init(ctx, w.NewLocal); err != nil {
			return err
		}
		answers.Local = w.NewLocal
	}
	found, err := w.Check(ctx, answers.Local)
	if err != nil {
		return err
	}
	if len(found.Versions) == 0 {
		if u.answer("Publish "+found.Stack.String()+" now?") != "yes" {
			return prompts.ErrStop
		}
		if err := w.Publish(ctx, answers.Local); err != nil {
			return err
		}
	}
	if answers.Project, err = ref.ParseTyped(u.answer("What is it called on the hub?")); err != nil {
		return err
	}
	warnings, err := w.Plan(ctx, *answers)
	if err == nil && warnings != nil && u.answer("Push these files?", warnings...) != "yes" {
		err = prompts.ErrStop
	}
	return err
}

// Home answers with the key of an action.
func (u *UI) Home(ctx context.Context, o prompts.Overview) (prompts.Action, int, error) {
	home := o.Load(ctx)
	u.Items = home.Items
	facts := []string{o.Said.Text}
	for _, said := range home.Notices {
		facts = append(facts, said.Text)
	}
	key := u.answer(home.Status, facts...)
	for _, a := range o.Actions {
		if a.Key == key {
			return a, o.Chosen, nil
		}
	}
	return prompts.Action{}, -1, nil
}

// Read remembers the lines, as those of a question that needs no answer.
func (u *UI) Read(_ context.Context, title string, lines []string) error {
	u.Asked = append(u.Asked, strings.Join(append([]string{title}, lines...), "\n"))
	return nil
}

// Transfer remembers the phases that are shown.
func (u *UI) Transfer(bool) prompts.Transfer { return app.NoTransfer{} }

// Checklist remembers the steps that are shown.
func (u *UI) Checklist(names ...string) prompts.Checklist { return checklist{} }

// WaitFor remembers which hubs were waited for, and counts the requests without an answer.
func (u *UI) WaitFor(hub string, _ bool) (answered func()) {
	u.WaitedFor.Store(hub, true)
	u.Pending.Add(1)
	return func() { u.Pending.Add(-1) }
}

// Note shows nothing.
func (u *UI) Note(string) bool { return false }

// Drawing reports that no view is on the terminal.
func (u *UI) Drawing() bool { return false }

// AllowBack does nothing.
func (u *UI) AllowBack(bool) {}

type checklist struct{ app.NoTransfer }

func (checklist) Start(int)  {}
func (checklist) End(string) {}
