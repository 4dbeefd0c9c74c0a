package tui

import (
	"io"

	"github.com/charmbracelet/lipgloss"
)

// theme keeps to the colours that every terminal chooses for itself, and of those
// to the ones that are read on a dark and on a light ground. What it paints says
// the same without it.
type theme struct {
	title, notice, heading, cursor, match, help lipgloss.Style
	kinds                                       [3]lipgloss.Style // by kind
	done, failed, running                       lipgloss.Style
}

// newTheme returns the theme for what w is: one without colours where w, or the
// person by NO_COLOR, wants none. It asks nothing of the terminal.
func newTheme(w io.Writer) theme {
	r := lipgloss.NewRenderer(w)
	plain := r.NewStyle()
	green, red, yellow, cyan := lipgloss.Color("2"), lipgloss.Color("1"), lipgloss.Color("3"), lipgloss.Color("6")
	return theme{
		title:   plain.Bold(true),
		notice:  plain.Bold(true).Foreground(yellow),
		heading: plain.Bold(true),
		cursor:  plain.Bold(true).Foreground(cyan),
		match:   plain.Reverse(true),
		help:    plain.Faint(true),
		kinds:   [3]lipgloss.Style{added: plain.Foreground(green), changed: plain.Foreground(yellow), removed: plain.Foreground(red)},
		done:    plain.Foreground(green),
		failed:  plain.Bold(true).Foreground(red),
		running: plain.Foreground(cyan),
	}
}
