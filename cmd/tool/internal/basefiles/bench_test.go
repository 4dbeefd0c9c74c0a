package basefiles_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gitignore says for git what the built-in rules say of plantApp's tree.
const gitignore = "node_modules/\n/dist/\n*.log\n.env*\n!.env.example\n.cache/\n/coverage\n"

// plantApp makes a repository of total files as apps have them: most of them
// fetched or made and so left out, 15 of 100 the app's own.
func plantApp(b *testing.B, total int) (root string) {
	b.Helper()
	root = b.TempDir()
	text := []byte(strings.Repeat("export const value = 1;\n", 40))
	last := ""
	put := func(name string) {
		name = filepath.Join(root, name)
		if dir := filepath.Dir(name); dir != last {
			must(b, os.MkdirAll(dir, 0o777))
			last = dir
		}
		must(b, os.WriteFile(name, text, 0o666))
		age(b, name)
	}
	fetched, made := total*80/100, total*5/100
	for i := range fetched {
		put(fmt.Sprintf("node_modules/pkg%03d/lib/d%d/m%d.js", i/25, i%25/7, i))
	}
	for i := range made {
		put(fmt.Sprintf("dist/assets/chunk%d.js", i))
	}
	for i := range total - fetched - made {
		dir := i / 8
		put(fmt.Sprintf("src/area%02d/feature%02d/part%d/file%d.ts", dir%7, dir/7%37, dir/259, i))
	}
	put("package.json")
	write(b, filepath.Join(root, ".gitignore"), gitignore)
	git(b, root, "init", "-q")
	git(b, root, "add", "-A")
	git(b, root, "commit", "-q", "-m", "app")
	return root
}

// ratio runs ours and git in turn, each as a whole process in dir, and reports
// how often ours takes git's time, by the medians.
func ratio(b *testing.B, dir string, ours, git []string) {
	run := func(args []string) (string, time.Duration) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		start := time.Now()
		out, err := cmd.Output()
		took := time.Since(start)
		if err != nil {
			b.Fatalf("%v: %v", args, err)
		}
		return string(out), took
	}
	want, _ := run(git)
	got, _ := run(ours)
	lines := func(s string) []string { return slices.Sorted(strings.Lines(s)) }
	if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
		b.Fatalf("(-git +ours):\n%s", diff)
	}
	commands := [2][]string{ours, git}
	var took [2][]time.Duration
	for first := 0; b.Loop(); first = 1 - first { // who runs second has a warmer or a busier machine
		for _, which := range [2]int{first, 1 - first} {
			_, d := run(commands[which])
			took[which] = append(took[which], d)
		}
	}
	b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "x/git")
	b.ReportMetric(0, "ns/op") // of both together: means nothing
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// buildChoose returns the program that chooses in its working directory.
func buildChoose(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "choose")
	c := exec.Command("go", "build", "-o", program, "./testdata/choose")
	c.Env = append(os.Environ(), "CGO_ENABLED=0") // as tool is released
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// BenchmarkChoose: at most 1.1 x/git is the goal.
func BenchmarkChoose(b *testing.B) {
	need(b, "git")
	program := buildChoose(b)
	for _, total := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(total), func(b *testing.B) {
			ratio(b, plantApp(b, total), []string{program}, []string{"git", "ls-files", "-co", "--exclude-standard"})
		})
	}
}

// BenchmarkUnchanged finds out that nothing changed: at most 1 x/git is the goal.
func BenchmarkUnchanged(b *testing.B) {
	need(b, "git")
	program, cache := buildChoose(b), b.TempDir()
	for _, total := range []int{10_000, 66_000} { // of the latter, 10,000 are selected
		b.Run(fmt.Sprint(total), func(b *testing.B) {
			ratio(b, plantApp(b, total), []string{program, cache}, []string{"git", "status", "--porcelain"})
		})
	}
}

// BenchmarkHash reads and hashes without a cache.
func BenchmarkHash(b *testing.B) {
	root := b.TempDir()
	text := strings.Repeat("0123456789abcde\n", 640) // 10 KiB
	for i := range 2000 {
		write(b, filepath.Join(root, fmt.Sprintf("d%d/f%d", i/8, i)), text)
	}
	s := choose(b, at(root))
	b.SetBytes(s.Bytes)
	for b.Loop() {
		hash(b, s)
	}
}
