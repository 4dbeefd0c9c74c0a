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

// Theme is how views are painted: with the colours of the terminal's own palette, by
// role. Colour never carries information of its own: signs and words say the same.
//
// What is read to decide is in the terminal's own colour, set off by bold and reverse. No
// palette is legible in all of its colours on every background: bright black, for quiet
// text, is the background of Solarized dark; bold makes other colours than red too bright
// for white.
type Theme struct {
	Title   lipgloss.Style // what a view asks or shows
	Accent  lipgloss.Style // what is selected
	Mark    lipgloss.Style // signs of the view itself, such as > and the bar of a form
	Hint    lipgloss.Style // keys, and what is read last
	Match   lipgloss.Style // found by a search
	Warning lipgloss.Style // what a user should notice, and why an answer is rejected
	Frame   lipgloss.Style // around what is reviewed
	states  [7]lipgloss.Style
	kinds   [3]lipgloss.Style
}

// Colours of the terminal's palette.
const (
	red    = lipgloss.Color("1")
	green  = lipgloss.Color("2")
	yellow = lipgloss.Color("3")
	cyan   = lipgloss.Color("6")
)

// NewTheme returns the theme for what out is: without colours where out, or the user
// by NO_COLOR, wants none.
func NewTheme(out io.Writer) *Theme {
	plain := lipgloss.NewRenderer(out).NewStyle()
	in := func(c lipgloss.Color) lipgloss.Style { return plain.Foreground(c) }
	return &Theme{
		Title: plain.Bold(true), Accent: plain.Bold(true), Mark: in(cyan), Hint: plain, Match: plain.Reverse(true),
		Warning: in(red).Bold(true), Frame: plain.Border(lipgloss.RoundedBorder()).Padding(0, 1),
		kinds: [3]lipgloss.Style{added: in(green), changed: in(yellow), removed: in(red)},
		states: [7]lipgloss.Style{
			None: plain, Same: in(green), Ahead: in(cyan), Behind: in(cyan),
			Diverged: in(yellow), Failed: in(red), Done: in(green),
		},
	}
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

// Glyph returns the sign of a state, one column wide.
func (th *Theme) Glyph(s State) string {
	signs := [...]string{None: "·", Same: "●", Ahead: "↑", Behind: "↓", Diverged: "±", Failed: "✗", Done: "✓"}
	return th.states[s].Render(signs[s])
}

// ascii replaces the glyphs of views, column by column.
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

// utf8Locale reports whether the locale is one of UTF-8. Windows has no such variables,
// and its terminals take UTF-8.
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

// Spinner returns the sign of something that runs, one column wide.
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
