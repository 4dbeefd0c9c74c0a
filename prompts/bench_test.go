package prompts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbletea"

	"example.com/projecthub/prompts"
)

// frame is the time that a screen of 60 frames a second has for one.
const frame = time.Second / 60

// BenchmarkOverwriteFrame measures how much of a frame a key and the drawing
// after it take in a difference of 10,000 keys: the longest of each kind. "open"
// is from the difference to the first frame.
func BenchmarkOverwriteFrame(b *testing.B) {
	d := many(10_000)
	long := `"` + strings.Repeat("lorem ipsum ", 6) + `"`
	for i := range d {
		if d[i].Sign() == "+" {
			d[i].To = long
		}
	}
	b.Run("open", func(b *testing.B) {
		report(b, func() { _ = prompts.NewView(question(d), 120, 50).View() })
	})
	for name, typed := range map[string][]string{
		"scroll": {"down", "pgdown", "end", "pgup", "up", "home"},
		"filter": {"/", "v", "a", "l", "u", "e", "space", "9", "9", "backspace", "enter", "down", "esc"},
		"unfold": {"a", "end", "pgup", "space", "a", "home"},
		"resize": nil,
	} {
		b.Run(name, func(b *testing.B) {
			v := prompts.NewView(question(d), 120, 50)
			messages := keys(typed...)
			if messages == nil {
				messages = []tea.Msg{tea.WindowSizeMsg{Width: 40, Height: 15}, tea.WindowSizeMsg{Width: 120, Height: 50}}
			}
			i := 0
			report(b, func() {
				v.Send(messages[i%len(messages)])
				_ = v.View()
				i++
			})
		})
	}
}

// report measures draw and reports its mean and longest time against a frame's.
func report(b *testing.B, draw func()) {
	var longest, sum time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		draw()
		took := time.Since(start)
		longest, sum, n = max(longest, took), sum+took, n+1
	}
	b.ReportMetric(float64(sum)/float64(n)/float64(frame), "frames/key")
	b.ReportMetric(float64(longest)/float64(frame), "frames/longest")
}
