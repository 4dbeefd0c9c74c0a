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
	Name, State string // State in a few words
	Mark        tui.State
	Details     []string // shown for the one that is chosen
}

// Action is something that can be done to an item, or without one.
type Action struct {
	Key, Does string // such as: p, push
	Alone     bool   // needs no item
}

// Home shows what load finds until the user chooses an action, and returns it and the
// item's number, -1 for none or one that was not asked for. Key r loads again. A user who leaves gives an empty
// Action. The error is [tui.ErrInterrupted] or that of ctx.
func (p Prompter) Home(
	ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int,
) (Action, int, error) {
	if p.Terminal.Plain {
		return p.homePlain(ctx, doing, load, actions)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &homeView{view: newView(p), ctx: ctx, doing: doing, load: load, actions: actions}
	m.at = chosen
	if _, err := p.run(ctx, m, &m.view); err != nil {
		return Action{}, -1, err
	}
	if len(m.Items) == 0 {
		return m.action, -1, nil
	}
	return m.action, m.at, nil
}

// homePlain shows what load finds, then asks what to do and, of several items, with which.
func (p Prompter) homePlain(
	ctx context.Context, doing string, load func(context.Context) Home, actions []Action,
) (action Action, item int, err error) {
	const quit = "q"
	var view Home
	err = p.askPlain(ctx, []Step{{
		Doing: doing,
		Load:  func(ctx context.Context) error { view = load(ctx); return nil },
		Question: func() Question {
			q := Question{Title: "Local projects", Facts: view.Notices, Preset: quit}
			for _, item := range view.Items {
				q.Facts = append(append(q.Facts, item.Name+": "+item.State), item.Details...)
			}
			for _, a := range actions {
				if a.Alone || len(view.Items) > 0 {
					q.Choices = append(q.Choices, Choice{Value: a.Key, Text: a.Does})
				}
			}
			q.Choices = append(q.Choices, Choice{Value: quit, Text: "quit"})
			return q
		},
		Take: func(key string) {
			action = Action{}
			if i := slices.IndexFunc(actions, func(a Action) bool { return a.Key == key }); i >= 0 {
				action = actions[i]
			}
		},
	}, {
		Skip: func() bool { return action == (Action{}) || action.Alone || len(view.Items) < 2 },
		Question: func() Question {
			q := Question{Title: "Which local project?", Preset: "0"}
			for i, item := range view.Items {
				q.Choices = append(q.Choices, Choice{Value: strconv.Itoa(i), Text: item.Name})
			}
			return q
		},
		Take: func(answer string) { item, _ = strconv.Atoi(answer) },
	}})
	if len(view.Items) == 0 || action.Alone && len(view.Items) > 1 {
		item = -1
	}
	return action, item, err
}

// homeView is the view's state.
type homeView struct {
	view
	Home
	ctx     context.Context
	doing   string // while it loads
	load    func(context.Context) Home
	actions []Action
	loading bool
	loads   int // that have ended
	action  Action
}

// homeLoaded is what load found.
type homeLoaded Home

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
		m.loading, m.Home = false, Home(msg)
		m.loads++
		m.at = max(0, min(m.at, len(m.Items)-1))
	}
	return m, m.update(msg, m.key)
}

// Shown counts what was shown: keys that were pressed before it was drawn were meant
// for something else.
func (m *homeView) Shown() int { return m.loads }

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
	if m.answer != none {
		return ""
	}
	columns := width(m.columns)
	if m.loads == 0 {
		return m.theme.Spinner() + " " + tui.Shorten(m.doing, columns-2)
	}
	status := statusLine(m.theme, m.Status, columns)
	if m.loading {
		status = []string{m.theme.Spinner() + " " + tui.Shorten(m.doing, columns-2)}
	}
	for _, n := range m.Notices {
		status = append(status, paragraph(m.theme.Warning, n, columns)...)
	}
	help := hints(m.theme, columns, m.keys()...)
	room := m.rows - len(status) - len(help) - 2
	details := m.details(columns, room-min(len(m.Items), 3)-1)
	list := m.list(columns, max(1, room-len(details)))
	return strings.Join(slices.Concat(status, []string{""}, list, details, []string{""}, help), "\n")
}

// list shows the items around the chosen one, in columns: name and state.
func (m *homeView) list(columns, room int) []string {
	names := 0
	for _, item := range m.Items {
		names = max(names, lipgloss.Width(tui.Shorten(item.Name, columns/2)))
	}
	from := max(0, min(m.at-room/2, len(m.Items)-room))
	var lines []string
	for i := from; i < min(from+room, len(m.Items)); i++ {
		item := m.Items[i]
		name := tui.Shorten(item.Name, columns/2)
		text := tui.Shorten(item.State, max(1, columns-len("> x ")-names-2))
		name += strings.Repeat(" ", names-lipgloss.Width(name))
		mark := "  "
		if i == m.at {
			mark, name = m.theme.Accent.Render(">")+" ", m.theme.Accent.Render(name)
		}
		if item.State != "" {
			text = m.theme.Glyph(item.Mark) + " " + text
		}
		lines = append(lines, mark+name+"  "+text)
	}
	return lines
}

// details are those of the chosen item, in a frame, as far as there is room.
func (m *homeView) details(columns, room int) []string {
	if len(m.Items) == 0 {
		return nil
	}
	facts := make([]string, len(m.Items[m.at].Details))
	for i, d := range m.Items[m.at].Details {
		facts[i] = strings.TrimPrefix(d, "  ")
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
