package push

import (
	"io"
	"strings"
	"testing"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func TestWatch_CountsThePushesThatChangedSomething(t *testing.T) {
	files := func(n int) *result { return &result{FilesResult: &FilesResult{Changed: n}} }
	config := files(0)
	config.ConfigChanged = true
	for want, results := range map[string][]*result{
		"0 pushes, 0 files changed,": {files(0)},
		"1 push, 0 files changed,":   {config},
		"1 push, 2 files changed,":   {files(0), files(2)},
		"2 pushes, 3 files changed,": {files(1), files(2)},
	} {
		var out strings.Builder
		a := app.New(func(string) (string, bool) { return "", false }, term.Streams{Out: &out, Err: &out})
		w := &watch{push: &push{Target: app.Target{App: a}, opts: Options{Files: true}, transfer: app.NoTransfer{}}}
		for _, r := range results {
			w.count(r)
		}
		if err := w.end(nil); err != nil || !strings.Contains(out.String(), "Stopped watching: "+want) {
			t.Errorf("want %q in %s", want, &out)
		}
	}
}

func TestWatch_AsksNothingAfterTheFirstPush(t *testing.T) {
	streams := term.Streams{Out: io.Discard, Err: io.Discard, InTTY: true, OutTTY: true}
	a := app.New(func(string) (string, bool) { return "", false }, streams)
	w := &watch{push: newPush(a, &workspace.Project{}, Options{Files: true})}
	if first, next := w.asks, w.next(true).asks || w.next(false).asks; !first || next {
		t.Errorf("the first push asks: %v, the next one: %v", first, next)
	}
}
