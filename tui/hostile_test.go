package tui_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/projecthub/tui"
	"example.com/projecthub/tui/tuitest"
)

func TestChecklist_EscapesControlCharacters(t *testing.T) {
	for name, text := range tuitest.Hostile {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var drawn bytes.Buffer
				said := ""
				for _, line := range []*tui.Line{
					tui.NewLine(&drawn, func() int { return 80 }),
					tui.NewLines(time.Minute, 0, func(line string) { said += line }),
				} {
					list := tui.NewChecklist(line, "step "+text)
					list.Start(0)
					time.Sleep(time.Second) // of the test's own clock
					line.Note(text)
					time.Sleep(time.Second)
					list.Update(tui.Progress{Phase: text})
					time.Sleep(time.Second)
					list.End(text)
				}
				moves := strings.NewReplacer("\r", "", "\x1b[J", "", "\x1b[K", "", "\x1b[A", "") // of the line itself
				tuitest.CheckShown(t, moves.Replace(drawn.String()), text)
				tuitest.CheckShown(t, said, text)
				if !strings.Contains(drawn.String(), "step ") || !strings.Contains(said, "step ") {
					t.Errorf("it shows %q and says %q", drawn.String(), said)
				}
			})
		})
	}
}
