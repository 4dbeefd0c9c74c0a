package tui

import (
	"io"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// live is a view below what was written before, which takes no keys and runs
// alongside what it shows. ctrl-z takes it away, and it appears again when the program
// is continued.
type live struct {
	out  io.Writer
	view liveView

	mu      sync.Mutex // held while the program is suspended
	program *tea.Program
	done    chan struct{} // closed when program has ended
	forget  func()        // stops listening for ctrl-z
}

// liveView is what is shown.
type liveView interface {
	tea.Model
	hide(hidden bool)
}

// hide ends a view's program, and leaves nothing of it on the screen.
type hide struct{}

func startLive(out io.Writer, v liveView) *live {
	l := &live{out: out, view: v}
	l.start()
	l.forget = onSuspend(l.suspend)
	return l
}

func (l *live) start() {
	program, done := tea.NewProgram(&localized{l.view}, tea.WithInput(nil), tea.WithOutput(l.out), tea.WithoutSignalHandler(),
		tea.WithFPS(framesPerSecond), tea.WithFilter(knownSize)), make(chan struct{})
	l.program, l.done = program, done
	go func() {
		defer close(done)
		_, _ = program.Run() // a view that cannot be drawn must not fail the command
	}()
}

// send sends the view a message.
func (l *live) send(msg tea.Msg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.program.Send(msg)
}

// end sends the view its last message and waits until it is drawn.
func (l *live) end(last tea.Msg) {
	l.forget()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.program.Send(last)
	<-l.done
}

// suspend takes the view away, stops the program, and shows the view again.
func (l *live) suspend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.program.Send(hide{})
	<-l.done
	_ = suspend() // without job control the program goes on
	l.view.hide(false)
	l.start()
}

// localized is a view with the glyphs of the user's locale.
type localized struct{ tea.Model }

func (v *localized) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := v.Model.Update(msg)
	v.Model = m
	return v, cmd
}

func (v *localized) View() string { return Localize(v.Model.View()) }

// fromLeft is what the first line of such a view begins with: a ctrl-c that the
// terminal has echoed leaves the cursor elsewhere than bubbletea expects it.
const fromLeft = "\r"

// Transfer is one line that is redrawn while a transfer runs, and gone after it.
// Nothing is written for one that is over at once.
type Transfer struct {
	w       io.Writer
	columns int

	mu    sync.Mutex
	meter meter
	timer *time.Timer // that shows the line; nil: no progress was told
	live  *live
}

// showAfter is how long a transfer runs before it is worth a line.
const showAfter = 200 * time.Millisecond

// NewTransfer returns a line on w, which has to be a terminal of so many columns.
func NewTransfer(w io.Writer, columns int) *Transfer { return &Transfer{w: w, columns: columns} }

// Update shows progress, or what is waited for where there is none.
func (t *Transfer) Update(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.Waits && t.timer != nil {
		return
	}
	t.meter.update(p, time.Now())
	switch {
	case t.live != nil:
		t.live.send(t.meter)
	case t.timer == nil:
		t.timer = time.AfterFunc(showAfter, t.show)
	}
}

func (t *Transfer) show() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.live = startLive(t.w, &transfer{meter: t.meter, theme: NewTheme(t.w), columns: t.columns})
	}
}

// Note shows a line below, until there is progress. It returns false if nothing is shown.
func (t *Transfer) Note(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live != nil {
		t.live.send(noted(text))
	}
	return t.live != nil
}

// Hide takes the line away, until there is progress again.
func (t *Transfer) Hide() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hide()
}

// Answered takes the line away if it says what is waited for.
func (t *Transfer) Answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.meter.Waits {
		t.hide()
		t.meter = meter{}
	}
}

func (t *Transfer) hide() {
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.live != nil {
		t.live.end(hide{})
	}
	t.timer, t.live = nil, nil
}

// transfer is the state of the line.
type transfer struct {
	meter
	theme   *Theme
	columns int
	note    string
	hidden  bool
}

func (t *transfer) hide(hidden bool) { t.hidden = hidden }

func (t *transfer) Init() tea.Cmd { return Ticking() }

func (t *transfer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case meter:
		t.meter, t.note = msg, ""
	case noted:
		t.note = string(msg)
	case tea.WindowSizeMsg:
		t.columns = msg.Width
	case Tick:
		return t, Ticking()
	case hide:
		t.hidden = true
		return t, tea.Quit
	}
	return t, nil
}

func (t *transfer) View() string {
	if t.hidden {
		return ""
	}
	room := t.columns - len("x ") - 1 // the last column is the cursor's
	line := fromLeft + t.theme.Spinner() + " " + t.line(time.Now(), room)
	if t.note != "" {
		line += "\n" + below(t.note, t.columns)
	}
	return line
}

// below returns a note in lines below what it is about.
func below(note string, columns int) string {
	return "  " + strings.Join(Wrap(note, columns-len("  ")-1), "\n  ")
}
