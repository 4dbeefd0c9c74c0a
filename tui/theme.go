package tui

import (
	"io"
	"os"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Theme is how views are painted. Text is in the terminal's own colour, set off by bold
// and reverse, until the background is known: no colour can be read on every one. A
// theme paints nothing that its glyphs and words do not say as well.
type Theme struct {
	Title    lipgloss.Style // what a view asks or shows
	Accent   lipgloss.Style // what is selected
	Hint     lipgloss.Style // keys, and what is read last
	Match    lipgloss.Style // found by a search
	Warning  lipgloss.Style
	Rejected lipgloss.Style
	Frame    lipgloss.Style // around what is reviewed
	states   [7]lipgloss.Style
	kinds    [3]lipgloss.Style

	out io.Writer
}

// NewTheme returns the theme for what out is: without colours where out, or the user
// by NO_COLOR, wants none.
func NewTheme(out io.Writer) *Theme {
	th := &Theme{out: out}
	th.Refresh()
	return th
}

// palette are colours of the 256 that are the same in every terminal.
type palette struct{ accent, good, warning, bad, subdued lipgloss.Color }

// palettes have a contrast of 4.5:1 or more, on black and on Solarized dark, and on
// white and on Solarized light.
var palettes = map[background]palette{
	dark:  {accent: "80", good: "114", warning: "179", bad: "210", subdued: "247"},
	light: {accent: "24", good: "22", warning: "94", bad: "124", subdued: "240"},
}

// Refresh chooses the colours again, after a [BackgroundKnown].
func (th *Theme) Refresh() {
	r := lipgloss.NewRenderer(th.out)
	if r.ColorProfile() == termenv.ANSI && coloursForced() {
		r.SetColorProfile(termenv.ANSI256)
	}
	plain := r.NewStyle()
	ink := func(lipgloss.Color) lipgloss.Style { return plain }
	p, known := palettes[currentBackground()]
	if known && r.ColorProfile() <= termenv.ANSI256 { // of 16 colours none is the same everywhere
		ink = func(c lipgloss.Color) lipgloss.Style { return plain.Foreground(c) }
	}
	th.Title = plain.Bold(true)
	th.Accent = ink(p.accent).Bold(true)
	th.Hint = ink(p.subdued)
	th.Match = plain.Reverse(true)
	th.Warning = ink(p.warning).Bold(true)
	th.Rejected = ink(p.bad).Bold(true)
	th.Frame = plain.Border(lipgloss.RoundedBorder()).Padding(0, 1).BorderForeground(ink(p.subdued).GetForeground())
	th.kinds = [3]lipgloss.Style{added: ink(p.good), changed: ink(p.warning), removed: ink(p.bad)}
	th.states = [7]lipgloss.Style{
		None: plain, Same: ink(p.good), Ahead: ink(p.accent), Behind: ink(p.accent),
		Diverged: ink(p.warning), Failed: ink(p.bad).Bold(true), Done: ink(p.good),
	}
}

// coloursForced reports whether the user wants colours that the terminal's name does
// not promise.
func coloursForced() bool {
	forced := os.Getenv("CLICOLOR_FORCE")
	return forced != "" && forced != "0"
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
	return th.states[s].Render([...]string{None: "·", Same: "●", Ahead: "↑", Behind: "↓", Diverged: "±", Failed: "✗", Done: "✓"}[s])
}
