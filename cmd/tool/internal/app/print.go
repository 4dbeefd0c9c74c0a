package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// schema is the version of the results' form. It rises only if a member is ever
// removed or changes its meaning.
const schema = 1

// Print prints a result that is no [Result]: as JSON, or as what text writes.
func (a *App) Print(kind string, v any, text func(p *Printer)) error {
	a.releaseWarnings()
	if a.JSON {
		return PrintFailed(kind, a.printJSON(kind, v))
	}
	p := a.Printer()
	text(p)
	return PrintFailed(kind, p.err)
}

// wentThrough says what was done, for kinds of results that do not say it themselves.
var wentThrough = map[string]string{
	"pulled":  "the pull went through",
	"several": "all of them went through",
}

// PrintFailed returns that the result of a command could not be written, nil for nil.
func PrintFailed(kind string, err error) error { return unprinted(wentThrough[kind], err) }

func (a *App) printJSON(kind string, v any) error { return a.writeJSON(kind, v, pat.Redact) }

func (a *App) writeJSON(kind string, v any, redact func(string) string) error {
	head, err := wire.Encode(struct {
		Type    string `json:"type"`
		Schema  int    `json:"schema"`
		Command string `json:"command"`
	}{kind, schema, a.Command})
	if err != nil {
		return err
	}
	members, err := wire.Encode(v)
	if err != nil {
		return err
	}
	document := string(head)
	if string(members) != "{}" {
		document = strings.TrimSuffix(document, "}") + "," + strings.TrimPrefix(string(members), "{")
	}
	document = escape.JSON(redact(document))
	if a.collects {
		a.collected = append(a.collected, jsontext.Value(document))
		return nil
	}
	_, err = fmt.Fprintln(a.Streams.Out, document)
	return err
}

// Printer writes lines of text, escaped and without tokens.
type Printer struct {
	w     io.Writer
	typed func(cmdline.Line) string
	links bool // addresses are shown as hyperlinks

	env, origin string // of the result that is written

	log bool // the lines go to the log of a pipeline, probably
	err error
}

// Line writes one line, of two screens at most: texts of a hub may have any length.
func (p *Printer) Line(format string, args ...any) {
	p.Whole(tui.Shorten(fmt.Sprintf(format, args...), maxLine))
}

// Head writes the first line of a result, and below it the environment and the hub that the
// result is about.
func (p *Printer) Head(format string, args ...any) {
	p.Line(format, args...)
	p.Environment(p.env)
	p.Field("origin", "%s", p.origin)
}

// Whole writes one line of any length.
func (p *Printer) Whole(line string) {
	if p.err != nil {
		return
	}
	line = strings.TrimRight(escape.Line(line), " ")
	if p.log {
		line = escape.Logged(line)
	}
	_, p.err = fmt.Fprintln(p.w, line)
}

// What a text of a hub takes at most, in columns. A hub of ours allows less.
const (
	maxCell  = 200
	maxField = 2000
	maxLine  = 4000
)

// Cell returns a text to be shown in a row.
func Cell(text string) string { return tui.Shorten(text, maxCell) }

// Field writes an indented line with a name and a value, in a column of its own.
func (p *Printer) Field(name, format string, args ...any) {
	p.Line("  %-12s %s", name, tui.Shorten(fmt.Sprintf(format, args...), maxField))
}

// Environment writes a field with the name of an environment, nothing for none.
func (p *Printer) Environment(name string) {
	if name != "" {
		p.Field("environment", "%s", name)
	}
}

// Address writes a field with the address of a page, to be clicked where that is possible,
// if it is the hub's own.
func (p *Printer) Address(name, origin, address string) {
	if !p.links || hubclient.CheckPage(origin, address) != nil {
		p.Field(name, "%s", address)
	} else if p.err == nil {
		address = escape.Line(address)
		_, p.err = fmt.Fprintf(p.w, "  %-12s \x1b]8;;%s\x1b\\%s\x1b]8;;\x1b\\\n", name, address, address)
	}
}

// Notes writes the notes of a result.
func (p *Printer) Notes(notes []string) {
	for _, note := range notes {
		p.Line("  note: %s", note)
	}
}

// Columns writes rows of cells in columns.
func (p *Printer) Columns(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = Cell(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row[:len(row)-1] {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		p.Line("%s", line+row[len(row)-1])
	}
}

// Paths lists files, and marks those that git ignores.
func (p *Printer) Paths(sign string, all, ignored []string) {
	for i, path := range all {
		if i == MaxShown {
			p.Line("    … and %d more", len(all)-MaxShown)
			return
		}
		mark := ""
		if _, found := slices.BinarySearch(ignored, path); found {
			mark = "  (git ignores it)"
		}
		p.Line("    %s %s%s", sign, path, mark)
	}
}

// Diagnose writes a line on stderr that is neither result nor failure.
func (a *App) Diagnose(format string, args ...any) {
	a.PrinterTo(a.Streams.Err).Line(format, args...)
}

// Warn writes a warning: after the view that is on the terminal, if there is one. Several
// requests may call it at once.
func (a *App) Warn(text string) {
	a.warning.Lock()
	a.held = append(a.held, text)
	a.warning.Unlock()
	a.releaseWarnings()
}

// releaseWarnings writes the warnings that were held back.
func (a *App) releaseWarnings() {
	if a.UI.Drawing() {
		return
	}
	a.warning.Lock()
	held := a.held
	a.held = nil
	a.warning.Unlock()
	for _, text := range held {
		a.Diagnose("warning: %s", text)
	}
}

// Command returns a command line as it is to be typed where this command was.
func (p *Printer) Command(l cmdline.Line) string { return p.typed(l) }

// Err returns why something could not be written.
func (p *Printer) Err() error { return p.err }

// Printer returns the printer of text on stdout.
func (a *App) Printer() *Printer {
	p := a.PrinterTo(a.Streams.Out)
	p.links = !a.Strict() && a.Streams.Links(a.Getenv)
	return p
}

// PrinterTo returns a printer of text on w.
func (a *App) PrinterTo(w io.Writer) *Printer {
	return &Printer{w: w, typed: a.CommandText, log: a.Strict()}
}
