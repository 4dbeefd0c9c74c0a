package tui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func screen(columns, rows int) Screen {
	return Screen{Theme: NewTheme(&bytes.Buffer{}), Columns: columns, Rows: rows}
}

var review = Page{
	Status: "https://hub.test as alice",
	Title:  "Create the project?",
	Facts:  []string{"Project  @alice/web", "Stack    @alice/app latest"},
	Keys:   []string{"enter select", "↑/↓ move", "esc back"},
	Body:   2,
	Least:  2,
}

func TestDraw_LeavesOutEmptyLinesThenFacts(t *testing.T) {
	for rows, want := range map[int]string{
		24: "\n" +
			"  https://hub.test as alice\n" +
			"\n" +
			"  Create the project?\n" +
			"  Project  @alice/web\n" +
			"  Stack    @alice/app latest\n" +
			"\n" +
			"  > Create\n" +
			"    Cancel\n" +
			"\n" +
			"  enter select • ↑/↓ move • esc back",
		8: "  https://hub.test as alice\n" +
			"  Create the project?\n" +
			"  Project  @alice/web\n" +
			"  Stack    @alice/app latest\n" +
			"\n" +
			"  > Create\n" +
			"    Cancel\n" +
			"  enter select • ↑/↓ move • esc back",
		6: "  https://hub.test as alice\n" +
			"  Create the project?\n" +
			"  …\n" +
			"  > Create\n" +
			"    Cancel\n" +
			"  enter select • ↑/↓ move • esc back",
	} {
		s := screen(80, rows)
		if diff := cmp.Diff(want, s.Draw(review, s.Pick(true, "Create"), s.Pick(false, "Cancel"))); diff != "" {
			t.Errorf("in %d rows: %s", rows, diff)
		}
		if _, fits := s.Room(review); fits != (rows > 6) {
			t.Errorf("in %d rows it fits: %t", rows, fits)
		}
	}
}

func TestDraw_AlwaysShowsTheLastKey(t *testing.T) {
	for columns, want := range map[int]string{
		80: "  enter select • ↑/↓ move • esc back", 30: "enter select • esc back", 12: "esc back",
	} {
		drawn := screen(columns, 24).Draw(Page{Title: "Which?", Keys: review.Keys})
		if lines := strings.Split(drawn, "\n"); lines[len(lines)-1] != want {
			t.Errorf("in %d columns the keys are %q, want %q", columns, lines[len(lines)-1], want)
		}
	}
}

func TestDraw_QuietIsWhatIsReadLast(t *testing.T) {
	s := screen(80, 24)
	s.Theme = coloured(t)
	page := review
	page.Off = []string{"esc back"}
	drawn := s.Draw(page)
	const faint, bold, end = "\x1b[2m", "\x1b[1m", "\x1b[0m"
	for _, want := range []string{
		faint + "https://hub.test as alice" + end, bold + "Create the project?" + end,
		faint + "Stack    " + end + "@alice/app latest",
		"enter " + faint + "select" + end, faint + "esc" + end,
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%q is not in\n%q", want, drawn)
		}
	}
}

func TestBeside_KeepsColumns(t *testing.T) {
	got := screen(80, 24).Beside([]string{"web", "shop"}, []string{"one", "two", "three"}, 6)
	want := []string{"web     │  one", "shop    │  two", "        │  three"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
