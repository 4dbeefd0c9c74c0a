package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/tui/escape"
)

// DiffView is a difference that is scrolled through and searched. Only the visible
// items are laid out.
type DiffView struct {
	theme         *Theme
	items         []item
	open          []bool   // by item: unfolded
	laid          [][]line // by item, for width; nil: not yet
	width, height int      // of the window in columns and lines
	cursor, top   position // of the selected line, and of the first visible one
	typed         string   // the search as it was typed, "" for none
	query         string   // the same in lower case
	origin        position // of the cursor before the search
	texts         []string // by item: what is searched, in lower case; nil before the first search
	matches       []int    // items in which query occurs
}

// position is a line of an item.
type position struct{ item, line int }

func (p position) before(q position) bool {
	return p.item < q.item || p.item == q.item && p.line < q.line
}

// NewDiffView returns a view of d. It has no size yet.
func NewDiffView(d flat.Difference, th *Theme) *DiffView { return newDiffView(items(d), th) }

// NewFilesView returns a view of how files differ, by path. A value is a text, which is
// compared line by line, or one line that says why there is none.
func NewFilesView(d flat.Difference, th *Theme) *DiffView { return newDiffView(fileItems(d), th) }

func newDiffView(all []item, th *Theme) *DiffView {
	if len(all) == 0 {
		all = []item{{heading: true, key: "nothing"}} // the cursor needs a line
	}
	return &DiffView{theme: th, items: all, open: make([]bool, len(all)), laid: make([][]line, len(all)), width: 1, height: 1}
}

// cursorColumns is the width of the cursor's column, before the lines.
const cursorColumns = 2

// Resize sets the size of the view in columns and lines.
func (l *DiffView) Resize(width, height int) {
	width -= cursorColumns
	if width != l.width {
		clear(l.laid)
		l.width, l.cursor.line, l.top.line = width, 0, 0
	}
	l.height = max(1, height)
	l.reveal()
}

// Press does what a key does in the view, and reports whether it does anything.
func (l *DiffView) Press(key string) bool {
	switch key {
	case "up", "k":
		l.move(-1)
	case "down", "j":
		l.move(1)
	case "pgup":
		l.page(-1)
	case "pgdown":
		l.page(1)
	case "home", "g":
		l.moveTo(position{})
	case "end", "G":
		l.moveTo(l.last())
	case " ":
		l.Toggle()
	case "a":
		l.toggleAll()
	default:
		return false
	}
	return true
}

// lines returns the lines of an item.
func (l *DiffView) lines(i int) []line {
	if l.laid[i] == nil {
		if l.open[i] {
			l.laid[i] = l.items[i].unfolded(l.width)
		} else {
			folded, _ := l.items[i].folded(l.width)
			l.laid[i] = []line{folded}
		}
	}
	return l.laid[i]
}

// advance returns the place n lines further on, or back, as far as there are any.
func (l *DiffView) advance(p position, n int) position {
	for ; n > 0; n-- {
		switch {
		case p.line+1 < len(l.lines(p.item)):
			p.line++
		case p.item+1 < len(l.items):
			p = position{p.item + 1, 0}
		}
	}
	for ; n < 0; n++ {
		switch {
		case p.line > 0:
			p.line--
		case p.item > 0:
			p = position{p.item - 1, len(l.lines(p.item-1)) - 1}
		}
	}
	return p
}

func (l *DiffView) last() position {
	i := len(l.items) - 1
	return position{i, len(l.lines(i)) - 1}
}

// move moves the cursor by n lines.
func (l *DiffView) move(n int) { l.moveTo(l.advance(l.cursor, n)) }

// page moves window and cursor by n windows.
func (l *DiffView) page(n int) {
	l.top = l.advance(l.top, n*l.height)
	l.move(n * l.height)
}

func (l *DiffView) moveTo(p position) {
	l.cursor = p
	l.reveal()
}

// reveal scrolls as little as makes the cursor visible, and leaves no line of
// the window empty that could show something.
func (l *DiffView) reveal() {
	if l.cursor.before(l.top) {
		l.top = l.cursor
	}
	if first := l.advance(l.cursor, 1-l.height); l.top.before(first) {
		l.top = first
	}
	if first := l.advance(l.last(), 1-l.height); first.before(l.top) {
		l.top = first
	}
}

// revealItem scrolls so that as much of the selected item is visible as fits.
func (l *DiffView) revealItem() {
	i := l.cursor.item
	end := position{i, len(l.lines(i)) - 1}
	if first := l.advance(end, 1-l.height); l.top.before(first) {
		l.top = first
	}
	l.reveal()
}

// Toggle folds or unfolds the selected item.
func (l *DiffView) Toggle() {
	i := l.cursor.item
	l.open[i], l.laid[i] = !l.open[i], nil
	l.cursor.line = 0
	if l.top.item == i {
		l.top.line = 0
	}
	l.revealItem()
}

// toggleAll unfolds all items, or folds them where none is folded.
func (l *DiffView) toggleAll() {
	folded := slices.Contains(l.open, false)
	for i := range l.open {
		l.open[i] = folded
	}
	clear(l.laid)
	l.cursor.line, l.top.line = 0, 0
	l.revealItem()
}

// visible calls show with each visible line and the item that it is of.
func (l *DiffView) visible(show func(p position, of *item, shown line)) {
	p := l.top
	for range l.height {
		show(p, &l.items[p.item], l.lines(p.item)[p.line])
		next := l.advance(p, 1)
		if next == p {
			return
		}
		p = next
	}
}

// visibleKeys returns the numbers of the first and the last visible key.
func (l *DiffView) visibleKeys() (first, last int) {
	l.visible(func(_ position, of *item, _ line) {
		if of.number > 0 {
			if first == 0 {
				first = of.number
			}
			last = of.number
		}
	})
	return first, last
}

// StartSearch starts a new search at the cursor.
func (l *DiffView) StartSearch() {
	l.origin = l.cursor
	l.Search("")
}

// Search searches for text from where the search started. "" ends the search.
func (l *DiffView) Search(text string) {
	l.typed = text
	l.find(text, l.origin)
}

// EndSearch ends the search and leaves the cursor where it is.
func (l *DiffView) EndSearch() {
	l.typed = ""
	l.find("", l.cursor)
}

// Query returns the text of the search, "" for none.
func (l *DiffView) Query() string { return l.typed }

// NextMatch goes to the next match, step 1, or to the previous one, step -1.
func (l *DiffView) NextMatch(step int) { l.match(step) }

// find searches keys and values for text, ignoring case, and goes to the first item
// at or after from that contains it; to from when there is none.
func (l *DiffView) find(text string, from position) {
	if l.texts == nil {
		l.texts = make([]string, len(l.items))
		for i := range l.items {
			if it := &l.items[i]; !it.heading {
				l.texts[i] = strings.ToLower(it.key + "\n" + it.from + "\n" + it.to)
			}
		}
	}
	l.query, l.matches = strings.ToLower(text), nil
	if text == "" {
		l.moveTo(from)
		return
	}
	for i, t := range l.texts {
		if strings.Contains(t, l.query) {
			l.matches = append(l.matches, i)
		}
	}
	l.cursor = from
	l.match(0)
	l.reveal()
}

// match goes to the next match, step 1, or to the one before, step -1; step 0
// stays where the cursor is on one already.
func (l *DiffView) match(step int) {
	n := len(l.matches)
	if n == 0 {
		return
	}
	at, on := slices.BinarySearch(l.matches, l.cursor.item) // the first at or after the cursor
	if step < 0 || on {
		at += step
	}
	l.cursor = position{l.matches[(at+n)%n], 0}
	l.revealItem()
}

// matchNumber returns which match the cursor is on, from 1, 0 for none.
func (l *DiffView) matchNumber() int {
	at, on := slices.BinarySearch(l.matches, l.cursor.item)
	if !on {
		return 0
	}
	return at + 1
}

// Lines draws the visible lines, with a mark at the cursor if marked.
func (l *DiffView) Lines(marked bool) []string {
	var lines []string
	l.visible(func(p position, of *item, shown line) {
		style := l.theme.kinds[shown.kind]
		if of.heading {
			style = l.theme.Title
		}
		mark := strings.Repeat(" ", cursorColumns)
		if marked && p == l.cursor {
			mark = l.theme.Accent.Render(">") + " "
		}
		lines = append(lines, mark+l.highlight(style, shown.head)+l.highlight(lipgloss.NewStyle(), shown.text))
	})
	return lines
}

// highlight paints text, and in it the matches of the search.
func (l *DiffView) highlight(style lipgloss.Style, text string) string {
	lower := strings.ToLower(text)
	if l.query == "" || len(lower) != len(text) {
		return style.Render(text)
	}
	var b strings.Builder
	for {
		at := strings.Index(lower, l.query)
		if at < 0 {
			return b.String() + style.Render(text)
		}
		b.WriteString(style.Render(text[:at]) + l.theme.Match.Render(text[at:at+len(l.query)]))
		text, lower = text[at+len(l.query):], lower[at+len(l.query):]
	}
}

// Status describes the search, or else which keys are visible. With typing it ends
// in a cursor behind the search.
func (l *DiffView) Status(typing bool) string {
	found := "not found"
	if n := len(l.matches); n > 0 {
		found = Count(n, "match", "matches")
		if at := l.matchNumber(); at > 0 {
			found = fmt.Sprintf("match %d of %d", at, n)
		}
	}
	switch {
	case typing && l.typed == "":
		return "search: _"
	case typing:
		return fmt.Sprintf("search: %s_  %s", escape.Line(l.typed), found)
	case l.query != "":
		return fmt.Sprintf("%s: %s", escape.Line(l.typed), found)
	case l.top == position{} && l.advance(l.top, l.height-1) == l.last():
		return ""
	}
	first, last := l.visibleKeys()
	what := "keys"
	if l.items[len(l.items)-1].lines {
		what = "files"
	}
	return fmt.Sprintf("%s %d to %d of %d", what, first, last, l.keys())
}

// keys returns the number of keys.
func (l *DiffView) keys() int {
	n := 0
	for i := range l.items {
		n = max(n, l.items[i].number)
	}
	return n
}
