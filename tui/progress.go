package tui

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/dustin/go-humanize"
)

// Progress is how far a transfer has come. Without a total of files it is not
// known yet how far it has to go.
type Progress struct {
	Phase             string // such as: uploading
	Waits             bool   // for what Phase names, so that nothing is counted
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// Line writes progress after a phase has taken some time: files, bytes, rate and
// the time that is left, as many of them as fit into width columns.
func Line(p Progress, took time.Duration, width int) string {
	if p.Waits {
		return fmt.Sprintf("%s, %s", Shorten(p.Phase, width-len(", 10m")), roughly(took.Seconds()))
	}
	if p.TotalFiles == 0 {
		return p.Phase + " files"
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
	for _, some := range parts {
		if line := join(p.Phase, some); lipgloss.Width(line) <= width {
			return line
		}
	}
	line, _ := shorten(join(p.Phase, parts[len(parts)-1]), width)
	return line
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

func join(phase string, parts []string) string {
	line, between := phase, " "
	for _, part := range parts {
		line, between = line+between+part, ", "
	}
	return line
}

// meter is progress with when its phase began.
type meter struct {
	Progress
	start time.Time
}

// update takes in progress.
func (m *meter) update(p Progress, now time.Time) {
	if p.Phase != m.Phase {
		m.start = now
	}
	m.Progress = p
}

// over reports that the phase has nothing left to do: what takes its time now is
// something else, such as a hub that does not answer.
func (m meter) over() bool {
	return m.TotalFiles > 0 && m.Files == m.TotalFiles && m.Bytes == m.TotalBytes
}

// line is a line that is redrawn. Its parts stay where they are, and a terminal that
// becomes narrower has no need to wrap it, down to 40 columns.
func (m meter) line(now time.Time, width int) string {
	if m.Waits {
		return Line(m.Progress, now.Sub(m.start), width)
	}
	if m.TotalFiles == 0 {
		return Shorten(m.Phase+" files", width)
	}
	done, left := 100, ""
	if m.TotalBytes > 0 {
		done = int(m.Bytes * 100 / m.TotalBytes)
	}
	if took := now.Sub(m.start); m.Bytes > 0 && took > 0 {
		left = roughly(float64(m.TotalBytes-m.Bytes)/float64(m.Bytes)*took.Seconds()) + " left"
	}
	return Shorten(strings.TrimRight(fmt.Sprintf("%-11s %3d%% of %-8s  %s", m.Phase, done, humanize.IBytes(uint64(m.TotalBytes)), left), " "), width)
}

// lineWidth is the columns of a line that is not redrawn.
const lineWidth = 80

// Lines reports a long transfer by a line now and then, where nothing is redrawn.
type Lines struct {
	mu    sync.Mutex
	meter meter
	next  *time.Timer // nil at the end
}

// NewLines returns one that calls say with a line each interval, once there is
// progress and until [Lines.Hide].
func NewLines(interval time.Duration, say func(line string)) *Lines {
	l := &Lines{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = time.AfterFunc(interval, func() {
		if line := l.line(); line != "" {
			say(line)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.next != nil {
			l.next.Reset(interval)
		}
	})
	return l
}

// line returns the line to say now, which may be empty.
func (l *Lines) line() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil || l.meter.Phase == "" || l.meter.over() {
		return ""
	}
	return Line(l.meter.Progress, time.Since(l.meter.start), lineWidth)
}

// Update takes in progress.
func (l *Lines) Update(p Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meter.update(p, time.Now())
}

// Hide ends the lines.
func (l *Lines) Hide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil {
		l.next.Stop()
		l.next = nil
	}
}

// seconds writes how long something took.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
