package prompts

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.com/projecthub/tui"
)

// view is what the views of a list have in common: the size of the terminal, the position in
// the list, and how the view ended.
type view struct {
	theme         *tui.Theme
	status        string // the hub and the identity
	columns, rows int    // of the terminal
	at            int    // index of the selected item
	top           int    // index of the first item in sight
	answer        answer
}

// answer is how a view ended.
type answer int

const (
	unanswered answer = iota // it runs, or was interrupted
	noGiven
	yesGiven
	mergeGiven
)

func newView(p Prompter) view {
	return view{
		theme:   tui.NewTheme(p.Terminal.Out),
		status:  p.Status,
		columns: p.Terminal.Columns,
		rows:    p.Terminal.Rows,
	}
}

// run shows m until it ends, and returns the answer that it left in v, the view that it
// embeds. Without an answer the error is [tui.ErrInterrupted] or that of ctx.
func (p Prompter) run(ctx context.Context, m tea.Model, v *view) (answer, error) {
	err := p.Terminal.Run(ctx, m, tea.WithAltScreen())
	if ctx.Err() != nil {
		return unanswered, ctx.Err()
	}
	if err != nil || v.answer == unanswered { // ctrl-c ends a view with neither
		return unanswered, tui.ErrInterrupted
	}
	return v.answer, nil
}

// end ends the view with an answer.
func (v *view) end(a answer) tea.Cmd {
	v.answer = a
	return tea.Quit
}

// update takes a message. It calls key with the name of each key, until key returns the
// command that ends the view. Characters that are typed fast come in one message. Pasted
// characters are not keys.
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

// move does what a key does in a list of n items, if height of them are in sight.
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

// Rows that a terminal must have for what is not essential.
const (
	rowsForFrame = 22 // for a frame around the facts
	rowsForEmpty = 18 // for an empty line below the status
)

// above returns the lines above a list: the status, the question and its facts.
func (v *view) above(title string, facts []string) []string {
	columns := width(v.columns)
	status := statusLine(v.theme, v.status, columns)
	if len(status) > 0 && v.rows >= rowsForEmpty {
		status = append(status, "")
	}
	frameRows := 0 // no frame
	if v.rows >= rowsForFrame {
		frameRows = v.rows
	}
	return slices.Concat(status, paragraph(v.theme.Title, title, columns), framed(v.theme, facts, columns, frameRows))
}

// tooSmall returns what is shown if there is no room for the view.
func (v *view) tooSmall() string {
	const text = "The terminal is too small for this question. Enlarge it, or press q to cancel."
	return strings.Join(tui.Wrap(text, width(v.columns)), "\n")
}

// width returns how many columns a view uses. The last column stays free: erasing the rest of
// a full line would erase its last character.
func width(columns int) int { return max(1, columns-1) }

// paragraph wraps text and paints it.
func paragraph(style lipgloss.Style, text string, columns int) []string {
	lines := tui.Wrap(text, columns)
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}

// warningPrefix begins a status that the user should notice.
const warningPrefix = "! "

// statusLine returns the line with the hub and the identity, or no line if status is "".
func statusLine(th *tui.Theme, status string, columns int) []string {
	if status == "" {
		return nil
	}
	style := th.Hint
	if strings.HasPrefix(status, warningPrefix) {
		style = th.Warning
	}
	return []string{style.Render(tui.Shorten(status, columns))}
}

// separator is written between the keys in a line of hints.
const separator = " • "

// hints joins the names of keys, in lines that break between two keys.
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
			lines = append(lines, line)
			line = key
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = th.Hint.Render(tui.Shorten(lines[i], columns))
	}
	return lines
}

// framed returns facts in a frame, or without one if the frame needs more than rows.
func framed(th *tui.Theme, facts []string, columns, rows int) []string {
	lines := wrapped(facts, columns-th.Frame.GetHorizontalFrameSize())
	if len(lines) == 0 || len(lines)+th.Frame.GetVerticalFrameSize() > rows {
		return wrapped(facts, columns)
	}
	return strings.Split(th.Frame.Render(strings.Join(lines, "\n")), "\n")
}

// wrapped returns the lines of facts.
func wrapped(facts []string, columns int) []string {
	var lines []string
	for _, fact := range facts {
		lines = append(lines, tui.Wrap(fact, columns)...)
	}
	return lines
}
