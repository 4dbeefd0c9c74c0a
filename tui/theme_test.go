package tui

import (
	"io"
	"reflect"
	"strconv"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// rgb returns a colour of the 256 that every terminal shows alike.
func rgb(t *testing.T, c lipgloss.Color) [3]float64 {
	t.Helper()
	n, err := strconv.Atoi(string(c))
	switch {
	case err != nil || n < 16 || n > 255:
		t.Fatalf("%q is not the same in every terminal", c)
	case n >= 232:
		grey := float64(8+10*(n-232)) / 255
		return [3]float64{grey, grey, grey}
	}
	level := func(i int) float64 {
		if i == 0 {
			return 0
		}
		return float64(55+40*i) / 255
	}
	return [3]float64{level((n - 16) / 36), level((n - 16) / 6 % 6), level((n - 16) % 6)}
}

// contrast is the contrast of two luminances.
func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

func TestTheme_ContrastOnKnownBackgrounds(t *testing.T) {
	grounds := map[background]map[string][3]float64{
		dark:  {"black": {0, 0, 0}, "Solarized dark": {0, 43.0 / 255, 54.0 / 255}},
		light: {"white": {1, 1, 1}, "Solarized light": {253.0 / 255, 246.0 / 255, 227.0 / 255}},
	}
	for b, named := range grounds {
		colours := reflect.ValueOf(palettes[b])
		for i := range colours.NumField() {
			c := lipgloss.Color(colours.Field(i).String())
			for name, ground := range named {
				if got := contrast(luminance(rgb(t, c)), luminance(ground)); got < 4.5 {
					t.Errorf("%s %s on %s has a contrast of %.2f", colours.Type().Field(i).Name, c, name, got)
				}
			}
		}
	}
}

func TestTheme_UnknownBackgroundKeepsTerminalColour(t *testing.T) {
	t.Setenv("CLICOLOR_FORCE", "1")
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORFGBG", "")
	th := NewTheme(io.Discard)
	all := append([]lipgloss.Style{th.Title, th.Accent, th.Hint, th.Match, th.Warning, th.Rejected, th.Frame}, append(th.states[:], th.kinds[:]...)...)
	for _, style := range all {
		if (style.GetForeground() != lipgloss.NoColor{}) || (style.GetBackground() != lipgloss.NoColor{}) || style.GetFaint() {
			t.Errorf("%v on %v, faint: %t", style.GetForeground(), style.GetBackground(), style.GetFaint())
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
	for _, frame := range append(spinner[:], "╭─╮│╰─╯┃•…→") {
		if text := ascii.Replace(frame); lipgloss.Width(text) != lipgloss.Width(frame) || text != strconv.QuoteToASCII(text)[1:len(strconv.QuoteToASCII(text))-1] && frame != "⠸" && frame != "⠧" {
			t.Errorf("%q is %q in ASCII", frame, text)
		}
	}
}

func TestUTF8Locale(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "en_GB.UTF-8", true}, {"", "", "C.utf8", true}, {"C", "", "en_GB.UTF-8", false}, {"", "C", "en_GB.UTF-8", false},
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

func TestBackground_FromAnswer(t *testing.T) {
	for answer, want := range map[string]background{
		"rgb:0000/0000/0000": dark, "rgb:00/2b/36": dark, "rgb:ffff/ffff/ffff": light, "rgb:fdfd/f6f6/e3e3": light,
		"rgb:f/f/f": light, "": unknown, "rgb:": unknown, "rgb:00/00": unknown, "rgb:x/y/z": unknown,
	} {
		if got := fromAnswer(answer); got != want {
			t.Errorf("%q is %d, want %d", answer, got, want)
		}
	}
	for value, want := range map[string]background{"15;0": dark, "0;15": light, "0;default;15": light, "": unknown, "0;default": unknown, "12;8": dark, "7": light} {
		if got := fromVariable(value); got != want {
			t.Errorf("COLORFGBG=%s is %d, want %d", value, got, want)
		}
	}
}

func FuzzAnswerFilter(f *testing.F) {
	f.Add("abc", "\x1b[A", 3, true)
	f.Add("", "q", 6, false)
	f.Add("\x1b", "\x1b]", 1, true)
	f.Fuzz(func(t *testing.T, before, after string, cut int, bell bool) {
		end := "\x07"
		if !bell {
			end = "\x1b\\"
		}
		if len(before) > 100 || len(after) > 100 {
			return
		}
		data := before + "\x1b]11;rgb:0/0/0" + end + after
		cut = max(cut, -cut, 0) % (len(data) + 1)
		if cut == len(before)+1 || cut < 0 { // a lone escape is a key
			return
		}
		keys, answer, rest := cutAnswer([]byte(data[:cut]))
		if answer == nil {
			var more []byte
			more, answer, rest = cutAnswer(append(rest, data[cut:]...))
			keys = append(keys, more...)
		} else {
			rest = []byte(data[cut:])
			keys, rest = append(keys, rest...), nil
		}
		if want := before + after; len(rest) == 0 && answer != nil && string(answer) == "rgb:0/0/0" && string(keys) != want {
			t.Errorf("%q cut at %d: %q are the keys, want %q", data, cut, keys, want)
		}
	})
}
