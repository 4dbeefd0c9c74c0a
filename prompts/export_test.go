package prompts

import (
	"context"
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui"
)

// Draw returns a question as a form shows it, with a remark or a rejection of what is
// typed, and what is shown before.
func Draw(t tui.Terminal, q Question, doing, remark string, rejected error) (loading, shown string) {
	d := newDialog(nil, prompter{Terminal: t, status: doing}, []Step{{Doing: doing}})
	d.at = 0
	loading = d.View()
	f := newForm(q, d.screen, d.prompter.status, true)
	if cmd := f.build(); cmd != nil {
		f.update(cmd())
	}
	f.found(remark, rejected)
	return loading, f.String()
}

// Press shows q, presses keys, and returns the answer, "" for none.
func Press(q Question, keys ...tea.KeyMsg) (answer string) {
	t := tui.Terminal{Out: io.Discard, Columns: 80, Rows: 24}
	d := newDialog(context.Background(), prompter{Terminal: t}, []Step{{
		Question: func() Question { return q }, Take: func(taken string) { answer = taken },
	}})
	d.Update(begin{})
	for _, key := range keys {
		d.Update(key)
	}
	return answer
}

// LoadTwice goes back while the second of two steps loads, answers the first one again, and lets the first
// Load end only then. It returns the question that is shown before the second Load has ended, "" for none.
func LoadTwice(first, second Step) (shown string) {
	t := tui.Terminal{Out: io.Discard, Columns: 80, Rows: 24}
	d := newDialog(context.Background(), prompter{Terminal: t}, []Step{first, second})
	d.Update(begin{})
	d.next()
	outdated := loaded{edit: d.edit}
	d.Update(tea.KeyMsg{Type: tea.KeyEsc})
	d.next()
	d.Update(outdated)
	if d.form == nil {
		return ""
	}
	return d.form.Title
}

// Typed returns the answer to a question in whose form text is typed.
func Typed(t tui.Terminal, q Question, text string) (answer string) {
	f := newForm(q, prompter{Terminal: t}.screen(), "", false)
	f.update(f.build()())
	f.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
	return f.answer(f.value)
}

// On returns what asks at a terminal.
func On(t tui.Terminal) *Terminal {
	return &Terminal{
		In: t.In, Out: t.Out, IsPlain: t.Plain,
		Size:   func() (columns, rows int) { return t.Columns, t.Rows },
		Status: func() string { return "" },
	}
}

func size(columns, rows int) prompter {
	return prompter{Terminal: tui.Terminal{Out: io.Discard, Columns: columns, Rows: rows}}
}

// View is the view that asks an overwrite question.
type View struct{ *overwriteView }

// NewView returns the view of q in a terminal of the given size. It is in colours
// when CLICOLOR_FORCE says so.
func NewView(q Overwrite, columns, rows int) View {
	return View{newOverwriteView(size(columns, rows), q)}
}

// Answer returns whether the view has its answer, and which.
func (v View) Answer() (given, yes bool) { return v.answer != unanswered, v.answer == yesGiven }

// Margin is the empty space before each line.
func (v View) Margin() string { return strings.Repeat(" ", (v.Columns-v.Width())/2) }

// Fits reports whether the view fits into a terminal of its size.
func (v View) Fits() bool { return v.fits() }

// Send gives the view messages and returns what the last one asks for.
func (v View) Send(messages ...tea.Msg) (last tea.Cmd) {
	for _, msg := range messages {
		_, last = v.Update(msg)
	}
	return last
}

// Ready is the message that a repeated question can be answered.
var Ready tea.Msg = ready{}

// MergeView is the view that asks which side of each conflict to take.
type MergeView struct{ *mergeView }

// NewMergeView returns the view of q in a terminal of the given size.
func NewMergeView(q Merge, columns, rows int) MergeView {
	return MergeView{newMergeView(size(columns, rows), q)}
}

// Send gives the view messages, and returns the sides once it has its answer.
func (v MergeView) Send(messages ...tea.Msg) (sides []flat.Side, ended bool) {
	for _, msg := range messages {
		v.Update(msg)
	}
	if v.answer == yesGiven {
		return v.sides, true
	}
	return nil, v.answer == noGiven
}

// HomeText returns a home view as it is shown while it loads again.
func HomeText(h Home, doing string, columns, rows int) string {
	m := &homeView{view: newView(size(columns, rows)), Home: h, Overview: Overview{Doing: doing}, loads: 1}
	return m.View()
}
