package golden_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// peak is a limit for the memory of a program that moves the largest set, in MiB.
const peak = 128

// BenchmarkPushOfAGibibyte moves the largest set there can be, and tells the peak
// memory of client and hub.
//
//	go test ./golden -run '^$' -bench Gibibyte -benchtime 1x
func BenchmarkPushOfAGibibyte(b *testing.B) {
	b.Run("few large files", func(b *testing.B) { pushGibibyte(b, 100) })
	b.Run("large files", func(b *testing.B) { pushGibibyte(b, 1) })
}

// pushGibibyte pushes a set in which one file of so many is nearly as large as one
// may be.
func pushGibibyte(b *testing.B, oneOf int) {
	w := newWorld(b, `{"basePath": "src"}`)
	plantSource(b, w.dir, 500)
	sources, err := filepath.Glob(filepath.Join(w.dir, "src/*/*/*/*"))
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	for _, name := range sources {
		content, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(content)
	}
	left := 1<<30 - text.Len() - 1<<20
	for i := 0; left > 0; i++ {
		size := min(left, 300<<10)
		if i%oneOf == 0 {
			size = min(left, 24<<20)
		}
		var large bytes.Buffer
		for fmt.Fprintln(&large, "large", i); large.Len() < size; {
			large.Write(text.Bytes()[:min(text.Len(), size-large.Len())])
		}
		w.write(fmt.Sprintf("src/large%d/%d.ts", i%9, i), large.String()[:size])
		left -= size
	}
	for b.Loop() {
		w.forget()
		c := w.command("push", "web", "--base-files-only", "--no-input", "--verbose")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- c.Wait() }()
		client, running := 0.0, true
		for running { // rusage would count what this program takes, too
			select {
			case err := <-ended:
				if running = false; err != nil {
					b.Fatalf("%v\n%s", err, &out)
				}
			case <-time.After(10 * time.Millisecond):
				client = max(client, highest(c.Process.Pid))
			}
		}
		hub := highest(w.hub.cmd.Process.Pid)
		b.ReportMetric(client, "client-MiB")
		b.ReportMetric(hub, "hub-MiB")
		if client > peak || hub > peak {
			b.Errorf("the client took %.0f MiB and the hub %.0f, at most %d are to be taken\n%s", client, hub, peak, &out)
		}
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// highest is the greatest resident memory of a process so far, in MiB; 0 when it
// has ended.
func highest(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := highWater.FindSubmatch(status)
	if err != nil || found == nil {
		return 0
	}
	kb, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return 0
	}
	return kb / 1024
}
