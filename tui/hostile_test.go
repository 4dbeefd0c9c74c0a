package tui_test

import (
	"bytes"
	"strings"
	"testing"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/tuitest"
)

func TestChecklist_EscapesControlCharacters(t *testing.T) {
	for name, text := range tuitest.Hostile {
		t.Run(name, func(t *testing.T) {
			var shown bytes.Buffer
			list := tui.NewChecklist(tui.Terminal{In: strings.NewReader(""), Out: &shown, Plain: true, Columns: 80, Rows: 24}, "step "+text)
			list.Start(0)
			list.End(text)
			tuitest.CheckShown(t, shown.String(), text)
			tuitest.CheckShown(t, strings.TrimPrefix(tui.ChecklistText(80, "step "+text, text), "\r"), text) // which returns to the start of the line
		})
	}
}
