package tui

import (
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// live is a view below what was written before, which takes no keys and runs
// beside what it shows.
type live struct {
	program *tea.Program
	done    chan struct{}
}

// framesPerSecond is how often such a view is drawn anew.
const framesPerSecond = 10

func startLive(w io.Writer, m tea.Model) *live {
	l := &live{
		program: tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(w), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond), tea.WithFilter(knownSize)),
		done:    make(chan struct{}),
	}
	go func() {
		defer close(l.done)
		l.program.Run()
	}()
	return l
}

// end sends the view its last message and waits until it is drawn.
func (l *live) end(last tea.Msg) {
	l.program.Send(last)
	<-l.done
}

// fromLeft is what the first line of such a view begins with: a ctrl-c that the
// terminal has echoed leaves the cursor elsewhere than bubbletea believes.
const fromLeft = "\r"

// tick is when a view is drawn anew though nothing was told: time passes.
type tick struct{}

func ticking() tea.Cmd {
	return tea.Tick(time.Second/framesPerSecond, func(time.Time) tea.Msg { return tick{} })
}

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

// Update shows progress.
func (t *Transfer) Update(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.meter.tell(p, time.Now())
	switch {
	case t.live != nil:
		t.live.program.Send(t.meter)
	case t.timer == nil:
		t.timer = time.AfterFunc(showAfter, t.show)
	}
}

func (t *Transfer) show() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.live = startLive(t.w, transfer{meter: t.meter, columns: t.columns})
	}
}

// Hide takes the line away, until there is progress again.
func (t *Transfer) Hide() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.live != nil {
		t.live.end(stop{})
	}
	t.timer, t.live = nil, nil
}

type stop struct{}

// transfer is the line's state.
type transfer struct {
	meter
	columns  int
	finished bool
}

func (t transfer) Init() tea.Cmd { return ticking() }

func (t transfer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case meter:
		t.meter = msg
	case tea.WindowSizeMsg:
		t.columns = msg.Width
	case tick:
		return t, ticking()
	case stop:
		t.finished = true
		return t, tea.Quit
	}
	return t, nil
}

func (t transfer) View() string {
	if t.finished {
		return ""
	}
	return fromLeft + t.line(time.Now(), t.columns-1) // the cursor stands in the last column
}
