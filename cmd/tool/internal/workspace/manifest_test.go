package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/projecthub/cmd/tool/internal/workspace"
)

// manifest returns a local project whose manifest.json has n names, in an array or an object.
func manifest(t testing.TB, n int, object bool) *workspace.Project {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		if names[i] = fmt.Sprintf(`"src/generated/file-%06d.ts"`, i); object {
			names[i] += `: {"hash": "x"}`
		}
	}
	text := "[" + strings.Join(names, ",\n") + "]"
	if object {
		text = "{" + strings.Join(names, ",\n") + "}"
	}
	dir := t.TempDir()
	project := filepath.Join(dir, ".tool", "web")
	if err := os.MkdirAll(project, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"client.json": "{}", "manifest.json": `{"files": ` + text + `}`} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	local, err := ws.Project("web")
	if err != nil {
		t.Fatal(err)
	}
	return local
}

// A position costs a look at all that comes before it: one for each name made
// reading quadratic.
func TestGenerated_ComputesNoPositionsOfValidNames(t *testing.T) {
	for _, object := range []bool{false, true} {
		local := manifest(t, 1000, object)
		count := workspace.CountPositions(t)
		names, err := local.Generated()
		if err != nil || len(names) != 1000 {
			t.Fatalf("%d names, %v", len(names), err)
		}
		if *count > 0 {
			t.Errorf("object %v: %d positions are computed", object, *count)
		}
	}
}

// BenchmarkGenerated reports how many times longer ten times the names take.
func BenchmarkGenerated(b *testing.B) {
	for _, object := range []bool{false, true} {
		few, many := manifest(b, 5000, object), manifest(b, 50_000, object)
		b.Run(fmt.Sprintf("object=%v", object), func(b *testing.B) {
			read := func(local *workspace.Project) time.Duration {
				start := time.Now()
				if _, err := local.Generated(); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			var short, long time.Duration
			for b.Loop() {
				short += read(few)
				long += read(many)
			}
			b.ReportMetric(float64(long)/float64(short), "ratio")
		})
	}
}
