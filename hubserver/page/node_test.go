package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/projecthub/store/storetest"
)

// TestScripts_PassTheirOwnTests runs the unit tests of the pages' scripts.
func TestScripts_PassTheirOwnTests(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		const message = "needs the program node, version 20 or newer: install it, as with apt-get install nodejs"
		if os.Getenv(storetest.RequireVariable) != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	tests, err := filepath.Glob("testdata/*/*.test.js")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	args := append([]string{"--test"}, tests...)
	const raw = "process.exit(JSON.rawJSON ? 0 : 1)" // numbers as they are written, as browsers have it
	if exec.CommandContext(t.Context(), node, "-e", raw).Run() != nil {
		args = append([]string{"--harmony-json-parse-with-source"}, args...) // node 20
	}
	run := exec.CommandContext(t.Context(), node, args...)
	if output, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
