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

// Role is what a text is for, which decides how it is painted.
type Role int

// The roles.
const (
	Plain   Role = iota // what a user reads to decide
	Heading             // what a view asks or shows, and what is selected
	Accent              // signs of the view itself, such as >
	Quiet               // what is read last: labels, the status and what a key does
	Match               // found by a search
	Warned              // an error, a warning, or a conflict
	Added
	Changed
	Removed
)

// Theme paints text by its role. A nil theme leaves text as it is.
type Theme [Removed + 1]lipgloss.Style

// Colours of the terminal's palette.
const (
	red    = lipgloss.Color("1")
	green  = lipgloss.Color("2")
	yellow = lipgloss.Color("3")
	cyan   = lipgloss.Color("6")
)

// NewTheme returns the theme for out, without colours if out shows none, or if NO_COLOR is set.
func NewTheme(out io.Writer) *Theme {
	plain := lipgloss.NewRenderer(out).NewStyle()
	return &Theme{
		Plain:   plain,
		Heading: plain.Bold(true),
		Accent:  plain.Foreground(cyan),
		Quiet:   plain.Faint(true),
		Match:   plain.Reverse(true),
		Warned:  plain.Foreground(red),
		Added:   plain.Foreground(green),
		Changed: plain.Foreground(yellow),
		Removed: plain.Foreground(red),
	}
}

// RoleOf returns the role of a line that starts with a sign: + ~ - or !.
func RoleOf(line string) Role {
	sign, _, _ := strings.Cut(line, " ")
	return map[string]Role{"+": Added, "~": Changed, "-": Removed, "!": Warned}[sign]
}

// Paint paints text.
func (th *Theme) Paint(role Role, text string) string {
	if th == nil || text == "" {
		return text
	}
	return th[role].Render(text)
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

var states = [...]struct {
	glyph string
	role  Role
}{
	None:     {"·", Quiet},
	Same:     {"●", Added},
	Ahead:    {"↑", Accent},
	Behind:   {"↓", Accent},
	Diverged: {"±", Changed},
	Failed:   {"✗", Warned},
	Done:     {"✓", Added},
}

// Glyph returns the glyph of a state, one column wide.
func (th *Theme) Glyph(s State) string { return th.Paint(states[s].role, states[s].glyph) }

// ascii replaces each glyph of a view by an ASCII character, so that columns stay aligned.
var ascii = strings.NewReplacer(
	"●", "=", "↑", "^", "↓", "v", "±", "~", "✓", "+", "✗", "x", "·", ".", "•", "|", "…", ">", "→", ">",
	"█", "#", "░", ".",
	"│", "|",
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

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"}

const framesPerSecond = 10

// Spinner returns the glyph of something that runs, one column wide. It depends on the time.
func (th *Theme) Spinner() string {
	turn := time.Now().UnixMilli() * framesPerSecond / 1000
	return th.Paint(Accent, spinner[int(turn)%len(spinner)])
}

// Tick is sent to a view when its spinner turns.
type Tick struct{}

// Ticking asks for the next Tick.
func Ticking() tea.Cmd {
	return tea.Tick(time.Second/framesPerSecond, func(time.Time) tea.Msg { return Tick{} })
}
