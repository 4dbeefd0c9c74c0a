package app

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/tui"
	"example.com/projecthub/tui/escape"
)

// A longer text of a hub is shortened to these numbers of columns. Hubs usually allow less.
const (
	maxCell  = 200
	maxField = 2000
	maxLine  = 4000 // two screens
)

// Printer writes lines of text, escaped and without tokens.
type Printer struct {
	w           io.Writer
	commandText func(cmdline.Line) string // [App.CommandText]

	theme   *tui.Theme // nil: without colours
	links   bool       // addresses are shown as hyperlinks
	columns int        // longer lines are folded; 0: none is
	log     bool       // the lines probably go to the log of a pipeline
	verbose bool       // details are shown

	env, origin string // of the result that is written; "": it names none

	err error // the first of writing; nothing is written after it
}

// Printer returns the printer of text on stdout.
func (a *App) Printer() *Printer {
	p := a.PrinterTo(a.Streams.Out)
	p.links = !a.Strict() && a.Streams.Links(a.Getenv)
	return p
}

// PrinterTo returns a printer of text on w. It has colours if w is a terminal that a person watches, or
// where CLICOLOR_FORCE wants them on stdout and stderr; NO_COLOR prevents both.
func (a *App) PrinterTo(w io.Writer) *Printer {
	p := &Printer{w: w, commandText: a.CommandText, log: a.Strict(), verbose: a.Verbose}
	isTerminal := w == a.Streams.Out && a.Streams.OutTTY || w == a.Streams.Err && a.Streams.ErrTTY
	if isTerminal && !a.Strict() {
		p.columns, _ = a.Streams.Size()
	}
	force := a.Getenv("CLICOLOR_FORCE")
	forced := (w == a.Streams.Out || w == a.Streams.Err) && force != "" && force != "0"
	if (p.columns > 0 || forced) && a.theme != nil {
		p.theme = a.theme()
	}
	return p
}

// Command returns a command line as it is to be typed where this command was.
func (p *Printer) Command(l cmdline.Line) string { return p.commandText(l) }

// Err returns why something could not be written.
func (p *Printer) Err() error { return p.err }

// Line writes one line, of two screens at most: texts of a hub may have any length.
func (p *Printer) Line(format string, args ...any) {
	p.painted(tui.Plain, tui.Shorten(fmt.Sprintf(format, args...), maxLine))
}

// Whole writes one line of any length, which is not folded: one that is copied, or read by a program.
func (p *Printer) Whole(format string, args ...any) {
	p.write(escape.Line(fmt.Sprintf(format, args...)))
}

// painted writes a line of any length in the colour of its role. Of a warning, only the word
// before the colon has it.
func (p *Printer) painted(role tui.Role, line string) {
	line = strings.TrimRight(escape.Line(line), " ")
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
	for _, part := range p.fold(tui.Words(line), 0, indent) {
		part = strings.TrimRight(part, " ")
		word, after, found := strings.Cut(part, ": ")
		if found && role == tui.Warned {
			p.write(p.theme.Paint(role, word) + ": " + after)
			role = tui.Plain
		} else {
			p.write(p.theme.Paint(role, part))
		}
	}
}

// fold returns words in lines that fit the terminal after a text that takes used columns of each.
func (p *Printer) fold(words []string, used int, indent string) []string {
	if p.columns == 0 {
		return []string{strings.Join(words, "")}
	}
	return tui.Fold(words, p.columns-used, indent)
}

// write writes a line that is escaped.
func (p *Printer) write(line string) {
	if p.err != nil {
		return
	}
	line = strings.TrimRight(line, " ")
	if p.log {
		line = escape.Logged(line)
	}
	_, p.err = fmt.Fprintln(p.w, line)
}

// Heading writes a line that others belong to.
func (p *Printer) Heading(format string, args ...any) {
	p.painted(tui.Heading, tui.Shorten(fmt.Sprintf(format, args...), maxLine))
}

// Differences writes lines that start with a sign, such as those of [DifferenceLines].
func (p *Printer) Differences(lines []string) {
	for _, line := range lines {
		p.painted(tui.RoleOf(line), "    "+line)
	}
}

// Head writes the first line of a result, and below it the environment and the hub that the
// result is about.
func (p *Printer) Head(format string, args ...any) {
	p.Heading(format, args...)
	p.Environment(p.env)
	p.Field("origin", "%s", p.origin)
}

// Field writes an indented line with a name and a value, in a column of its own.
func (p *Printer) Field(name, format string, args ...any) {
	p.FieldIn(tui.Plain, name, format, args...)
}

// FieldIn is Field with the value in the colour of its role.
func (p *Printer) FieldIn(role tui.Role, name, format string, args ...any) {
	value := escape.Line(tui.Shorten(fmt.Sprintf(format, args...), maxField))
	name = escape.Line(fmt.Sprintf("  %-12s", name))
	blank := tui.Width(name)
	for _, part := range p.fold(tui.Words(value), blank+1, "") {
		p.write(p.theme.Paint(tui.Quiet, name) + " " + p.theme.Paint(role, strings.TrimRight(part, " ")))
		name = strings.Repeat(" ", blank)
	}
}

// Detail is Field for what only --verbose shows, such as a digest.
func (p *Printer) Detail(name, format string, args ...any) {
	if p.verbose {
		p.Field(name, format, args...)
	}
}

// NonZero writes a field with a count, nothing for 0.
func (p *Printer) NonZero(name string, count int) {
	if count != 0 {
		p.Field(name, "%d", count)
	}
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
		name = p.theme.Paint(tui.Quiet, fmt.Sprintf("  %-12s", name))
		_, p.err = fmt.Fprintf(p.w, "%s \x1b]8;;%s\x1b\\%s\x1b]8;;\x1b\\\n", name, address, address)
	}
}

// Notes writes the notes of a result.
func (p *Printer) Notes(notes []string) {
	for _, note := range notes {
		p.Line("  note: %s", note)
	}
}

// Cell returns a text to be shown in a row.
func Cell(text string) string { return tui.Shorten(text, maxCell) }

// Columns writes rows of cells in columns, each painted by paint; nil paints nothing. Where a terminal is
// too narrow, a row is folded between its cells.
func (p *Printer) Columns(rows [][]string, paint func(th *tui.Theme, column int, cell string) string) {
	widths, total := measure(rows)
	const indent = "    "
	narrow := p.columns > 0 && total > p.columns
	for _, row := range rows {
		var words []string
		for i, cell := range row {
			n := tui.Width(cell)
			if narrow && n > p.columns-len(indent) {
				words = append(words, tui.Words(cell+"  ")...)
				continue
			}
			blank := strings.Repeat(" ", widths[i]-n)
			if narrow {
				blank = "  "
			}
			if paint != nil && p.theme != nil {
				cell = paint(p.theme, i, cell)
			}
			words = append(words, cell+blank)
		}
		for _, line := range p.fold(words, 0, indent) {
			p.write(line)
		}
	}
}

// Fit shortens the last cells of rows so that a terminal need not fold them, where it has some room for these cells.
func (p *Printer) Fit(rows [][]string) {
	widths, total := measure(rows)
	last := len(widths) - 1
	room := p.columns - total + widths[last] - len("  ")
	if p.columns == 0 || room < 16 {
		return
	}
	for _, row := range rows {
		if len(row) > last {
			row[last] = tui.Shorten(row[last], room)
		}
	}
}

// measure escapes the cells of rows, and returns the widths of the columns, with the blanks after them, and of a row.
func measure(rows [][]string) (widths map[int]int, total int) {
	widths, total = map[int]int{}, -len("  ")
	for _, row := range rows {
		for i, cell := range row {
			row[i] = escape.Line(Cell(cell))
			if n := tui.Width(row[i]) + len("  "); n > widths[i] {
				total += n - widths[i]
				widths[i] = n
			}
		}
	}
	return widths, total
}

// Paths lists files, and marks those that git ignores.
func (p *Printer) Paths(sign string, all, ignored []string) {
	lines := make([]string, len(all))
	for i, path := range all {
		lines[i] = sign + " " + path
		if _, found := slices.BinarySearch(ignored, path); found {
			lines[i] += "  (git ignores it)"
		}
	}
	p.Differences(limited(lines))
}

// ChangedPaths lists how files differ, and marks those that git ignores.
func (p *Printer) ChangedPaths(d tree.Difference, ignored []string) {
	p.Paths("+", d.Added, ignored)
	p.Paths("~", d.Changed, ignored)
	p.Paths("-", d.Removed, nil)
}

// Markdown returns text for a comment on a pull request: shown as it is, without any
// effect there. <code> prevents mentions, and all characters except letters, digits and
// spaces are entities, so that none is markup.
func Markdown(text string) string {
	text = escape.Line(text)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range text {
		if r <= '~' && r != ' ' && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + "</code>"
}

// page writes a text of a command that only reads on stdout: in a pager where it does not fit on the
// screen of a person.
func (a *App) page(text string) error {
	columns, rows := a.Streams.Size()
	height := 1 // that of the shell's next prompt
	for line := range strings.Lines(text) {
		height += 1 + tui.Width(line)/columns
	}
	if pager := a.pager(); pager != "" && height > rows {
		err := a.Streams.Page(pager, text)
		if err == nil {
			return nil
		}
		a.Warn(fmt.Sprintf("cannot start the pager %s: %v", pager, err))
	}
	return a.print(text)
}

// print writes a text on stdout.
func (a *App) print(text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(a.Streams.Out, text)
	return err
}

// pager returns the command line of the pager in use, "" for none.
func (a *App) pager() string {
	if a.Strict() || a.Streams.Screen == nil || a.Getenv("TERM") == "dumb" || a.Getenv("ACCESSIBLE") == "1" {
		return ""
	}
	for _, name := range []string{"TOOL_PAGER", "PAGER"} {
		if value, set := a.LookupEnv(name); set {
			if value = strings.TrimSpace(value); value == "cat" {
				return ""
			}
			return value
		}
	}
	if !term.Installed("less") {
		return ""
	}
	return "less"
}

// Diagnose writes a line on stderr that is neither result nor failure.
func (a *App) Diagnose(format string, args ...any) {
	a.diagnose(tui.Plain, format, args...)
}

func (a *App) diagnose(role tui.Role, format string, args ...any) {
	a.PrinterTo(a.Streams.Err).painted(role, tui.Shorten(fmt.Sprintf(format, args...), maxLine))
}

// Warn writes a warning: after the view that is on the terminal, if there is one. Several
// requests may call it at once.
func (a *App) Warn(text string) {
	a.heldMutex.Lock()
	a.held = append(a.held, text)
	a.heldMutex.Unlock()
	a.releaseWarnings()
}

// releaseWarnings writes the warnings that were held back.
func (a *App) releaseWarnings() {
	if a.UI.Drawing() {
		return
	}
	a.heldMutex.Lock()
	held := a.held
	a.held = nil
	a.heldMutex.Unlock()
	for _, text := range held {
		a.diagnose(tui.Warned, "warning: %s", text)
	}
}
