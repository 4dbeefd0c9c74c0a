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
	run := exec.CommandContext(t.Context(), node, append([]string{"--test"}, tests...)...)
	if output, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
