package tui

import (
	"io"
	"strconv"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// coloured returns a theme as it is on a terminal with colours.
func coloured(t *testing.T) *Theme {
	t.Setenv("CLICOLOR_FORCE", "1")
	t.Setenv("TERM", "xterm-256color")
	return NewTheme(io.Discard)
}

// Of the colours that a terminal's palette has, black, white and the bright ones are the
// background of some palette. Bold makes every colour a bright one.
func TestTheme_UsesColoursThatAreNoBackground(t *testing.T) {
	th := coloured(t)
	for role, style := range th {
		if (style.GetBackground() != lipgloss.NoColor{}) {
			t.Errorf("role %d is on %v", role, style.GetBackground())
		}
		switch c, isColour := style.GetForeground().(lipgloss.Color); {
		case isColour && (c < "1" || c > "6"):
			t.Errorf("colour %s is the background of some palette", c)
		case isColour && style.GetBold():
			t.Errorf("colour %s is bold", c)
		}
	}
	for _, role := range []Role{Plain, Heading, Quiet, Match} {
		if style := th[role]; (style.GetForeground() != lipgloss.NoColor{}) || style.GetFaint() != (role == Quiet) {
			t.Errorf("role %d is in the colour %v, faint: %t", role, style.GetForeground(), style.GetFaint())
		}
	}
}

func TestTheme_NoColour(t *testing.T) {
	if coloured(t).Paint(Warned, "x") == "x" {
		t.Error("there are no colours to do without")
	}
	t.Setenv("NO_COLOR", "1")
	t.Setenv("CLICOLOR_FORCE", "")
	for _, style := range NewTheme(io.Discard) {
		if got := style.Render("x"); got != "x" {
			t.Errorf("%q", got)
		}
	}
}

func TestGlyphs_SayWhatColoursSay(t *testing.T) {
	th := NewTheme(io.Discard)
	for _, shown := range []func(string) string{func(s string) string { return s }, ascii.Replace} {
		seen := map[string]State{}
		for s := None; s <= Done; s++ {
			glyph := shown(th.Glyph(s))
			if other, ok := seen[glyph]; ok || lipgloss.Width(glyph) != 1 {
				t.Errorf("states %d and %d are %q", s, other, glyph)
			}
			seen[glyph] = s
		}
	}
	for _, frame := range append(spinner[:], "│•…→") {
		if text := ascii.Replace(frame); lipgloss.Width(text) != lipgloss.Width(frame) ||
			text != strconv.QuoteToASCII(text)[1:len(strconv.QuoteToASCII(text))-1] && frame != "⠸" && frame != "⠧" {
			t.Errorf("%q is %q in ASCII", frame, text)
		}
	}
}

func TestUTF8Locale(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "en_GB.UTF-8", true}, {"", "", "C.utf8", true}, {"C", "", "en_GB.UTF-8", false},
		{"", "C", "en_GB.UTF-8", false},
		{"", "de_DE.UTF-8", "C", true}, {"", "", "C", false}, {"", "", "de_DE.ISO-8859-1", false},
	} {
		got := utf8Locale(func(name string) string {
			return map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}[name]
		})
		if got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
