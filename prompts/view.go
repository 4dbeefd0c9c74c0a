package prompts

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// view is what the views of a list have in common: the size of the terminal, the place in
// the list, and how the view ended.
type view struct {
	theme         *tui.Theme
	status        string // the hub and the identity
	columns, rows int    // of the terminal
	at, top       int    // the selected item of the list, and the first one in sight
	answer        answer
}

// answer is how a view ended.
type answer int

const (
	none answer = iota
	noGiven
	yesGiven
)

func newView(p Prompter) view {
	t := p.Terminal
	return view{theme: tui.NewTheme(t.Out), status: p.Status, columns: t.Columns, rows: t.Rows}
}

// run shows m, a view with v, until it ends, and returns its answer. Without one the error
// is [tui.ErrInterrupted] or that of ctx.
func (p Prompter) run(ctx context.Context, m tea.Model, v *view) (answer, error) {
	err := p.Terminal.Run(ctx, m, tea.WithAltScreen())
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case err != nil || v.answer == none: // a view can end without an answer and without an error
		return none, tui.ErrInterrupted
	}
	return v.answer, nil
}

// end ends the view with an answer.
func (v *view) end(a answer) tea.Cmd {
	v.answer = a
	return tea.Quit
}

// update takes a message, and calls key with the name of each key until one ends the view.
// Characters that were typed fast come in one message; those that were pasted are no keys.
func (v *view) update(msg tea.Msg, key func(name string) tea.Cmd) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.columns, v.rows = msg.Width, msg.Height
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

// move does what a key does in a list of n items, of which height are in sight.
func (v *view) move(key string, n, height int) {
	switch key {
	case "up", "k":
		v.at--
	case "down", "j":
		v.at++
	case "pgup":
		v.at, v.top = v.at-height, v.top-height
	case "pgdown":
		v.at, v.top = v.at+height, v.top+height
	case "home", "g":
		v.at = 0
	case "end", "G":
		v.at = n - 1
	}
	v.at = max(0, min(v.at, n-1))
	v.reveal(v.at, n, height)
}

// reveal scrolls as little as brings the items from the selected one to last into sight, or
// as many of them as fit.
func (v *view) reveal(last, n, height int) {
	v.top = max(v.top, last-height+1)
	v.top = max(0, min(v.top, v.at, n-height))
}

// Rows that a view needs to have a frame, and an empty line below the status.
const (
	rowsForFrame = 22
	rowsForEmpty = 18
)

// above returns the lines above a list: the question, and what it takes to answer.
func (v *view) above(title string, facts []string) []string {
	columns := width(v.columns)
	status := statusLine(v.theme, v.status, columns)
	if len(status) > 0 && v.rows >= rowsForEmpty {
		status = append(status, "")
	}
	frameRows := 0
	if v.rows >= rowsForFrame {
		frameRows = v.rows
	}
	return slices.Concat(status, paragraph(v.theme.Title, title, columns), framed(v.theme, facts, columns, frameRows))
}

// tooSmall is shown where there is no room for the view.
func (v *view) tooSmall() string {
	const text = "The terminal is too small for this question. Enlarge it, or press q to cancel."
	return strings.Join(tui.Wrap(text, width(v.columns)), "\n")
}

// width is how many columns views use: the last one stays free, because what is erased
// after a shorter line begins there.
func width(columns int) int { return max(1, columns-1) }

// paragraph wraps text and paints it.
func paragraph(style lipgloss.Style, text string, columns int) []string {
	lines := tui.Wrap(text, columns)
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}

// marked starts a status line that a person should notice.
const marked = "! "

// statusLine returns the line with the hub and the identity, no line without them.
func statusLine(th *tui.Theme, status string, columns int) []string {
	if status == "" {
		return nil
	}
	style := th.Hint
	if strings.HasPrefix(status, marked) {
		style = th.Warning
	}
	return []string{style.Render(tui.Shorten(status, columns))}
}

// separator is between the keys in a line of hints.
const separator = " • "

// hints returns the keys that do something, in lines that break between them.
func hints(th *tui.Theme, columns int, keys ...string) []string {
	var lines []string
	line := ""
	for _, key := range keys {
		switch {
		case line == "":
			line = key
		case lipgloss.Width(line+separator+key) <= columns:
			line += separator + key
		default:
			lines, line = append(lines, line), key
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = th.Hint.Render(tui.Shorten(lines[i], columns))
	}
	return lines
}

// framed puts a frame around facts, where there is room for it.
func framed(th *tui.Theme, facts []string, columns, rows int) []string {
	lines := wrapped(facts, columns-th.Frame.GetHorizontalFrameSize())
	if len(lines) == 0 || len(lines)+th.Frame.GetVerticalFrameSize() > rows {
		return wrapped(facts, columns)
	}
	return strings.Split(th.Frame.Render(strings.Join(lines, "\n")), "\n")
}

func wrapped(facts []string, columns int) []string {
	var lines []string
	for _, fact := range facts {
		lines = append(lines, tui.Wrap(fact, columns)...)
	}
	return lines
}
