package tui

import (
	"slices"
	"strings"
)

// list is what one scrolls through: items, of which only those in sight are laid
// out.
type list struct {
	items         []item
	open          []bool   // by item: unfolded
	laid          [][]line // by item, for width; nil: not yet
	width, height int      // of the window in columns and lines
	cursor, top   place    // of the selected line, and of the first one in sight
	query         string   // that is looked for, "" for none
	texts         []string // by item: what is searched, in lower case; nil before the first search
	matches       []int    // items in which query occurs
}

// place is a line of an item.
type place struct{ item, line int }

func (p place) before(q place) bool {
	return p.item < q.item || p.item == q.item && p.line < q.line
}

func newList(all []item) *list {
	if len(all) == 0 {
		all = []item{{heading: true, key: "nothing"}} // a list has a line for the cursor
	}
	return &list{items: all, open: make([]bool, len(all)), laid: make([][]line, len(all)), width: 1, height: 1}
}

// resize gives the window another size.
func (l *list) resize(width, height int) {
	if width != l.width {
		clear(l.laid)
		l.width, l.cursor.line, l.top.line = width, 0, 0
	}
	l.height = max(1, height)
	l.reveal()
}

// lines returns the lines of an item.
func (l *list) lines(i int) []line {
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
func (l *list) advance(p place, n int) place {
	for ; n > 0; n-- {
		switch {
		case p.line+1 < len(l.lines(p.item)):
			p.line++
		case p.item+1 < len(l.items):
			p = place{p.item + 1, 0}
		}
	}
	for ; n < 0; n++ {
		switch {
		case p.line > 0:
			p.line--
		case p.item > 0:
			p = place{p.item - 1, len(l.lines(p.item-1)) - 1}
		}
	}
	return p
}

func (l *list) last() place {
	i := len(l.items) - 1
	return place{i, len(l.lines(i)) - 1}
}

// move moves the cursor by n lines.
func (l *list) move(n int) { l.moveTo(l.advance(l.cursor, n)) }

// page moves window and cursor by n windows.
func (l *list) page(n int) {
	l.top = l.advance(l.top, n*l.height)
	l.move(n * l.height)
}

func (l *list) moveTo(p place) {
	l.cursor = p
	l.reveal()
}

// reveal scrolls as little as brings the cursor in sight, and leaves no line of
// the window empty that could show something.
func (l *list) reveal() {
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

// revealItem brings as much of the selected item in sight as there is room for.
func (l *list) revealItem() {
	i := l.cursor.item
	end := place{i, len(l.lines(i)) - 1}
	if first := l.advance(end, 1-l.height); l.top.before(first) {
		l.top = first
	}
	l.reveal()
}

// toggle folds or unfolds the selected item.
func (l *list) toggle() {
	i := l.cursor.item
	l.open[i], l.laid[i] = !l.open[i], nil
	l.cursor.line = 0
	if l.top.item == i {
		l.top.line = 0
	}
	l.revealItem()
}

// toggleAll unfolds all items, or folds them where none is folded.
func (l *list) toggleAll() {
	folded := slices.Contains(l.open, false)
	for i := range l.open {
		l.open[i] = folded
	}
	clear(l.laid)
	l.cursor.line, l.top.line = 0, 0
	l.revealItem()
}

// visible calls show with each line in sight and the item that it is of.
func (l *list) visible(show func(p place, of *item, shown line)) {
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

// keysInSight returns the numbers of the first and the last key in sight.
func (l *list) keysInSight() (first, last int) {
	l.visible(func(_ place, of *item, _ line) {
		if of.number > 0 {
			if first == 0 {
				first = of.number
			}
			last = of.number
		}
	})
	return first, last
}

// find looks for text, whether in capitals or not, in keys and values, and goes
// to the first item at or after from that has it; to from when there is none.
func (l *list) find(text string, from place) {
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
func (l *list) match(step int) {
	n := len(l.matches)
	if n == 0 {
		return
	}
	at, on := slices.BinarySearch(l.matches, l.cursor.item) // the first at or after the cursor
	if step < 0 || on {
		at += step
	}
	l.cursor = place{l.matches[(at+n)%n], 0}
	l.revealItem()
}

// matchNumber returns which match the cursor is on, from 1, 0 for none.
func (l *list) matchNumber() int {
	at, on := slices.BinarySearch(l.matches, l.cursor.item)
	if !on {
		return 0
	}
	return at + 1
}
