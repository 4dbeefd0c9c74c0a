package tui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/projecthub/hubclient/flat"
)

var someFiles = flat.Difference{
	Added:   []flat.Entry{{Key: "src/new.css", Text: "p {}\nq {}\n"}},
	Changed: []flat.Change{{Key: "src/index.html", From: "a\nb\nc\n", To: "a\nB\nc\nd\n"}, {Key: "logo.png", From: "(binary, 1 KiB)", To: "(binary, 2 KiB)"}},
	Removed: []flat.Entry{{Key: "src/old.v1.css", Text: "(empty)"}},
}

func TestFilesView_ComparesTextsLineByLine(t *testing.T) {
	v := NewFilesView(someFiles, NewTheme(&bytes.Buffer{}))
	v.Resize(60, 20)
	want := []string{
		"  ~ logo.png: (binary, 1 KiB) → (binary, 2 KiB)",
		"  ~ src/index.html: lines: 1 added, 1 changed",
		"  + src/new.css: lines: 2 added",
		"  - src/old.v1.css: (empty)",
	}
	if diff := cmp.Diff(want, v.Lines(false)); diff != "" {
		t.Error(diff)
	}
	v.Press("a")
	all := strings.Join(v.Lines(false), "\n")
	for _, text := range []string{"~ [2] from b\n", "to   B\n", "+ [4] d\n", "+ [1] p {}\n"} {
		if !strings.Contains(all, text) {
			t.Errorf("no %q in\n%s", text, all)
		}
	}
}

func TestFileSentences(t *testing.T) {
	want := []string{
		"1. logo.png changed: (binary, 1 KiB) to (binary, 2 KiB)",
		"2. src/index.html changed, lines: 1 added, 1 changed.",
		"   line 2 changed: b to B",
		"   line 4 added: d",
		"3. src/new.css added, lines: 2 added.",
		"4. src/old.v1.css removed: (empty)",
	}
	if diff := cmp.Diff(want, FullFileSentences(someFiles)); diff != "" {
		t.Error(diff)
	}
}
