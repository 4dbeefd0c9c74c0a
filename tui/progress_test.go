package tui_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/tui"
)

func TestLine_FitsWidth(t *testing.T) {
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
		if got := tui.Line(p, 2*time.Second, c.width); got != c.want {
			t.Errorf("in %d columns: %s", c.width, got)
		}
	}
	for _, c := range []struct {
		p    tui.Progress
		want string
	}{
		{tui.Progress{Phase: "collecting"}, "collecting files"},
		{tui.Progress{Phase: "waiting for https://hub.example.com", Waits: true}, "waiting for https://hub.example.com, 1s"},
		{tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 2, Bytes: 1, TotalBytes: 301}, "hashing 1 of 2 files, 1 B of 301 B, 1 B/s, 5m left"},
		{tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 2, Bytes: 1, TotalBytes: 7201}, "hashing 1 of 2 files, 1 B of 7.0 KiB, 1 B/s, 2h left"},
		{tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 2, Bytes: 1, TotalBytes: 1 << 30}, "hashing 1 of 2 files, 1 B of 1.0 GiB, 1 B/s, days left"},
		{tui.Progress{Phase: "hashing", TotalFiles: 2, TotalBytes: 10}, "hashing 0 of 2 files, 0 B of 10 B"},
	} {
		if got := tui.Line(c.p, time.Second, 80); got != c.want {
			t.Errorf("%+v: %s", c.p, got)
		}
	}
	for width := 1; width < 100; width++ {
		if got := lipgloss.Width(tui.Line(p, 2*time.Second, width)); got > width {
			t.Errorf("%d columns in %d", got, width)
		}
	}
}

func TestLines_AppearAtInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		lines := tui.NewLines(10*time.Second, func(line string) { said = append(said, line) })
		wait := func(d time.Duration) {
			time.Sleep(d) // of the test's own clock
			synctest.Wait()
		}
		wait(15 * time.Second)
		lines.Update(tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		wait(10 * time.Second) // 25 s
		lines.Update(tui.Progress{Phase: "uploading", Files: 1, TotalFiles: 4, Bytes: 1024, TotalBytes: 4096})
		wait(20 * time.Second) // 45 s
		lines.Update(tui.Progress{Phase: "uploading", Files: 4, TotalFiles: 4, Bytes: 4096, TotalBytes: 4096})
		wait(20 * time.Second) // 65 s, and nothing is left to tell
		lines.Hide()
		lines.Hide()
		wait(time.Minute)
		want := []string{
			"hashing 1 of 4 files, 1.0 KiB of 4.0 KiB, 204 B/s, 15s left",
			"uploading 1 of 4 files, 1.0 KiB of 4.0 KiB, 204 B/s, 15s left",
			"uploading 1 of 4 files, 1.0 KiB of 4.0 KiB, 68 B/s, 45s left",
		}
		if d := cmp.Diff(want, said); d != "" {
			t.Error(d)
		}
	})
}

func TestChecklist_PlainWritesLinePerFinishedStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ problem, last string }{
			{"", "Step 3 of 3, seed: done in 2.0 s.\n"},
			{"failed", "Step 3 of 3, seed: failed after 2.0 s.\n"},
		} {
			var out strings.Builder
			list := tui.NewChecklist(tui.Terminal{Out: &out, Plain: true, Columns: 80}, "check", "create", "seed")
			list.Start(0)
			time.Sleep(500 * time.Millisecond) // of the test's own clock
			list.Start(1)
			time.Sleep(75 * time.Second)
			list.Update(tui.Progress{Phase: "uploading", TotalFiles: 1})
			list.Start(2)
			time.Sleep(2 * time.Second)
			list.End(c.problem)
			want := "Step 1 of 3, check: done in 0.5 s.\nStep 2 of 3, create: done in 1m15s.\n" + c.last
			if d := cmp.Diff(want, out.String()); d != "" {
				t.Error(d)
			}
		}
	})
}

func TestChecklist_WritesNothingBeforeStart(t *testing.T) {
	for _, plain := range []bool{true, false} {
		var out strings.Builder
		tui.NewChecklist(tui.Terminal{Out: &out, Plain: plain, Columns: 80}, "check").End("failed")
		if out.Len() > 0 {
			t.Errorf("plain %v: %q", plain, out.String())
		}
	}
}

func TestTransfer_ShortOneIsNotShown(t *testing.T) {
	var out strings.Builder
	transfer := tui.NewTransfer(&out, 80)
	transfer.Update(tui.Progress{Phase: "hashing", Files: 1, TotalFiles: 1})
	transfer.Hide()
	transfer.Hide()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}
