package prompts

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/viewport"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// view is what the views of a list have in common.
type view struct {
	tui.Screen
	status string // the hub and the identity
	at     int    // index of the selected item
	top    int    // index of the first item in sight
	answer answer
}

type answer int

const (
	unanswered answer = iota // it runs, or was interrupted
	noGiven
	yesGiven
	mergeGiven
)

func newView(p prompter) view { return view{Screen: p.screen(), status: p.status} }

func (p prompter) screen() tui.Screen {
	return tui.Screen{
		Theme:   tui.NewTheme(p.Out),
		Columns: p.Columns,
		Rows:    p.Rows,
	}
}

// run shows m until it ends, and returns the answer that it left in v, the view that it
// embeds. Without an answer the error is [tui.ErrInterrupted] or that of ctx.
func (p prompter) run(ctx context.Context, m tea.Model, v *view) (answer, error) {
	err := p.Run(ctx, m)
	if ctx.Err() != nil {
		return unanswered, ctx.Err()
	}
	if err != nil || v.answer == unanswered { // ctrl-c ends a view with neither
		return unanswered, tui.ErrInterrupted
	}
	return v.answer, nil
}

func (v *view) end(a answer) tea.Cmd {
	v.answer = a
	return tea.Quit
}

// update handles a message. It calls key with the name of each key, until key returns the
// command that ends the view. Characters that are typed fast come in one message. Pasted
// characters are not keys.
func (v *view) update(msg tea.Msg, key func(name string) tea.Cmd) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.Columns, v.Rows = msg.Width, msg.Height
	case tea.KeyMsg:
		switch {
		case msg.Type == tea.KeyCtrlC || msg.Type == tea.KeyCtrlD:
			return tea.Quit
		case msg.Type != tea.KeyRunes:
			return key(msg.String())
		case msg.Paste:
			return nil
		}
		for _, r := range msg.Runes {
			if quit := key(string(r)); quit != nil {
				return quit
			}
		}
	}
	return nil
}

// move handles a key that moves in a list of n items, of which height are in sight.
func (v *view) move(key string, n, height int) {
	switch key {
	case "up", "k":
		v.at--
	case "down", "j":
		v.at++
	case "pgup":
		v.at -= height
		v.top -= height
	case "pgdown":
		v.at += height
		v.top += height
	case "home", "g":
		v.at = 0
	case "end", "G":
		v.at = n - 1
	}
	v.at = max(0, min(v.at, n-1))
	v.reveal(v.at, n, height)
}

// reveal scrolls no further than needed to show the items from the selected one to last, or
// as many of them as fit.
func (v *view) reveal(last, n, height int) {
	v.top = max(v.top, last-height+1)
	v.top = max(0, min(v.top, v.at, n-height))
}

func (v *view) tooSmall() string {
	const text = "The terminal is too small for this question. Enlarge it, or press q to cancel."
	return strings.Join(tui.Wrap(text, v.Width()), "\n")
}

// Read shows lines, which may be painted, until the user leaves.
func (t *Terminal) Read(ctx context.Context, title string, lines []string) error {
	p := t.prompter()
	if p.Plain {
		for _, line := range lines {
			fmt.Fprintln(p.Out, line)
		}
		return nil
	}
	m := &reader{view: newView(p), title: title, lines: lines}
	_, err := p.run(ctx, m, &m.view)
	return err
}

type reader struct {
	view
	title string
	lines []string
	text  viewport.Model
}

func (m *reader) Init() tea.Cmd { return nil }

func (m *reader) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if quit := m.update(msg, m.key); quit != nil {
		return m, quit
	}
	var cmd tea.Cmd
	m.text, cmd = m.text.Update(msg)
	if _, resized := msg.(tea.WindowSizeMsg); resized {
		rows, _ := m.Room(m.page())
		m.text.Width, m.text.Height = m.Width(), rows
		m.text.KeyMap = viewport.DefaultKeyMap()
		m.text.SetContent(lipgloss.NewStyle().Width(m.Width()).Render(strings.Join(m.lines, "\n")))
	}
	return m, cmd
}

func (m *reader) key(name string) tea.Cmd {
	if name == "q" || name == "esc" || name == "enter" {
		return m.end(yesGiven)
	}
	return nil
}

func (m *reader) page() tui.Page {
	return tui.Page{
		Status: m.status,
		Title:  m.title,
		Keys:   []string{"↑/↓ move", "esc back"},
		Body:   len(m.lines),
		Least:  1,
	}
}

func (m *reader) View() string {
	if m.answer != unanswered {
		return ""
	}
	return m.Draw(m.page(), strings.Split(m.text.View(), "\n")...)
}
