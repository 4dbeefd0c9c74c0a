package tui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/dustin/go-humanize"
	"github.com/muesli/termenv"

	"example.com/projecthub/tui/escape"
)

// Progress is how far a transfer has come, or what a command waits for.
type Progress struct {
	Phase             string // such as: uploading
	Waits             bool   // the command waits, and Phase says for what; nothing is counted
	Files, TotalFiles int    // TotalFiles 0: the totals are not known yet
	Bytes, TotalBytes int64
}

// Text describes progress in a phase that has taken some time: files, bytes, rate and the
// time that is left, as many of them as fit into width columns.
func (p Progress) Text(took time.Duration, width int) string {
	if p.Waits {
		return Shorten(p.Phase, width-len(", 10m")) + ", " + roughly(took.Seconds())
	}
	if p.TotalFiles == 0 {
		return Shorten(p.Phase+" files", width)
	}
	files := fmt.Sprintf("%d of %d files", p.Files, p.TotalFiles)
	bytes := fmt.Sprintf("%s of %s", humanize.IBytes(uint64(p.Bytes)), humanize.IBytes(uint64(p.TotalBytes)))
	choices := [][]string{{files, bytes}, {bytes}}
	if p.Bytes > 0 && took > 0 {
		rate := float64(p.Bytes) / took.Seconds()
		speed := humanize.IBytes(uint64(rate)) + "/s"
		left := roughly(float64(p.TotalBytes-p.Bytes)/rate) + " left"
		choices = [][]string{{files, bytes, speed, left}, {files, bytes, left}, {bytes, left}, {left}}
	}
	text := ""
	for _, parts := range choices {
		text = p.Phase + " " + strings.Join(parts, ", ")
		if lipgloss.Width(text) <= width {
			break
		}
	}
	return Shorten(text, width)
}

// moves reports whether a transfer is not complete yet. After that, the command may wait for
// something else, such as the hub's answer.
func (p Progress) moves() bool {
	return p.TotalFiles > 0 && (p.Files < p.TotalFiles || p.Bytes < p.TotalBytes)
}

// roughly writes a duration in one unit. Nobody waits for days: they are not counted.
func roughly(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%.0fs", seconds)
	case seconds < 60*60:
		return fmt.Sprintf("%.0fm", seconds/60)
	case seconds < 100*60*60:
		return fmt.Sprintf("%.0fh", seconds/60/60)
	}
	return "days"
}

// Line says what a command is doing: which step it takes, how far a transfer has come, or
// what it waits for. On a terminal it is the last line, which is redrawn while time passes
// and erased at the end. Where nothing can be redrawn, it prints a line at intervals while a
// transfer runs or the command waits.
//
// The cursor stays at the beginning of the line. So the next drawing covers what the user
// has typed, and no rest of the line remains when the terminal is resized or a shell
// continues the program.
type Line struct {
	out     io.Writer
	columns func() int
	theme   *Theme
	say     func(line string) // prints a line; nil: the line is drawn on out
	first   time.Duration     // until the line is shown
	every   time.Duration     // until it is shown again
	waiting time.Duration     // until the only line about waiting is printed; 0: one line about each wait

	mu       sync.Mutex  // guards the fields below, and the order of what is written to out
	step     string      // "": no step runs
	progress Progress    // replaces the step where it has a phase
	since    time.Time   // when the step, or the phase of the progress, began
	said     bool        // a line has said that the command waits; see waiting
	note     string      // why the command does not go on; "": it does
	timer    *time.Timer // calls tick; nil: the line is hidden
	drawn    bool        // the line is on the terminal
}

// showAfter is how long something takes before a line is drawn for it.
const showAfter = 300 * time.Millisecond

// NewLine returns a line that is redrawn on a terminal. columns returns the terminal's width.
func NewLine(out io.Writer, columns func() int) *Line {
	// A console of Windows acts on what erases a line only if it is told to.
	_, _ = termenv.EnableVirtualTerminalProcessing(termenv.NewOutput(out))
	const every = time.Second / framesPerSecond
	return &Line{out: out, columns: columns, theme: NewTheme(out), first: showAfter, every: every}
}

// NewLines returns a line that is not redrawn but printed by say, at intervals. With waiting, for
// the log of a pipeline, only one line, after that time, says that the command waits.
func NewLines(interval, waiting time.Duration, say func(line string)) *Line {
	return &Line{say: say, first: interval, every: interval, waiting: waiting}
}

// Step shows a step of the command, until there is progress.
func (l *Line) Step(name string) {
	l.set(func() {
		l.step = escape.Line(name)
		l.progress = Progress{}
		l.since = time.Now()
	})
}

// Update shows progress. A command that waits while a transfer runs still shows the transfer.
func (l *Line) Update(p Progress) {
	l.set(func() {
		if p.Waits && l.progress.moves() {
			return
		}
		if p.Phase != l.progress.Phase {
			l.since = time.Now()
			l.said = l.said && l.waiting > 0
		}
		if l.waiting > 0 && p.Waits != l.progress.Waits {
			l.stop() // set schedules a first tick again: waiting has an interval of its own
		}
		l.progress = p
	})
}

// set applies change, and schedules the first tick if the line is hidden.
func (l *Line) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	l.note = ""
	if l.timer == nil {
		first := l.first
		if l.progress.Waits && l.waiting > 0 {
			first = l.waiting
		}
		l.timer = time.AfterFunc(first, l.tick)
	}
}

func (l *Line) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil {
		return // it was hidden while this tick waited for the lock
	}
	l.timer.Reset(l.every)
	took := time.Since(l.since)
	if l.say == nil {
		l.draw(took)
		return
	}
	p := l.progress
	totalUnknown := p.Phase != "" && p.TotalFiles == 0
	saidBefore := p.Waits && l.said
	if p.moves() || totalUnknown && !saidBefore {
		l.said = p.Waits || l.said && l.waiting > 0
		l.say(p.Text(took, defaultColumns))
	}
}

// Control sequences of a terminal.
const (
	eraseRight = "\x1b[K"
	eraseBelow = "\x1b[J"
	up         = "\x1b[A"
)

func (l *Line) draw(took time.Duration) {
	width := l.columns() - 1 // what is erased after a line begins in the last column
	text := Shorten(l.step, width-len("x   59m59s")) + "  " + seconds(took)
	if l.progress.Phase != "" {
		text = l.progress.Text(took, width-len("x "))
	}
	lines := []string{l.theme.Spinner() + " " + text}
	if l.note != "" {
		for _, line := range Wrap(l.note, width-len("  ")) {
			lines = append(lines, "  "+line)
		}
	}
	text = Localize(strings.Join(lines, eraseRight+"\r\n"))
	fmt.Fprint(l.out, "\r"+text+eraseBelow+"\r"+strings.Repeat(up, len(lines)-1))
	l.drawn = true
}

// Note shows text below the line until there is something new. It returns false if no line is drawn.
func (l *Line) Note(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		l.note = text
	}
	return l.drawn
}

// Above calls write, which writes whole lines, while the line is off the terminal.
func (l *Line) Above(write func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		fmt.Fprint(l.out, "\r"+eraseBelow)
		l.drawn = false
	}
	write()
}

// Hide takes the line away, until there is something to show again.
func (l *Line) Hide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide()
}

// Answered takes the line away if it says what the command waits for.
func (l *Line) Answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.progress.Waits {
		l.hide()
	}
}

func (l *Line) hide() {
	l.stop()
	if l.drawn {
		fmt.Fprint(l.out, "\r"+eraseBelow)
	}
	l.drawn = false
	l.step = ""
	l.progress = Progress{}
}

func (l *Line) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = nil
}

// Checklist shows the steps of a command: which one runs, and how long each one took. The
// lines of the steps that have ended stay.
type Checklist struct {
	line    *Line // shows the running step
	names   []string
	width   int       // of the longest name
	running int       // index of the running step, -1 for none
	since   time.Time // when it began
}

// NewChecklist returns a checklist of steps with these names. line shows the running step.
func NewChecklist(line *Line, names ...string) *Checklist {
	c := &Checklist{line: line, running: -1}
	for _, name := range names {
		name = escape.Line(name)
		c.names = append(c.names, name)
		c.width = max(c.width, lipgloss.Width(name))
	}
	return c
}

// Start starts a step by its index. The step that ran before is done.
func (c *Checklist) Start(step int) {
	c.End("")
	c.running = step
	c.since = time.Now()
	c.line.Step(c.names[step])
}

// Update shows the progress of a transfer in place of the running step.
func (c *Checklist) Update(p Progress) { c.line.Update(p) }

// End ends the running step. problem is a word for why, such as failed; "" if the step is done.
func (c *Checklist) End(problem string) {
	c.line.Hide()
	if c.running < 0 {
		return
	}
	state, outcome := Done, "done in "
	if problem != "" {
		state, outcome = Failed, escape.Line(problem)+" after "
	}
	outcome += seconds(time.Since(c.since))
	name := c.names[c.running]
	if c.line.say != nil {
		c.line.say(fmt.Sprintf("Step %d of %d, %s: %s.", c.running+1, len(c.names), name, outcome))
	} else {
		outcome = c.line.theme.Paint(Quiet, outcome)
		text := fmt.Sprintf("%s %-*s  %s", c.line.theme.Glyph(state), c.width, name, outcome)
		fmt.Fprintln(c.line.out, Localize(text))
	}
	c.running = -1
}

func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
