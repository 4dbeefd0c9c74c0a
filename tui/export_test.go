package tui

import (
	"io"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/projecthub/tui/escape"
)

// View is the view that asks an overwrite question.
type View struct{ *overwrite }

// NewView returns the view of q in a terminal of the given size. It is in colours
// when CLICOLOR_FORCE says so.
func NewView(q Overwrite, columns, rows int) View {
	return View{newOverwrite(q, newTheme(io.Discard), columns, rows)}
}

// Answer returns whether the view has its answer, and which.
func (v View) Answer() (given, yes bool) { return v.answer != none, v.answer == yesGiven }

// Fits reports whether the view asks in a terminal of its size.
func (v View) Fits() bool { return v.fits() }

// Send gives the view messages and returns what the last one asks for.
func (v View) Send(messages ...tea.Msg) (last tea.Cmd) {
	for _, msg := range messages {
		_, last = v.Update(msg)
	}
	return last
}

// Looked is the message that a question which came back was looked at.
var Looked tea.Msg = looked{}

// Element is one by which two arrays differ.
type Element struct {
	Kind     string
	Index    int
	From, To string
}

// Elements compares two arrays.
func Elements(from, to string) (all []Element, ok bool) {
	found, ok := elements(from, to)
	for _, e := range found {
		all = append(all, Element{e.kind.word(), e.index, e.from, e.to})
	}
	return all, ok
}

var (
	Wrap    = wrap
	Shorten = shorten
)

// HomeText returns a home view as it is shown while it loads again.
func HomeText(h Home, doing string, columns, rows int) string {
	m := &homeView{Home: h, doing: doing, theme: newTheme(io.Discard), columns: columns, rows: rows, loading: true}
	return m.View()
}

// ChecklistText returns a checklist of one step that has failed.
func ChecklistText(columns int, step, problem string) string {
	m := newChecklist(newTheme(io.Discard), columns, []string{step})
	m.problem = escape.Line(problem) // as End has it
	return m.View()
}
