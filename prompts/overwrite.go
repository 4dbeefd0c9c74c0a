package prompts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// Overwrite is the question whether one config, or set of files, replaces another.
type Overwrite struct {
	Title      string   // the question, such as: Overwrite the config of @acme/web?
	Facts      []string // what a user has to know to answer: who wrote what is overwritten
	Notice     string   // what has changed since the question was asked before, "" for nothing
	Yes        string   // what the answer yes does, such as: Overwrite it
	Difference flat.Difference
	Files      bool // the keys of the difference are paths of files, and its values are texts

	Undone   flat.Difference   // edits of others that the answer yes undoes
	Notes    map[string]string // by key of Undone: who wrote it, and when
	Harmless bool              // in lines, yes is the preset answer
}

// The answer m, and what it does first.
const (
	merge      = "m"
	mergeFirst = "Merge"
)

// ErrMerge is the answer that others' edits are to be merged first.
var ErrMerge = errors.New("merge first")

// rows lists what yes changes, with others' edits apart.
func (q *Overwrite) rows() []tui.Row {
	rows := tui.Rows(q.Difference, q.Files)
	if q.Undone.Empty() {
		return rows
	}
	undone := tui.Section("Edits undone", tui.Rows(q.Undone, q.Files), q.Notes)
	if q.Difference.Empty() {
		return undone
	}
	return slices.Concat(undone, tui.Section("Your changes", rows, nil))
}

// Overwrite asks q, in lines if the terminal is plain or too small for a view. The answer is no
// unless the user says yes explicitly. The error is [tui.ErrInterrupted], that of ctx, or, where
// something is undone, [ErrMerge].
func (t *Terminal) Overwrite(ctx context.Context, q Overwrite) (bool, error) {
	p := t.prompter()
	m := newOverwriteView(p, q)
	if p.Plain || !m.fits() {
		return p.overwritePlain(ctx, q, m.diff)
	}
	answer, err := p.run(ctx, m, &m.view)
	if answer == mergeGiven {
		return false, ErrMerge
	}
	return answer == yesGiven, err
}

// How much of a difference is shown in lines, until the user has all of it listed.
const (
	plainKeys  = 12 // keys
	plainWidth = 60 // columns of each value
)

// overwritePlain asks in lines: the counts and the first keys in words, then the answers.
func (p prompter) overwritePlain(ctx context.Context, q Overwrite, diff []tui.Row) (bool, error) {
	facts := slices.Clone(q.Facts)
	if q.Notice != "" {
		facts = append(facts, q.Notice)
	}
	if q.Undone.Empty() { // else each section says how many it has
		facts = append(facts, tui.Counts(q.Difference)+".")
	}
	sentences := tui.Sentences(diff, plainWidth)
	more := len(sentences) - plainKeys
	facts = append(facts, sentences[:min(len(sentences), plainKeys)]...)
	if more > 0 {
		facts = append(facts, fmt.Sprintf("and %d more.", more))
	}
	question := Question{
		Title:   q.Title,
		Facts:   facts,
		Choices: []Choice{{yes, q.Yes}, {no, Cancel}},
		Preset:  no,
	}
	if q.Harmless {
		question.Preset = yes
	}
	if !q.Undone.Empty() {
		question.Choices = slices.Insert(question.Choices, 1, Choice{merge, mergeFirst})
	}
	answer, err := p.choosePlain(ctx, question, func() []string { return tui.Sentences(diff, 0) })
	if err == nil && answer == merge {
		return false, ErrMerge
	}
	return answer == yes, err
}

// overwriteView is the state of the view. It stays quick with many rows, because a folded row
// is known to take one line, which is laid out only when it is in sight.
type overwriteView struct {
	view
	question Overwrite
	diff     []tui.Row
	open     []bool // by row of diff: whether it is unfolded
	row      int    // index in diff of the selected row
	ready    bool   // the question can be answered; see readyAfter

	filter string // the list has the rows that contain it
	typing bool   // keys go to the filter

	// What layout computes of the fields above and the size of the terminal.
	lines      []listed // of the list
	keys       int      // in the list, without the headings
	unfiltered int      // lines of the list when it had no filter
}

type listed struct {
	row  int         // index in diff
	line tui.RowLine // of an unfolded row
}

func newOverwriteView(p prompter, q Overwrite) *overwriteView {
	diff := q.rows()
	m := &overwriteView{
		view:     newView(p),
		question: q,
		diff:     diff,
		open:     make([]bool, len(diff)),
		ready:    q.Notice == "",
	}
	m.layout()
	return m
}

// readyAfter is how long a repeated question takes no answer. A key that was pressed before
// was meant for the last question, which had another difference.
const readyAfter = 300 * time.Millisecond

// ready is sent when a repeated question can be answered.
type ready struct{}

func (m *overwriteView) Init() tea.Cmd {
	if m.ready {
		return nil
	}
	return tea.Tick(readyAfter, func(time.Time) tea.Msg { return ready{} })
}

func (m *overwriteView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	quit := m.update(msg, m.key)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.layout()
	case ready:
		m.ready = true
	case tea.KeyMsg:
		if msg.Paste && m.typing {
			m.find(m.filter + string(msg.Runes))
		}
	}
	return m, quit
}

func (m *overwriteView) key(name string) tea.Cmd {
	switch {
	case !m.ready:
		return nil
	case m.typing:
		m.edit(name)
		return nil
	case name == "esc" && m.filter != "":
		m.find("")
		return nil
	}
	switch name {
	case "y":
		if m.fits() { // nobody says yes to a difference that is not in sight
			return m.end(yesGiven)
		}
	case "n", "q", "esc":
		return m.end(noGiven)
	case "m":
		if !m.question.Undone.Empty() {
			return m.end(mergeGiven)
		}
	case "enter", " ":
		if m.pick() {
			m.open[m.row] = !m.open[m.row]
			m.layout()
		}
	case "a":
		someFolded := slices.Contains(m.open, false)
		for i := range m.open {
			m.open[i] = someFolded
		}
		m.layout()
	case "/":
		m.typing = true
		m.find("")
	default:
		m.move(name, len(m.lines), m.height())
		m.pick()
	}
	return nil
}

// pick selects the row of the line at the cursor. It returns false if the list is empty.
func (m *overwriteView) pick() bool {
	if m.at < len(m.lines) {
		m.row = m.lines[m.at].row
	}
	return len(m.lines) > 0
}

// edit handles a key while the filter is typed.
func (m *overwriteView) edit(name string) {
	switch name {
	case "enter", "up", "down":
		m.typing = false
		m.pick()
	case "esc":
		m.typing = false
		m.find("")
	case "ctrl+u":
		m.find("")
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.filter)
		m.find(m.filter[:len(m.filter)-size])
	default:
		isCharacter := utf8.RuneCountInString(name) == 1
		if isCharacter {
			m.find(m.filter + name)
		}
	}
}

func (m *overwriteView) find(text string) {
	m.filter = text
	m.top = 0
	m.layout()
}

// cursorColumns is the width of the cursor's column, before the lines.
const cursorColumns = 2

// layout lists the lines of the rows that the filter finds. The cursor goes to the selected
// row, or to the next key that is found.
func (m *overwriteView) layout() {
	found, keys := tui.Find(m.diff, m.filter)
	cursor, _ := slices.BinarySearch(found, m.row) // index in found
	if m.filter != "" && cursor < len(found) && m.diff[found[cursor]].Heading {
		cursor++
	}
	cursor = min(cursor, len(found)-1)

	m.lines = m.lines[:0]
	m.keys = keys
	m.at = 0
	last := 0 // line of the selected row
	for i, row := range found {
		first := len(m.lines)
		if m.open[row] {
			for _, line := range m.diff[row].Lines(m.Width()-cursorColumns, true) {
				m.lines = append(m.lines, listed{row: row, line: line})
			}
		} else {
			m.lines = append(m.lines, listed{row: row})
		}
		if i == cursor {
			m.at = first
			last = len(m.lines) - 1
		}
	}
	if m.filter == "" {
		m.unfiltered = len(m.lines)
	}
	m.reveal(last, len(m.lines), m.height())
}

const (
	aroundList = 3 // lines of the body: the state above the list, the answers and an empty line below it
	minLines   = 2 // of the list, without which the view does not fit
)

func (m *overwriteView) page() tui.Page {
	return tui.Page{
		Status: m.status,
		Title:  m.question.Title,
		Facts:  m.question.Facts,
		Notice: m.question.Notice,
		Keys:   m.help(),
		Body:   m.unfiltered + aroundList,
		Least:  minLines + aroundList,
	}
}

func (m *overwriteView) fits() bool {
	_, fits := m.Room(m.page())
	return fits && m.Width() >= lipgloss.Width(m.answers())
}

// height is how many lines of the list are in sight.
func (m *overwriteView) height() int {
	rows, _ := m.Room(m.page())
	return max(1, rows-aroundList)
}

func (m *overwriteView) View() string {
	switch {
	case m.answer != unanswered:
		return ""
	case !m.fits():
		return m.tooSmall()
	}
	height := min(m.unfiltered, m.height()) // with a filter, too: the answers stay in their place
	list := make([]string, height)
	end := min(len(m.lines), m.top+height)
	for i := m.top; i < end; i++ {
		list[i-m.top] = m.line(i)
	}
	return m.Draw(m.page(), slices.Concat([]string{m.state(end)}, list, []string{"", m.answers()})...)
}

func (m *overwriteView) line(i int) string {
	l := m.lines[i]
	if !m.open[l.row] {
		l.line = m.diff[l.row].Lines(m.Width()-cursorColumns, false)[0]
	}
	return m.Pick(i == m.at, l.line.Paint(m.Theme, m.filter))
}

// state counts the changes, or says what the filter finds, and which lines are in sight.
func (m *overwriteView) state(end int) string {
	q := m.question
	var parts []string
	if end-m.top < len(m.lines) {
		parts = append(parts, fmt.Sprintf("lines %d to %d of %d", m.top+1, end, len(m.lines)))
	}
	if m.typing || m.filter != "" {
		filter := escape.Line(m.filter)
		if m.typing {
			filter += "_"
		}
		what := "keys"
		if q.Files {
			what = "files"
		}
		found := fmt.Sprintf("filter: %s  %d of %d %s", filter, m.keys, len(q.Difference)+len(q.Undone), what)
		return m.Fitting(append(parts, found)...)
	}
	count := tui.Counts(q.Difference)
	if !q.Undone.Empty() { // its sections count
		count = tui.Count(len(q.Undone), "edit", "edits") + " undone, " +
			tui.Count(len(q.Difference), "change", "changes") + " of yours"
	}
	return m.Paint(tui.Quiet, m.Fitting(slices.Insert(parts, 0, count)...))
}

// answers returns the line of the answers, with their keys in brackets while they do something.
func (m *overwriteView) answers() string {
	answers := []struct{ key, text string }{{"y", m.question.Yes}, {"m", mergeFirst}, {"n", Cancel}}
	between := "  "
	if m.question.Undone.Empty() {
		answers = slices.Delete(answers, 1, 2)
		between = "   "
	}
	parts := make([]string, len(answers))
	for i, a := range answers {
		key := " " + a.key + " "
		if m.ready && !m.typing {
			key = m.Paint(tui.Heading, "["+a.key+"]")
		}
		parts[i] = key + " " + a.text
	}
	return strings.Join(parts, between)
}

// help names the other keys that do something now.
func (m *overwriteView) help() []string {
	switch {
	case m.typing:
		return []string{"enter keep the filter", "esc show all"}
	case m.filter != "":
		return []string{"↑/↓ move", "enter unfold", "/ filter", "esc show all"}
	}
	return []string{"↑/↓ move", "enter unfold", "a unfold all", "/ filter"}
}
