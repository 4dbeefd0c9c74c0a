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

// Progress is how far a transfer has come. Without a total of files it is not
// known yet how far it has to go.
type Progress struct {
	Phase             string // such as: uploading
	Waits             bool   // for what Phase names, so that nothing is counted
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// Text describes progress after a phase has taken some time: files, bytes, rate and
// the time that is left, as many of them as fit into width columns.
func (p Progress) Text(took time.Duration, width int) string {
	if p.Waits {
		return Shorten(p.Phase, width-len(", 10m")) + ", " + roughly(took.Seconds())
	}
	if p.TotalFiles == 0 {
		return Shorten(p.Phase+" files", width)
	}
	files := fmt.Sprintf("%d of %d files", p.Files, p.TotalFiles)
	bytes := fmt.Sprintf("%s of %s", humanize.IBytes(uint64(p.Bytes)), humanize.IBytes(uint64(p.TotalBytes)))
	parts := [][]string{{files, bytes}, {bytes}}
	if p.Bytes > 0 && took > 0 {
		rate := float64(p.Bytes) / took.Seconds()
		speed := humanize.IBytes(uint64(rate)) + "/s"
		left := roughly(float64(p.TotalBytes-p.Bytes)/rate) + " left"
		parts = [][]string{{files, bytes, speed, left}, {files, bytes, left}, {bytes, left}, {left}}
	}
	text := ""
	for _, some := range parts {
		if text = p.Phase + " " + strings.Join(some, ", "); lipgloss.Width(text) <= width {
			break
		}
	}
	return Shorten(text, width)
}

// moves reports that there is something left to do: what takes its time is not something
// else, such as a hub that does not answer.
func (p Progress) moves() bool {
	return p.TotalFiles > 0 && (p.Files < p.TotalFiles || p.Bytes < p.TotalBytes)
}

// roughly writes how many seconds there are in one unit, as long as one waits for.
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
// whom it waits for. On a terminal it is the last line, redrawn while time passes, and gone
// in the end. Where nothing is redrawn, transfers and waiting are lines now and then.
//
// The cursor stays at the beginning of the line, so that drawing it again covers what the
// terminal has echoed, and a terminal that was resized, or a shell that has continued the
// program, leaves nothing to take away.
type Line struct {
	out     io.Writer
	columns func() int
	theme   *Theme
	say     func(line string) // instead of drawing; nil: it is drawn
	first   time.Duration     // until the first line
	every   time.Duration     // between the following ones
	waiting time.Duration     // until the one line that says that it waits; 0: one of each wait

	mu       sync.Mutex
	step     string
	progress Progress
	since    time.Time // when the step, or the phase of the progress, began
	said     bool      // once, that it waits
	note     string    // why it does not go on; "" where it does
	timer    *time.Timer
	drawn    bool
}

// showAfter is how long something takes before it is worth a line that is redrawn.
const showAfter = 300 * time.Millisecond

// NewLine returns a line that is redrawn on a terminal of so many columns. Nothing is
// written of what is over at once.
func NewLine(out io.Writer, columns func() int) *Line {
	// A console of Windows acts on what erases a line only if it is told to.
	_, _ = termenv.EnableVirtualTerminalProcessing(termenv.NewOutput(out))
	const every = time.Second / framesPerSecond
	return &Line{out: out, columns: columns, theme: NewTheme(out), first: showAfter, every: every}
}

// NewLines returns a line that is said at intervals.
func NewLines(interval time.Duration, say func(line string)) *Line {
	return &Line{say: say, first: interval, every: interval}
}

// NewLog is NewLines for the log of a pipeline, which says once, after some time, that it waits.
func NewLog(interval, waiting time.Duration, say func(line string)) *Line {
	return &Line{say: say, first: interval, every: interval, waiting: waiting}
}

// Step shows a step of the command, until there is progress.
func (l *Line) Step(name string) {
	l.set(func() { l.step, l.progress, l.since = escape.Line(name), Progress{}, time.Now() })
}

// Update shows progress. Waiting is not shown amid a transfer.
func (l *Line) Update(p Progress) {
	l.set(func() {
		if p.Waits && l.progress.moves() {
			return
		}
		if p.Phase != l.progress.Phase {
			l.since, l.said = time.Now(), l.said && l.waiting > 0
		}
		if l.waiting > 0 && p.Waits != l.progress.Waits {
			l.stop()
		}
		l.progress = p
	})
}

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
		return
	}
	l.timer.Reset(l.every)
	took, p := time.Since(l.since), l.progress
	if l.say == nil {
		l.draw(took)
	} else if p.moves() || p.Phase != "" && p.TotalFiles == 0 && !(p.Waits && l.said) {
		l.said = p.Waits || l.said && l.waiting > 0
		l.say(p.Text(took, defaultColumns))
	}
}

// What a terminal does instead of showing it.
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

// Note shows a line below, until something goes on. It returns false if nothing is drawn
// that it could be below.
func (l *Line) Note(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drawn {
		l.note = text
	}
	return l.drawn
}

// Above calls write, which writes whole lines, while the line is away.
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

// Answered takes the line away if it says whom it waits for.
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
	l.drawn, l.step, l.progress = false, "", Progress{}
}

func (l *Line) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = nil
}

// Checklist shows the steps of a command: which one runs, and how long each one took. The
// lines of those that have ended stay.
type Checklist struct {
	line    *Line
	names   []string
	width   int // of the longest name
	running int // -1: none
	since   time.Time
}

// NewChecklist returns one of steps by these names, of which line shows the one that runs.
func NewChecklist(line *Line, names ...string) *Checklist {
	c := &Checklist{line: line, running: -1}
	for _, name := range names {
		name = escape.Line(name)
		c.names, c.width = append(c.names, name), max(c.width, lipgloss.Width(name))
	}
	return c
}

// Start starts the step of an index. The one before it is done.
func (c *Checklist) Start(step int) {
	c.End("")
	c.running, c.since = step, time.Now()
	c.line.Step(c.names[step])
}

// Update shows the progress of a transfer in place of the running step.
func (c *Checklist) Update(p Progress) { c.line.Update(p) }

// End ends the running step, and the list with it. The problem is a word for why
// the step did not come to its end, such as failed; "" when it did.
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
	if name := c.names[c.running]; c.line.say != nil {
		c.line.say(fmt.Sprintf("Step %d of %d, %s: %s.", c.running+1, len(c.names), name, outcome))
	} else {
		text := fmt.Sprintf("%s %-*s  %s", c.line.theme.Glyph(state), c.width, name, outcome)
		fmt.Fprintln(c.line.out, Localize(text))
	}
	c.running = -1
}

// seconds writes how long something took.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
