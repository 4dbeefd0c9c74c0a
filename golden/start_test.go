//go:build unix

package golden_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart tells how much longer tool takes to start and end than a program
// that prints one line: in a pipe, in a terminal that answers, and in one that
// never does. The two run in turn, so that a noisy machine is noisy for both.
func BenchmarkStart(b *testing.B) {
	hello := buildHello(b)
	for name, run := range map[string]func(testing.TB, *exec.Cmd){
		"pipe":      func(t testing.TB, c *exec.Cmd) { c.CombinedOutput() },
		"answering": func(t testing.TB, c *exec.Cmd) { inTerminal(t, c, false) },
		"silent":    func(t testing.TB, c *exec.Cmd) { inTerminal(t, c, true) },
	} {
		for _, args := range [][]string{{"--version"}, {"push", "--help"}} {
			b.Run(name+"/"+args[0], func(b *testing.B) {
				var ours, theirs time.Duration
				for b.Loop() {
					theirs += took(func() { run(b, exec.Command(hello)) })
					ours += took(func() { run(b, exec.Command(program("tool"), args...)) })
				}
				b.ReportMetric(float64(ours)/float64(theirs), "x/hello")
				b.ReportMetric(0, "ns/op") // it is that of two programs
			})
		}
	}
}

// BenchmarkFirstFrame tells how long the wizard takes until something of it stands
// on the screen, in milliseconds and against tool --version, run in turn.
func BenchmarkFirstFrame(b *testing.B) {
	w := newLocal(b, before)
	var frame, version time.Duration
	n := 0
	for b.Loop() {
		version += took(func() { inTerminal(b, exec.Command(program("tool"), "--version"), false) })
		frame += took(func() {
			term := open(b, w.command("project", "create"), usual, false)
			term.until("shows anything", func(screen string) bool { return strings.TrimSpace(screen) != "" })
			b.Cleanup(term.close)
		})
		n++
	}
	b.ReportMetric(frame.Seconds()*1000/float64(n), "ms/frame")
	b.ReportMetric(float64(frame)/float64(version), "x/version")
	b.ReportMetric(0, "ns/op")
}

func inTerminal(t testing.TB, c *exec.Cmd, silent bool) {
	term := open(t, c, usual, silent)
	<-term.done
	term.close()
}

func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func buildHello(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	source := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	hello := filepath.Join(dir, "hello")
	if out, err := exec.Command("go", "build", "-o", hello, source).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return hello
}
