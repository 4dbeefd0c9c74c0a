//go:build unix

package golden_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// Sizes of a picture, in pixels.
const (
	cellWidth, cellHeight = 9, 20
	margin                = 16
)

// palette is what the sixteen colours that a terminal chooses look like.
var palette = [16]string{
	"#1d1f21", "#cc6666", "#8abb6c", "#e0b050", "#6f9fd8", "#b294bb", "#70c0ba", "#c5c8c6",
	"#707880", "#e58080", "#a5d68a", "#f0c674", "#8fbcff", "#d0b0e0", "#8ee0da", "#ffffff",
}

// paper is the background of a picture and the colour of plain text on it.
type paper struct{ ground, ink string }

var (
	dark  = paper{"#1d1f21", "#d5d8d6"}
	light = paper{"#fdf6e3", "#3b4245"}
)

// picture returns the screen as an SVG image with the text in it, so that it can
// be read aloud and compared. What stands in for what differs from run to run has
// to have the same length.
func (term *terminal) picture(title string, p paper, replace func(string) string) string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.drawn(title, p, replace)
}

// drawn is picture for a caller that holds the lock.
func (term *terminal) drawn(title string, p paper, replace func(string) string) string {
	columns, _ := term.screen.Size()
	rows := strings.Count(term.lines(), "\n")
	var b strings.Builder
	for y := range rows {
		term.drawRow(&b, y, columns, p, replace)
	}
	return image(columns, rows, title, "", p, b.String())
}

// image is an SVG image of rows of text, drawn with the attributes of cells.
func image(columns, rows int, title, style string, p paper, content string) string {
	width, height := columns*cellWidth+2*margin, rows*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(title))
	fmt.Fprintf(&b, "<style>text { white-space: pre }%s</style>\n", style)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", p.ground)
	fmt.Fprintf(&b,
		`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="15" fill="%s">`+"\n", p.ink)
	b.WriteString(content + "</g>\n</svg>\n")
	return b.String()
}

// drawRow draws the runs of equal cells of one row.
func (term *terminal) drawRow(b *strings.Builder, y, columns int, p paper, replace func(string) string) {
	for from := 0; from < columns; {
		look := p.lookOf(term.screen.Cell(from, y))
		var text strings.Builder
		to := from
		for ; to < columns; to++ {
			cell := term.screen.Cell(to, y)
			if p.lookOf(cell) != look {
				break
			}
			text.WriteRune(max(cell.Char, ' '))
		}
		run := text.String()
		if look.back == "" {
			run = strings.TrimRight(run, " ")
		}
		if run != "" {
			look.draw(b, from, y, replace(run))
		}
		from = to
	}
}

// look is how a cell is painted.
type look struct {
	ink, back string // "": as everything
	bold      bool
	faint     bool
}

func (p paper) lookOf(g vt10x.Glyph) look {
	const bold, italic = 1 << 2, 1 << 4
	l := look{bold: g.Mode&bold != 0, faint: g.Mode&italic != 0}
	fg := g.FG
	if l.bold && fg >= 8 && fg < 16 {
		fg -= 8 // the screen brightens what is bold
	}
	switch {
	case g.FG == vt10x.DefaultBG: // reversed
		l.ink, l.back = p.ground, p.ink
	case fg < 256:
		l.ink = hex(fg)
	}
	if g.BG < 256 {
		l.back = hex(g.BG)
	}
	return l
}

// hex returns one of 256 colours. Those above 16 are the same in every terminal.
func hex(c vt10x.Color) string {
	switch {
	case c < 16:
		return palette[c]
	case c >= 232:
		grey := 8 + 10*(c-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	level := func(i vt10x.Color) vt10x.Color {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	return fmt.Sprintf("#%02x%02x%02x", level((c-16)/36), level((c-16)/6%6), level((c-16)%6))
}

func (l look) draw(b *strings.Builder, column, row int, text string) {
	cells := len([]rune(text))
	if l.back != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, margin+column*cellWidth,
			margin+row*cellHeight, cells*cellWidth, cellHeight, l.back)
	}
	attributes := ""
	if l.ink != "" {
		attributes += fmt.Sprintf(` fill="%s"`, l.ink)
	}
	if l.bold {
		attributes += ` font-weight="bold"`
	}
	if l.faint {
		attributes += ` fill-opacity="0.6"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`+"\n",
		margin+column*cellWidth, margin+row*cellHeight+15, cells*cellWidth, attributes, escaped(text))
}

func escaped(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text))
	return b.String()
}

// story is what the README's moving picture tells: screens, one after the other.
type story struct {
	*world
	rows   int // of the highest screen
	frames []string
}

// seconds is how long each screen of the picture is shown.
const seconds = 4

// paint adds the screen to the story.
func (s *story) paint(term *terminal) { s.paintWith(term, "") }

// paintWith adds the screen once it contains a part, which may come and go.
func (s *story) paintWith(term *terminal, part string) {
	s.t.Helper()
	term.until("has "+part, func(string) bool {
		var b strings.Builder
		rows := strings.Count(term.lines(), "\n")
		for y := range rows {
			term.drawRow(&b, y, 80, dark, func(run string) string {
				return times.ReplaceAllString(strings.ReplaceAll(run, s.hub.origin, "http://hub.example.com"), "0.1 s")
			})
		}
		if !strings.Contains(b.String(), part) {
			return false
		}
		s.rows = max(s.rows, rows)
		s.frames = append(s.frames, b.String())
		return true
	})
}

// picture is an image in which the screens follow each other. Who prefers less motion sees the last one.
func (s *story) picture(title string) string {
	style := fmt.Sprintf(`
.screen { opacity: 0; animation: show %ds step-end infinite }
@keyframes show { 0%% { opacity: 1 } %.2f%% { opacity: 0 } }
@media (prefers-reduced-motion) { .screen { animation: none } .screen:last-child { opacity: 1 } }
`, seconds*len(s.frames), 100/float64(len(s.frames)))
	var b strings.Builder
	for i, frame := range s.frames {
		fmt.Fprintf(&b, "<g class=\"screen\" style=\"animation-delay: %ds\">\n%s</g>\n", i*seconds, frame)
	}
	return image(80, s.rows, title, style, dark, b.String())
}

// The README's picture is what the program draws.
func TestPicture_MatchesProgram(t *testing.T) {
	t.Parallel()
	s := &story{world: newEmpty(t)}
	s.must("login", "--origin", s.origin, "--token", s.token)
	term := s.open(usual, "project", "create")
	s.talk(term, []turn{{"> Create one named app", "", enter}})
	term.wait("> Publish")
	s.paint(term)
	term.press(enter)
	term.wait("@alice/app is available")
	const cursor = `fill="#1d1f21"> </text>` // blinks
	s.paintWith(term, cursor)
	s.talk(term, []turn{
		{"@alice/app is available", "", enter}, {"> Private", "", enter},
		{"> Register", "", enter}, {"> Not now", "", "\x1b[A"}, {"> Push", "", enter},
	})
	term.wait("> Create @alice/app")
	s.paint(term)
	term.press(enter)
	term.ends(0)
	s.paint(term)

	s.write(".tool/app/client.json", strings.Replace(s.read(".tool/app/client.json"), `"basePath": "src"`,
		`"basePath": "src", "title": "Pet store", "theme": {"colour": "teal", "dark": true}, "tags": ["cats", "dogs"]`, 1))
	s.must("push", "app", "--force")
	if err := patch(s.hub.origin+"/v1/projects/alice/app/config", s.token,
		`{"set": {"title": "Pets & people", "theme.accent": "coral"}}`); err != nil {
		t.Fatal(err)
	}
	s.date()
	s.write(".tool/app/client.json",
		strings.NewReplacer(`"teal"`, `"green"`, `"dogs"]`, `"dogs", "owls"]`).Replace(s.read(".tool/app/client.json")))
	term = s.open(usual)
	term.wait("changed here and on the hub")
	s.paint(term)
	term.press("q")
	term.ends(0)
	term = s.open(usual, "push", "app")
	term.wait("[n] Cancel")
	s.paint(term)
	term.press("n")
	term.ends(0)
	golden(t, "picture/tour.svg", s.picture("A run of tool project create, and of a push"))
}
