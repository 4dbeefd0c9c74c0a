package tui

import (
	"io"

	"example.com/projecthub/tui/escape"
)

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
	WrapValue    = wrap
	ShortenValue = shorten
)

// ChecklistText returns a checklist of one step that has failed.
func ChecklistText(columns int, step, problem string) string {
	m := newChecklist(NewTheme(io.Discard), columns, []string{step})
	m.problem = escape.Line(problem) // as End has it
	return m.View()
}
