package prompts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// Home is an overview of the local projects.
type Home struct {
	Status  string // the hub and the identity
	Notices []Said // such as why the hub could not be asked
	Items   []Item
}

// Item is a local project.
type Item struct {
	Name    string
	State   string    // in a few words; "" while it is not known
	Mark    tui.State // the glyph before State
	Next    string    // what to do next, "" for nothing
	Details []string  // shown while the item is selected

	// Off says why an action is disabled, by its key.
	Off map[string]string
}

// Action is something that can be done to an item, or without one.
type Action struct {
	Key, Does string // such as: p, push
	Alone     bool   // it needs no item
	More      bool   // only the help lists it
}

// Said is a sentence below the items, such as what was done last.
type Said struct {
	State tui.State // its glyph
	Text  string    // "" for nothing
}

// Overview is what Home shows, and what can be done there.
type Overview struct {
	Doing   string                     // shown while Load runs
	Load    func(context.Context) Home // called in the background, again for each press of r
	Actions []Action
	Chosen  int  // index of the selected item
	Said    Said // about the last action
}

// Home shows the local projects until the user chooses an action. It returns the action and the
// index of the selected item, -1 if there is none or the user was not asked for one. The zero
// Action means that the user quits. The error is [tui.ErrInterrupted] or that of ctx.
func (t *Terminal) Home(ctx context.Context, o Overview) (Action, int, error) {
	p := t.prompter()
	defer t.draws()()
	if p.Plain {
		return p.homePlain(ctx, o)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // Load may still run
	m := &homeView{view: newView(p), Overview: o, ctx: ctx}
	m.at = o.Chosen
	if _, err := p.run(ctx, m, &m.view); err != nil {
		return Action{}, -1, err
	}
	if len(m.Items) == 0 {
		return m.action, -1, nil
	}
	return m.action, m.at, nil
}

// homePlain is Home in lines: it asks what to do, and then with which item if there are several.
func (p prompter) homePlain(ctx context.Context, o Overview) (action Action, item int, err error) {
	const quit = "q"
	var home Home
	chooseAction := Step{
		Doing: o.Doing,
		Load: func(ctx context.Context) error {
			home = o.Load(ctx)
			return nil
		},
		Question: func() Question {
			q := Question{Title: "Local projects", Preset: quit}
			for _, said := range append(home.Notices, o.Said) {
				if said.Text != "" {
					q.Facts = append(q.Facts, said.Text)
				}
			}
			for _, item := range home.Items {
				q.Facts = append(q.Facts, item.Name+": "+item.State)
				q.Facts = append(q.Facts, item.facts(true)...)
			}
			for _, a := range o.Actions {
				if a.Alone || len(home.Items) > 0 {
					q.Choices = append(q.Choices, Choice{a.Key, a.Does})
				}
			}
			q.Choices = append(q.Choices, Choice{quit, "quit"})
			return q
		},
		Take: func(key string) {
			action = Action{} // quit
			for _, a := range o.Actions {
				if a.Key == key {
					action = a
				}
			}
		},
	}
	chooseItem := Step{
		Skip: func() bool {
			quits := action == Action{}
			return quits || action.Alone || len(home.Items) < 2
		},
		Question: func() Question {
			q := Question{Title: "Which local project?", Preset: "0"}
			for i, item := range home.Items {
				q.Choices = append(q.Choices, Choice{strconv.Itoa(i), item.Name})
			}
			return q
		},
		Take: func(answer string) { item, _ = strconv.Atoi(answer) },
	}
	err = p.askPlain(ctx, []Step{chooseAction, chooseItem})
	notAsked := action.Alone && len(home.Items) > 1
	if len(home.Items) == 0 || notAsked {
		item = -1
	}
	return action, item, err
}

// facts returns the details of an item, with next after a line that says what to do next.
func (i *Item) facts(next bool) []string {
	if i.Next == "" || !next {
		return i.Details
	}
	return slices.Insert(slices.Clone(i.Details), 0, fmt.Sprintf("  %-12s %s", "next", i.Next))
}

type homeView struct {
	view
	Overview
	Home                    // what Load found last
	ctx     context.Context // of Load
	loading bool            // Load runs
	loads   int             // how often Load has ended
	help    bool            // all actions are listed in place of the details
	action  Action          // that the user chose
}

type homeLoaded Home

// Init loads what is shown, for the first time or again.
func (m *homeView) Init() tea.Cmd {
	m.loading = true
	ctx, load := m.ctx, m.Load
	return tea.Batch(tui.Ticking(), func() tea.Msg { return homeLoaded(load(ctx)) })
}

func (m *homeView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tui.Tick:
		if m.loading {
			return m, tui.Ticking()
		}
	case homeLoaded:
		m.loading = false
		m.loads++
		m.Home = Home(msg)
		m.at = max(0, min(m.at, len(m.Items)-1))
	}
	return m, m.update(msg, m.key)
}

// Shown counts the results of Load that were shown: [tui.Terminal.Run] discards keys that were
// pressed before the last one was drawn.
func (m *homeView) Shown() int { return m.loads }

func (m *homeView) key(name string) tea.Cmd {
	m.help = name == "?" && !m.help
	m.Said = Said{}
	switch name {
	case "q", "esc":
		return m.end(noGiven)
	case "r":
		if !m.loading {
			return m.Init()
		}
	case "up", "k", "down", "j":
		m.move(name, len(m.Items), len(m.Items))
	}
	for _, a := range m.Actions {
		if a.Key != name || m.loading {
			continue
		}
		if why := m.off(a); why != "" {
			m.Said = Said{Text: why}
			return nil
		}
		m.action = a
		return m.end(yesGiven)
	}
	return nil
}

// off says why an action is disabled, "" if it is not.
func (m *homeView) off(a Action) string {
	switch {
	case a.Alone:
		return ""
	case len(m.Items) == 0:
		return "there is no local project here: press c to create one"
	}
	return m.Items[m.at].Off[a.Key]
}

// columnsForBoth is the least width in which the details are to the right of the list.
const columnsForBoth = 100

func (m *homeView) View() string {
	switch {
	case m.answer != unanswered:
		return ""
	case m.loads == 0:
		return m.Draw(tui.Page{Least: 1}, m.Busy(m.Doing))
	}
	columns := m.Width()
	page := tui.Page{Status: m.Status, Title: "Local projects"}
	page.Keys, page.Off = m.keys()
	if len(m.Items) == 0 {
		page.Title = "There is no local project here"
		page.Facts = []string{"Press c to create one, or pull one of the hub's: tool pull @ACCOUNT/SLUG"}
	}
	left, right := columns, columns // of the list, and of the details below it
	beside := columns >= columnsForBoth
	if beside {
		left = columns * 2 / 5
		right = columns - left - len("  |  ")
	}
	details := m.details(right)
	if len(details) > 0 && len(m.Items) > 0 && !beside {
		details = slices.Insert(details, 0, "")
	}
	said := m.said(columns)
	page.Body = len(m.Items) + len(details) + len(said)
	rows, _ := m.Room(page)
	rows -= len(said)
	if beside {
		details = details[:max(0, min(len(details), rows))]
		return m.Draw(page, append(m.Beside(m.list(left, rows), details, left), said...)...)
	}
	const minItems = 3 // are shown before details take a row
	details = details[:max(0, min(len(details), rows-min(len(m.Items), minItems)))]
	list := m.list(left, max(1, rows-len(details)))
	return m.Draw(page, slices.Concat(list, details, said)...)
}

// said returns the notices, and the sentence about the last action, after an empty line.
func (m *homeView) said(columns int) []string {
	var lines []string
	for _, said := range append(slices.Clone(m.Notices), m.Said) {
		if said.Text != "" {
			lines = append(lines, m.Says(said.State, said.Text, columns)...)
		}
	}
	if m.loading {
		lines = append(lines, m.Busy(m.Doing))
	}
	if len(lines) == 0 || len(m.Items) == 0 {
		return lines
	}
	return slices.Insert(lines, 0, "")
}

// list returns the items around the selected one, in columns.
func (m *homeView) list(columns, rows int) []string {
	nameColumns, stateColumns := 0, 0
	for _, item := range m.Items {
		nameColumns = max(nameColumns, lipgloss.Width(tui.Shorten(item.Name, columns/2)))
		stateColumns = max(stateColumns, lipgloss.Width(item.State))
	}
	first := max(0, min(m.at-rows/2, len(m.Items)-rows))
	var lines []string
	for i := first; i < min(first+rows, len(m.Items)); i++ {
		item := m.Items[i]
		name := fill(tui.Shorten(item.Name, columns/2), nameColumns)
		if i == m.at {
			name = m.Paint(tui.Heading, name)
		}
		room := columns - len("> ") - nameColumns - len("  x ")
		line := name
		if item.State != "" {
			state := tui.Shorten(item.State, max(1, room))
			line += "  " + m.Glyph(item.Mark) + " " + state
			next := "  " + item.Next
			if item.Next != "" && m.nextInList() {
				line += fill("", stateColumns-lipgloss.Width(state)) +
					m.Paint(tui.Quiet, tui.Shorten(next, max(1, room-stateColumns)))
			}
		}
		lines = append(lines, m.Pick(i == m.at, line))
	}
	return lines
}

// nextInList reports whether the list says what to do next; else the details do.
func (m *homeView) nextInList() bool {
	const minColumns = 60
	return m.Width() >= minColumns && m.Width() < columnsForBoth
}

// fill adds spaces to text up to so many columns.
func fill(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-lipgloss.Width(text)))
}

// details returns what is known of the selected item, or all actions if the user asked for help.
func (m *homeView) details(columns int) []string {
	var facts []string
	switch {
	case m.help:
		always := []Action{{Key: "r", Does: "refresh", Alone: true}, {Key: "q", Does: "quit", Alone: true}}
		for _, a := range slices.Concat(m.Actions, always) {
			fact := a.Key + "  " + a.Does
			if why := m.off(a); why != "" {
				fact += ": " + why
			}
			facts = append(facts, fact)
		}
	case len(m.Items) > 0:
		for _, fact := range m.Items[m.at].facts(!m.nextInList()) {
			facts = append(facts, strings.TrimPrefix(fact, "  ")) // an indent below the name
		}
	}
	return m.Facts(facts, columns)
}

// keys returns the keys of the actions with what they do, and those that are disabled.
func (m *homeView) keys() (keys, off []string) {
	for _, a := range m.Actions {
		key := a.Key + " " + a.Does
		inSight := !a.More
		if len(m.Items) == 0 {
			inSight = a.Alone
		}
		if inSight {
			keys = append(keys, key)
		}
		if m.off(a) != "" {
			off = append(off, key)
		}
	}
	return append(keys, "q quit", "? help"), off
}
