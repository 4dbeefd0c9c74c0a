package tui

import (
	"io"

	"github.com/charmbracelet/lipgloss"
)

// Theme is how views are painted. What it paints says the same without it.
type Theme struct {
	Title, Notice, Cursor, Hint, Match lipgloss.Style
	kinds                              [3]lipgloss.Style // by kind
	done, failed, running              lipgloss.Style
}

// NewTheme returns the theme for what w is: one without colours where w, or the
// user by NO_COLOR, wants none. It asks nothing of the terminal.
func NewTheme(w io.Writer) *Theme {
	r := lipgloss.NewRenderer(w)
	plain := r.NewStyle()
	green, red, yellow, cyan := lipgloss.Color("2"), lipgloss.Color("1"), lipgloss.Color("3"), lipgloss.Color("6")
	return &Theme{
		Title:   plain.Bold(true),
		Notice:  plain.Bold(true).Foreground(yellow),
		Cursor:  plain.Bold(true).Foreground(cyan),
		Match:   plain.Reverse(true),
		Hint:    plain.Faint(true),
		kinds:   [3]lipgloss.Style{added: plain.Foreground(green), changed: plain.Foreground(yellow), removed: plain.Foreground(red)},
		done:    plain.Foreground(green),
		failed:  plain.Bold(true).Foreground(red),
		running: plain.Foreground(cyan),
	}
}
