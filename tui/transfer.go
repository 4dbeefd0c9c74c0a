// Package tui draws what moves on a terminal. It shows what it is told; it reads
// no file, calls no hub and decides nothing.
package tui

import (
	"fmt"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/dustin/go-humanize"
)

// Progress is how far a transfer has come.
type Progress struct {
	Phase             string // such as: uploading
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// Transfer is one line that is redrawn while a transfer runs, and gone after it.
// Nothing is written for one that is over at once.
type Transfer struct {
	w io.Writer

	mu      sync.Mutex
	latest  Progress
	start   time.Time   // when the first progress was told
	timer   *time.Timer // that shows the line; nil: no progress was told
	program *tea.Program
	done    chan struct{}
}

// showAfter is how long a transfer runs before it is worth a line, and how often
// the line is drawn anew.
const showAfter = 200 * time.Millisecond

// NewTransfer returns a line on w, which has to be a terminal.
func NewTransfer(w io.Writer) *Transfer { return &Transfer{w: w} }

// Update shows progress.
func (t *Transfer) Update(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = p
	switch {
	case t.program != nil:
		t.program.Send(p)
	case t.timer == nil:
		t.start = time.Now()
		t.timer = time.AfterFunc(showAfter, t.show)
	}
}

func (t *Transfer) show() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil {
		return
	}
	program, done := tea.NewProgram(transfer{Progress: t.latest, start: t.start, now: time.Now},
		tea.WithInput(nil), tea.WithOutput(t.w), tea.WithoutSignalHandler(), tea.WithFPS(10)), make(chan struct{})
	t.program, t.done = program, done
	go func() {
		defer close(done)
		program.Run()
	}()
}

// Hide takes the line away, until there is progress again.
func (t *Transfer) Hide() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.program != nil {
		t.program.Send(stop{})
		<-t.done
	}
	t.timer, t.program = nil, nil
}

type stop struct{}

// transfer is the line's state.
type transfer struct {
	Progress
	start    time.Time // of the phase
	now      func() time.Time
	finished bool
}

// tick is when the line is drawn anew though nothing was told: time passes.
type tick struct{}

func ticking() tea.Cmd {
	return tea.Tick(showAfter, func(time.Time) tea.Msg { return tick{} })
}

func (t transfer) Init() tea.Cmd { return ticking() }

func (t transfer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case Progress:
		if msg.Phase != t.Phase {
			t.start = t.now()
		}
		t.Progress = msg
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
	return Line(t.Progress, t.now().Sub(t.start))
}

// Line writes progress after a phase has taken some time: files, bytes, rate and
// the time that is left.
func Line(p Progress, took time.Duration) string {
	line := fmt.Sprintf("%s %d of %d files, %s of %s", p.Phase, p.Files, p.TotalFiles,
		humanize.IBytes(uint64(p.Bytes)), humanize.IBytes(uint64(p.TotalBytes)))
	if p.Bytes == 0 || took <= 0 {
		return line
	}
	rate := float64(p.Bytes) / took.Seconds()
	left := time.Duration(float64(p.TotalBytes-p.Bytes) / rate * float64(time.Second))
	return line + fmt.Sprintf(", %s/s, %s left", humanize.IBytes(uint64(rate)), left.Round(time.Second))
}
