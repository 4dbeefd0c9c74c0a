package tui

import (
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// Theme is how views are painted: each role has a style, in colours of the terminal's own
// palette. Colour never carries information of its own: signs and words say the same.
//
// Text that a user reads to decide is in the terminal's own colour, set off by bold and
// reverse, because no other colour is legible on every background: bright black, often used
// for quiet text, is the background of Solarized dark, and bold makes all colours but red too
// bright on white.
type Theme struct {
	Title   lipgloss.Style // what a view asks or shows
	Accent  lipgloss.Style // what is selected
	Mark    lipgloss.Style // signs of the view itself, such as > and the bar of a form
	Hint    lipgloss.Style // keys, and what is read last
	Match   lipgloss.Style // found by a search
	Warning lipgloss.Style // what a user should notice, and why an answer is rejected
	Frame   lipgloss.Style // around what is reviewed
	states  [len(states)]lipgloss.Style
	kinds   [len(kinds)]lipgloss.Style
}

// Colours of the terminal's palette.
const (
	red    = lipgloss.Color("1")
	green  = lipgloss.Color("2")
	yellow = lipgloss.Color("3")
	cyan   = lipgloss.Color("6")
)

// NewTheme returns the theme for out. It has no colours if out is no terminal that shows
// them, or if NO_COLOR is set.
func NewTheme(out io.Writer) *Theme {
	plain := lipgloss.NewRenderer(out).NewStyle()
	th := &Theme{
		Title:   plain.Bold(true),
		Accent:  plain.Bold(true),
		Mark:    plain.Foreground(cyan),
		Hint:    plain,
		Match:   plain.Reverse(true),
		Warning: plain.Foreground(red).Bold(true),
		Frame:   plain.Border(lipgloss.RoundedBorder()).Padding(0, 1),
	}
	for s, state := range states {
		th.states[s] = plain.Foreground(state.colour)
	}
	for k, kind := range kinds {
		th.kinds[k] = plain.Foreground(kind.colour)
	}
	return th
}

// Role is what a line of plain output is.
type Role int

// The roles.
const (
	Plain Role = iota
	Heading
	Added
	Changed
	Removed
	Warned // an error, a warning, or a conflict
)

// RoleOf returns the role of a line that starts with a sign: + ~ - or !.
func RoleOf(line string) Role {
	sign, _, _ := strings.Cut(line, " ")
	return map[string]Role{"+": Added, "~": Changed, "-": Removed, "!": Warned}[sign]
}

// Paint paints text. A nil theme returns it as it is.
func (th *Theme) Paint(role Role, text string) string {
	if th == nil {
		return text
	}
	switch role {
	case Heading:
		return th.Title.Render(text)
	case Added:
		return th.kinds[added].Render(text)
	case Changed:
		return th.kinds[changed].Render(text)
	case Removed:
		return th.kinds[removed].Render(text)
	case Warned:
		return th.Warning.Render(text)
	}
	return text
}

// State is a state that has a glyph: of a project, or of a step.
type State int

// The states.
const (
	None     State = iota // nothing is known
	Same                  // here and on the hub
	Ahead                 // changed here
	Behind                // changed on the hub
	Diverged              // changed here and on the hub
	Failed
	Done
)

// states is how each state is shown.
var states = [...]struct {
	glyph  string
	colour lipgloss.TerminalColor
}{
	None:     {"·", lipgloss.NoColor{}},
	Same:     {"●", green},
	Ahead:    {"↑", cyan},
	Behind:   {"↓", cyan},
	Diverged: {"±", yellow},
	Failed:   {"✗", red},
	Done:     {"✓", green},
}

// Glyph returns the glyph of a state, one column wide.
func (th *Theme) Glyph(s State) string { return th.states[s].Render(states[s].glyph) }

// ascii replaces each glyph of a view by an ASCII character, so that columns stay aligned.
var ascii = strings.NewReplacer(
	"●", "=", "↑", "^", "↓", "v", "±", "~", "✓", "+", "✗", "x", "·", ".", "•", "|", "…", ">", "→", ">",
	"█", "#", "░", ".",
	"╭", "+", "╮", "+", "╰", "+", "╯", "+", "─", "-", "│", "|", "┃", "|",
	"⠋", "|", "⠙", "/", "⠹", "-", "⠸", "\\", "⠼", "|", "⠴", "/", "⠦", "-", "⠧", "\\",
)

// Localize returns text with glyphs that the user's locale can show.
func Localize(text string) string {
	if asciiOnly() {
		return ascii.Replace(text)
	}
	return text
}

var asciiOnly = sync.OnceValue(func() bool { return !utf8Locale(os.Getenv) })

// utf8Locale reports whether the locale's encoding is UTF-8. Windows has no such variables,
// and its terminals show UTF-8.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return runtime.GOOS == "windows"
}

// spinner turns while something runs.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"}

// framesPerSecond is how often a spinner turns.
const framesPerSecond = 10

// Spinner returns the glyph of something that runs, one column wide. It depends on the time.
func (th *Theme) Spinner() string {
	turn := time.Now().UnixMilli() * framesPerSecond / 1000
	return th.Mark.Render(spinner[int(turn)%len(spinner)])
}

// Tick is sent to a view when its spinner turns.
type Tick struct{}

// Ticking asks for the next Tick.
func Ticking() tea.Cmd {
	return tea.Tick(time.Second/framesPerSecond, func(time.Time) tea.Msg { return Tick{} })
}
