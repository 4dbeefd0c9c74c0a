package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Screen is the terminal that views are drawn on.
type Screen struct {
	*Theme
	Columns, Rows int
}

// Page is what a view shows around its body.
type Page struct {
	Status string   // the hub and the identity; one that starts with ! is a warning
	Title  string   // the question, or what is shown
	Facts  []string // what a user has to know; a value behind a label and two spaces has a column of its own
	Notice string   // what a user should notice first, "" for nothing
	Keys   []string // each with what it does, such as: enter select. The last one is always shown
	Off    []string // those of Keys that are disabled
	Body   int      // how many lines the body has
	Least  int      // how many of them must be shown for the page to be of use
}

// The layout of a page, and the size of a terminal below which it is without margins, or empty lines.
const (
	margin           = 2
	columnsForMargin = 60
	rowsForGaps      = 20
	maxProse         = 80 // columns of a line of text
)

func (s Screen) margin() int {
	if s.Columns < columnsForMargin {
		return 0
	}
	return margin
}

// Width is how many columns a line has. The last column of the terminal stays free: erasing
// the rest of a full line would erase its last character.
func (s Screen) Width() int { return max(1, s.Columns-max(1, 2*s.margin())) }

// frame is what a page has above and below its body.
type frame struct {
	above, below []string
	rows         int  // for the body
	fits         bool // all facts are shown, and Least lines of the body
}

// frame lays out a page. If the terminal has too few rows, empty lines are left out first, and then facts.
func (s Screen) frame(p Page) frame {
	prose := min(s.Width(), maxProse)
	status := s.status(p.Status)
	title := s.lines(Heading, p.Title, prose)
	facts := s.Facts(p.Facts, prose)
	notice := s.lines(Warned, p.Notice, prose)
	keys := s.keys(p)
	free := s.Rows - len(status) - len(title) - len(notice) - len(keys) - p.Least
	fits := len(facts) <= free
	if !fits {
		facts = facts[:max(0, free)]
	}
	if n := len(facts); !fits && n > 0 {
		facts[n-1] = ellipsis
	}
	free -= len(facts)
	head := slices.Concat(title, facts, notice)

	moreBody := max(0, p.Body-p.Least) // lines of the body beyond Least
	reserved := 0                      // rows that no gap may take
	if s.Rows < rowsForGaps {
		reserved = moreBody
	}
	// gap returns an empty line next to part, if part is shown and a row is free.
	gap := func(part []string) []string {
		if len(part) == 0 || free <= reserved {
			return nil
		}
		free--
		return []string{""}
	}
	// If not all gaps fit, the first ones of these are shown.
	belowHead := gap(head)
	aboveKeys := gap(keys)
	belowStatus := gap(status)
	top := gap(head)
	return frame{
		above: slices.Concat(top, status, belowStatus, head, belowHead),
		below: slices.Concat(aboveKeys, keys),
		rows:  max(0, p.Least+min(free, moreBody)),
		fits:  fits,
	}
}

// Room returns how many lines of a page's body fit, and whether all facts and Least lines do.
func (s Screen) Room(p Page) (rows int, fits bool) {
	f := s.frame(p)
	return f.rows, f.fits
}

// Draw draws a page. The body has as many lines as Room says, or fewer.
func (s Screen) Draw(p Page, body ...string) string {
	f := s.frame(p)
	lines := slices.Concat(f.above, body, f.below)
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", s.margin()) + line
		}
	}
	return strings.Join(lines, "\n")
}

func (s Screen) status(status string) []string {
	if status == "" {
		return nil
	}
	role := Quiet
	if strings.HasPrefix(status, "!") {
		role = Warned
	}
	return []string{s.Paint(role, Shorten(status, s.Width()))}
}

// lines wraps a text and paints it; "" has no line.
func (s Screen) lines(role Role, text string, width int) []string {
	if text == "" {
		return nil
	}
	lines := Wrap(text, width)
	for i := range lines {
		lines[i] = s.Paint(role, lines[i])
	}
	return lines
}

// Facts returns facts in lines of at most width columns, with quiet labels.
func (s Screen) Facts(facts []string, width int) []string {
	var lines []string
	for _, fact := range facts {
		for _, line := range Wrap(fact, width) {
			label := valueLabel.FindString(line)
			lines = append(lines, s.Paint(Quiet, label)+line[len(label):])
		}
	}
	return lines
}

// Says returns a sentence behind a glyph, in lines of at most width columns.
func (s Screen) Says(state State, text string, width int) []string {
	lines := Wrap(text, max(1, width-len("x ")))
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	lines[0] = s.Glyph(state) + lines[0][1:]
	return lines
}

// Busy returns the line of something that runs, with a spinner.
func (s Screen) Busy(doing string) string {
	return s.Spinner() + " " + Shorten(doing, s.Width()-len("x "))
}

// Pick marks a line of a list that is selected, and indents one that is not.
func (s Screen) Pick(selected bool, line string) string {
	if selected {
		return s.Paint(Accent, ">") + " " + line
	}
	return "  " + line
}

// Beside draws two columns with a line between them, the left one of the given width.
func (s Screen) Beside(left, right []string, width int) []string {
	var lines []string
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		blank := strings.Repeat(" ", max(0, width-lipgloss.Width(l)))
		lines = append(lines, strings.TrimRight(l+blank+"  "+s.Paint(Quiet, "│")+"  "+r, " "))
	}
	return lines
}

// Fitting joins in one line the last part, and as many of those before it as fit.
func (s Screen) Fitting(parts ...string) string {
	return strings.Join(s.fitting(parts), separator)
}

func (s Screen) fitting(parts []string) []string {
	parts = slices.Clone(parts)
	for n := len(parts); n > 1 && lipgloss.Width(strings.Join(parts, separator)) > s.Width(); n-- {
		parts = slices.Delete(parts, n-2, n-1)
	}
	if n := len(parts); n > 0 {
		parts[n-1] = Shorten(parts[n-1], s.Width())
	}
	return parts
}

func (s Screen) keys(p Page) []string {
	if len(p.Keys) == 0 {
		return nil
	}
	keys := s.fitting(p.Keys)
	for i, text := range keys {
		key, does, _ := strings.Cut(text, " ")
		if slices.Contains(p.Off, text) {
			key = s.Paint(Quiet, key)
		}
		keys[i] = key + " " + s.Paint(Quiet, does)
	}
	return []string{strings.Join(keys, s.Paint(Quiet, separator))}
}

const separator = " • "
