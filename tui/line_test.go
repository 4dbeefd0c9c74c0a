package tui_test

import (
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/tui"
)

func TestProgress_FitsWidth(t *testing.T) {
	p := tui.Progress{Phase: "uploading", Files: 3, TotalFiles: 24, Bytes: 6 << 20, TotalBytes: 24 << 20}
	for _, c := range []struct {
		width int
		want  string
	}{
		{80, "uploading 3 of 24 files, 6.0 MiB of 24 MiB, 3.0 MiB/s, 6s left"},
		{60, "uploading 3 of 24 files, 6.0 MiB of 24 MiB, 6s left"},
		{40, "uploading 6.0 MiB of 24 MiB, 6s left"},
		{30, "uploading 6s left"},
		{10, "uploading…"},
	} {
		if got := p.Text(2*time.Second, c.width); got != c.want {
			t.Errorf("in %d columns: %s", c.width, got)
		}
	}
	for _, c := range []struct {
		p    tui.Progress
		want string
	}{
		{tui.Progress{Phase: "collecting"}, "collecting files"},
		{tui.Progress{Phase: "waiting for https://hub.example.com", Waits: true}, "waiting for https://hub.example.com, 1s"},
		{tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 2, Bytes: 1, TotalBytes: 301},
			"hashing 1 of 2 files, 1 B of 301 B, 1 B/s, 5m left"},
		{tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 2, Bytes: 1, TotalBytes: 7201},
			"hashing 1 of 2 files, 1 B of 7.0 KiB, 1 B/s, 2h left"},
		{tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 2, Bytes: 1, TotalBytes: 1 << 30},
			"hashing 1 of 2 files, 1 B of 1.0 GiB, 1 B/s, days left"},
		{tui.Progress{Phase: "hashing", TotalFiles: 2, TotalBytes: 10}, "hashing 0 of 2 files, 0 B of 10 B"},
	} {
		if got := c.p.Text(time.Second, 80); got != c.want {
			t.Errorf("%+v: %s", c.p, got)
		}
	}
	for width := 1; width < 100; width++ {
		if got := lipgloss.Width(p.Text(2*time.Second, width)); got > width {
			t.Errorf("%d columns in %d", got, width)
		}
	}
}

func TestLine_IsSaidAtInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		line := tui.NewLines(10*time.Second, 0, func(text string) { said = append(said, text) })
		wait := func(d time.Duration) {
			time.Sleep(d) // of the test's own clock
			synctest.Wait()
		}
		wait(15 * time.Second)
		line.Update(tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		wait(15 * time.Second)
		line.Update(tui.Progress{Phase: "uploading", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		wait(20 * time.Second)
		line.Update(tui.Progress{Phase: "waiting for the hub", Waits: true}) // amid the transfer
		line.Update(tui.Progress{Phase: "uploading", Files: 4, TotalFiles: 4, Bytes: 4096, TotalBytes: 4096})
		wait(20 * time.Second) // and nothing is left to tell
		line.Update(tui.Progress{Phase: "waiting for the hub", Waits: true})
		wait(10 * time.Second)
		line.Answered()
		line.Hide()
		wait(time.Minute)
		want := []string{
			"hashing 1 of 4 files, 1.0 KiB of 4.0 KiB, 102 B/s, 30s left",
			"uploading 1 of 4 files, 1.0 KiB of 4.0 KiB, 204 B/s, 15s left",
			"uploading 1 of 4 files, 1.0 KiB of 4.0 KiB, 68 B/s, 45s left",
			"waiting for the hub, 5s",
		}
		if d := cmp.Diff(want, said); d != "" {
			t.Error(d)
		}
	})
}

func TestLog_SaysOnceThatItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		line := tui.NewLines(30*time.Second, 10*time.Second, func(text string) { said = append(said, text) })
		wait := func(d time.Duration) {
			time.Sleep(d) // of the test's own clock
			synctest.Wait()
		}
		waiting := tui.Progress{Phase: "waiting for the hub", Waits: true}
		line.Update(waiting)
		wait(9 * time.Second)
		line.Answered()
		line.Update(waiting)
		wait(9 * time.Second)
		line.Update(tui.Progress{Phase: "uploading", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		wait(29 * time.Second) // a transfer has its own interval
		line.Hide()
		line.Update(waiting)
		wait(time.Minute)
		line.Answered()
		line.Update(tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		wait(31 * time.Second)
		line.Hide()
		line.Update(waiting)
		wait(time.Minute)
		want := []string{"waiting for the hub, 10s", "hashing 1 of 4 files, 1.0 KiB of 4.0 KiB, 34 B/s, 2m left"}
		if d := cmp.Diff(want, said); d != "" {
			t.Error(d)
		}
	})
}

// screen is what a terminal shows of a line that is redrawn: \r and what is erased are all
// that it has to know.
func screen(out string) string {
	var lines []string
	row, column := 0, 0
	for out != "" {
		for row >= len(lines) {
			lines = append(lines, "")
		}
		switch {
		case strings.HasPrefix(out, "\x1b[J"):
			lines = append(lines[:row], lines[row][:column])
			out = out[3:]
			continue
		case strings.HasPrefix(out, "\x1b[K"):
			lines[row] = lines[row][:column]
			out = out[3:]
			continue
		case strings.HasPrefix(out, "\x1b[A"):
			row--
			out = out[3:]
			continue
		}
		switch char := out[:1]; char {
		case "\r":
			column = 0
		case "\n":
			row, column = row+1, 0
		default:
			lines[row] = lines[row][:column] + char + lines[row][min(column+1, len(lines[row])):]
			column++
		}
		out = out[1:]
	}
	return strings.Join(lines, "\n")
}

// output is what is drawn, which a test reads meanwhile.
type output struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

func (o *output) reset() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.text.Reset()
}

func TestLine_IsRedrawnInPlaceAndGoneInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		var columns atomic.Int64
		columns.Store(80)
		line := tui.NewLine(&out, func() int { return int(columns.Load()) })
		shows := func(want string) {
			t.Helper()
			time.Sleep(time.Second) // of the test's own clock
			synctest.Wait()
			if got := screen(out.String()); !regexp.MustCompile(`^` + want + `$`).MatchString(got) {
				t.Errorf("%q is shown, want %s", got, want)
			}
		}
		if line.Note("early") {
			t.Error("a note is below nothing")
		}
		const turns = `\S+ `
		line.Update(tui.Progress{Phase: "waiting for the hub", Waits: true})
		shows(turns + `waiting for the hub, 1s`)
		if !line.Note("connection refused; trying again until 12:00:00") {
			t.Error("nothing is shown")
		}
		shows(turns + `waiting for the hub, 2s\n  connection refused; trying again until 12:00:00`)
		line.Above(func() { _, _ = io.WriteString(&out, "warning: x\r\n") })
		shows(`warning: x\n` + turns + `waiting for the hub, 3s\n  connection refused; trying again until 12:00:00`)
		out.reset()
		columns.Store(40)
		shows(turns + `waiting for the hub, 4s\n  connection refused; trying again\n  until 12:00:00`)
		line.Update(tui.Progress{Phase: "uploading", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		shows(turns + `uploading 1.0 KiB of 4.0 KiB, 3s left`)
		line.Answered() // which is not what is shown
		_, _ = io.WriteString(&out, "^C")
		shows(turns + `uploading 1.0 KiB of 4.0 KiB, 6s left`)
		line.Hide()
		shows(``)
		line.Update(tui.Progress{Phase: "waiting", Waits: true})
		shows(turns + `waiting, 1s`)
		line.Answered()
		shows(``)
	})
}

func TestChecklist_LeavesALinePerStepThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for problem, last := range map[string]string{"": "✓ seed    done in 2.0 s\n",
			"failed": "✗ seed    failed after 2.0 s\n"} {
			var out output
			list := tui.NewChecklist(tui.NewLine(&out, func() int { return 80 }), "check", "create", "seed")
			list.Start(0)
			time.Sleep(100 * time.Millisecond) // of the test's own clock
			list.Start(1)
			time.Sleep(75 * time.Second)
			if text := screen(out.String()); !strings.Contains(text, " create  1m15s") {
				t.Errorf("%q is shown", text)
			}
			list.Update(tui.Progress{Phase: "uploading"})
			time.Sleep(time.Second)
			if text := screen(out.String()); !strings.HasSuffix(text, " uploading files") {
				t.Errorf("%q is shown", text)
			}
			list.Start(2)
			time.Sleep(2 * time.Second)
			list.End(problem)
			want := "✓ check   done in 0.1 s\n✓ create  done in 1m16s\n" + last
			if got := screen(out.String()); got != strings.TrimSuffix(tui.Localize(want), "\n") {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

func TestChecklist_PlainWritesLinePerFinishedStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ problem, last string }{
			{"", "Step 3 of 3, seed: done in 2.0 s.\n"},
			{"failed", "Step 3 of 3, seed: failed after 2.0 s.\n"},
		} {
			out := ""
			line := tui.NewLines(10*time.Minute, 0, func(text string) { out += text + "\n" })
			list := tui.NewChecklist(line, "check", "create", "seed")
			list.Start(0)
			time.Sleep(500 * time.Millisecond) // of the test's own clock
			list.Start(1)
			time.Sleep(75 * time.Second)
			list.Update(tui.Progress{Phase: "uploading", TotalFiles: 1})
			list.Start(2)
			time.Sleep(2 * time.Second)
			list.End(c.problem)
			want := "Step 1 of 3, check: done in 0.5 s.\nStep 2 of 3, create: done in 1m15s.\n" + c.last
			if d := cmp.Diff(want, out); d != "" {
				t.Error(d)
			}
		}
	})
}

func TestLine_NothingIsWrittenOfWhatIsOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		line := tui.NewLine(&out, func() int { return 80 })
		tui.NewChecklist(line, "check").End("failed")
		line.Update(tui.Progress{Phase: "waiting", Waits: true})
		time.Sleep(299 * time.Millisecond)
		line.Answered()
		line.Update(tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 1})
		line.Hide()
		line.Hide()
		if text := out.String(); text != "" {
			t.Errorf("%q", text)
		}
	})
}
