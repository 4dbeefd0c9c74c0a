package prompts

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// Home is an overview of the local projects.
type Home struct {
	Title   string   // hub and identity
	Notices []string // what could not be found out
	Items   []Item
}

// Item is a local project.
type Item struct {
	Name, State string   // State in a few words
	Details     []string // shown for the one that is chosen
}

// Action is something that can be done to an item, or without one.
type Action struct {
	Key, Does string // such as: p, push
	Alone     bool   // needs no item
}

// Home shows what load finds until the user chooses an action, and returns it and the
// item's number, -1 for none. Key r loads again. A user who leaves gives an empty
// Action. The error is [tui.ErrInterrupted] or that of ctx.
func (p Prompter) Home(ctx context.Context, doing string, load func(context.Context) Home, actions []Action, chosen int) (Action, int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := p.Terminal
	m := &homeView{ctx: ctx, doing: doing, load: load, actions: actions, chosen: chosen, theme: tui.NewTheme(t.Out), columns: t.Columns, rows: t.Rows}
	err := t.Run(ctx, m, tea.WithAltScreen())
	switch {
	case ctx.Err() != nil:
		return Action{}, -1, ctx.Err()
	case err != nil || !m.left:
		return Action{}, -1, tui.ErrInterrupted
	}
	if len(m.Items) == 0 {
		return m.action, -1, nil
	}
	return m.action, m.chosen, nil
}

// homeView is the view's state.
type homeView struct {
	Home
	ctx           context.Context
	doing         string // while it loads
	load          func(context.Context) Home
	actions       []Action
	theme         *tui.Theme
	columns, rows int
	loading       bool
	loads         int // that have ended
	chosen        int
	action        Action
	left          bool // by an answer
}

// homeLoaded is what load found.
type homeLoaded Home

func (m *homeView) Init() tea.Cmd {
	m.loading = true
	ctx, load := m.ctx, m.load
	return func() tea.Msg { return homeLoaded(load(ctx)) }
}

func (m *homeView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case homeLoaded:
		m.loading, m.Home = false, Home(msg)
		m.loads++
		m.chosen = max(0, min(m.chosen, len(m.Items)-1))
	case tea.KeyMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// Shown counts what was shown: keys that were pressed before it was drawn were meant
// for something else.
func (m *homeView) Shown() int { return m.loads }

// press does what keys do. Characters that were typed fast come in one message;
// those that were pasted are no keys.
func (m *homeView) press(msg tea.KeyMsg) tea.Cmd {
	if msg.Paste {
		return nil
	}
	if msg.Type != tea.KeyRunes {
		return m.key(msg.String())
	}
	for _, r := range msg.Runes {
		if cmd := m.key(string(r)); cmd != nil {
			return cmd
		}
	}
	return nil
}

func (m *homeView) key(key string) tea.Cmd {
	switch key {
	case "ctrl+c", "ctrl+d":
		return tea.Quit
	case "q", "esc":
		m.left = true
		return tea.Quit
	case "r":
		if !m.loading {
			return m.Init()
		}
	case "up", "k":
		m.chosen = max(0, m.chosen-1)
	case "down", "j":
		m.chosen = max(0, min(m.chosen+1, len(m.Items)-1))
	}
	if m.loading {
		return nil
	}
	for _, a := range m.actions {
		if a.Key == key && (a.Alone || len(m.Items) > 0) {
			m.action, m.left = a, true
			return tea.Quit
		}
	}
	return nil
}

func (m *homeView) View() string {
	if m.left {
		return ""
	}
	if m.loading && m.Title == "" {
		return strings.Join(tui.Wrap(m.doing+" "+"…", m.columns), "\n")
	}
	top := m.lines(m.theme.Title, m.Title)
	for _, n := range m.Notices {
		top = append(top, m.lines(m.theme.Notice, n)...)
	}
	if m.loading {
		top = append(top, m.lines(m.theme.Hint, m.doing+" "+"…")...)
	}
	help := m.lines(m.theme.Hint, m.help())
	room := m.rows - len(top) - len(help) - 2
	details := m.details(room - min(len(m.Items), 3) - 1)
	lines := append(append(top, ""), m.list(max(1, room-len(details)))...)
	return strings.Join(append(append(append(lines, details...), ""), help...), "\n")
}

// list shows the items around the chosen one.
func (m *homeView) list(room int) []string {
	width := 0
	for _, item := range m.Items {
		width = max(width, len([]rune(item.Name)))
	}
	from := max(0, min(m.chosen-room/2, len(m.Items)-room))
	var lines []string
	for i := from; i < min(from+room, len(m.Items)); i++ {
		item := m.Items[i]
		name := tui.Shorten(item.Name, max(1, min(width, m.columns/2)))
		text := tui.Shorten(name+strings.Repeat(" ", max(0, width-len([]rune(name))))+"  "+item.State, m.columns-3)
		if i == m.chosen {
			lines = append(lines, m.theme.Cursor.Render("> "+text))
		} else {
			lines = append(lines, "  "+text)
		}
	}
	return lines
}

// details are those of the chosen item, as far as there is room.
func (m *homeView) details(room int) []string {
	if len(m.Items) == 0 {
		return nil
	}
	var lines []string
	for _, d := range m.Items[m.chosen].Details {
		lines = append(lines, tui.Wrap(d, m.columns)...)
	}
	if len(lines) > room {
		lines = lines[:max(0, room)]
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{""}, lines...)
}

func (m *homeView) help() string {
	var parts []string
	if len(m.Items) > 1 {
		parts = append(parts, "↑/↓ choose")
	}
	for _, a := range m.actions {
		if a.Alone || len(m.Items) > 0 {
			parts = append(parts, a.Key+" "+a.Does)
		}
	}
	return strings.Join(append(parts, "r reload", "q leave"), " • ")
}

// lines wraps text and paints it.
func (m *homeView) lines(style lipgloss.Style, text string) []string {
	lines := tui.Wrap(text, m.columns)
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}
