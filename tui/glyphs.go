package tui

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

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
