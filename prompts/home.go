package prompts

import (
	"context"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// Home is an overview of the local projects.
type Home struct {
	Status  string   // the hub and the identity
	Notices []string // what could not be found out
	Items   []Item
}

// Item is a local project.
type Item struct {
	Name    string
	State   string    // in a few words; "" while it is not known
	Mark    tui.State // the glyph before State
	Details []string  // shown while the item is selected
}

// Action is something that can be done to an item, or without one.
type Action struct {
	Key, Does string // such as: p, push
	Alone     bool   // it needs no item
}

// Home shows what load finds until the user chooses an action. It returns the action and the
// index of the selected item, -1 if there is none or it was not asked for. The zero Action
// means that the user leaves. The error is [tui.ErrInterrupted] or that of ctx.
//
// load is called in the background, again for each press of r. doing is shown while it runs.
func (p Prompter) Home(
	ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int,
) (Action, int, error) {
	if p.Terminal.Plain {
		return p.homePlain(ctx, doing, load, actions)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // load may still run
	m := &homeView{
		view:    newView(p),
		ctx:     ctx,
		doing:   doing,
		load:    load,
		actions: actions,
	}
	m.at = chosen
	if _, err := p.run(ctx, m, &m.view); err != nil {
		return Action{}, -1, err
	}
	if len(m.Items) == 0 {
		return m.action, -1, nil
	}
	return m.action, m.at, nil
}

// homePlain shows what load finds. It asks what to do, then with which item if there are several.
func (p Prompter) homePlain(
	ctx context.Context, doing string, load func(context.Context) Home, actions []Action,
) (action Action, item int, err error) {
	const quit = "q"
	var home Home
	chooseAction := Step{
		Doing: doing,
		Load: func(ctx context.Context) error {
			home = load(ctx)
			return nil
		},
		Question: func() Question {
			q := Question{Title: "Local projects", Facts: slices.Clone(home.Notices), Preset: quit}
			for _, item := range home.Items {
				q.Facts = append(q.Facts, item.Name+": "+item.State)
				q.Facts = append(q.Facts, item.Details...)
			}
			for _, a := range actions {
				if a.Alone || len(home.Items) > 0 {
					q.Choices = append(q.Choices, Choice{a.Key, a.Does})
				}
			}
			q.Choices = append(q.Choices, Choice{quit, "quit"})
			return q
		},
		Take: func(key string) {
			action = Action{} // quit
			for _, a := range actions {
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

// homeView is the view's state.
type homeView struct {
	view
	Home                    // what load found last
	ctx     context.Context // of load
	doing   string          // shown while load runs
	load    func(context.Context) Home
	actions []Action
	loading bool   // load runs
	loads   int    // how often load has ended
	action  Action // that the user chose
}

// homeLoaded is what load found.
type homeLoaded Home

// Init loads what is shown, for the first time or again.
func (m *homeView) Init() tea.Cmd {
	m.loading = true
	ctx, load := m.ctx, m.load
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

// Shown counts what was shown, see [tui.Terminal.Run]: keys that were pressed before the
// result of a load was drawn were meant for something else.
func (m *homeView) Shown() int { return m.loads }

// key does what a key does. It returns the command that ends the view, nil if it goes on.
func (m *homeView) key(name string) tea.Cmd {
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
	if m.loading {
		return nil
	}
	for _, a := range m.actions {
		if a.Key == name && (a.Alone || len(m.Items) > 0) {
			m.action = a
			return m.end(yesGiven)
		}
	}
	return nil
}

func (m *homeView) View() string {
	if m.answer != unanswered {
		return ""
	}
	columns := width(m.columns)
	loading := m.theme.Spinner() + " " + tui.Shorten(m.doing, columns-len("x "))
	if m.loads == 0 {
		return loading
	}
	status := statusLine(m.theme, m.Status, columns)
	if m.loading {
		status = []string{loading}
	}
	for _, n := range m.Notices {
		status = append(status, paragraph(m.theme.Warning, n, columns)...)
	}
	help := hints(m.theme, columns, m.keys()...)
	const emptyRows = 2 // below the status, and above the keys
	room := m.rows - len(status) - len(help) - emptyRows
	const minItems = 3 // in sight before there is room for details
	details := m.details(columns, room-min(len(m.Items), minItems)-1)
	list := m.list(columns, max(1, room-len(details)))
	return strings.Join(slices.Concat(status, []string{""}, list, details, []string{""}, help), "\n")
}

// list returns the items around the selected one, with their names and states in columns.
func (m *homeView) list(columns, room int) []string {
	nameColumns := 0
	for _, item := range m.Items {
		nameColumns = max(nameColumns, lipgloss.Width(tui.Shorten(item.Name, columns/2)))
	}
	first := max(0, min(m.at-room/2, len(m.Items)-room))
	var lines []string
	for i := first; i < min(first+room, len(m.Items)); i++ {
		item := m.Items[i]
		name := tui.Shorten(item.Name, columns/2)
		name += strings.Repeat(" ", nameColumns-lipgloss.Width(name))
		mark := "  "
		if i == m.at {
			mark = m.theme.Accent.Render(">") + " "
			name = m.theme.Accent.Render(name)
		}
		state := tui.Shorten(item.State, max(1, columns-len("> x ")-nameColumns-len("  ")))
		if item.State != "" {
			state = m.theme.Glyph(item.Mark) + " " + state
		}
		lines = append(lines, mark+name+"  "+state)
	}
	return lines
}

// details returns the details of the selected item in a frame, in at most room lines and an
// empty one.
func (m *homeView) details(columns, room int) []string {
	if len(m.Items) == 0 {
		return nil
	}
	facts := make([]string, len(m.Items[m.at].Details))
	for i, d := range m.Items[m.at].Details {
		facts[i] = strings.TrimPrefix(d, "  ") // an indent below the name, which the frame replaces
	}
	lines := framed(m.theme, facts, columns, room)
	if len(lines) > room {
		lines = lines[:max(0, room)]
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{""}, lines...)
}

// keys names the keys that do something.
func (m *homeView) keys() []string {
	var keys []string
	if len(m.Items) > 1 {
		keys = append(keys, "↑/↓ move")
	}
	for _, a := range m.actions {
		if a.Alone || len(m.Items) > 0 {
			keys = append(keys, a.Key+" "+a.Does)
		}
	}
	return append(keys, "r refresh", "q quit")
}
