package push

import (
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"

	"example.com/projecthub/cmd/tool/internal/workspace"
)

func newWatch(t *testing.T, events <-chan fsnotify.Event, errors <-chan error) (w *watch, warnings *[]string) {
	t.Helper()
	warnings = new([]string)
	local := &workspace.Project{Name: "web", Workspace: &workspace.Workspace{Dir: t.TempDir()}}
	return &watch{
		Options: Options{Local: local, Warn: func(text string) { *warnings = append(*warnings, text) }},
		events:  events, errors: errors, watched: map[string]bool{},
	}, warnings
}

func TestWatch_ReportsAWatcherErrorOnceAndPolls(t *testing.T) {
	errors := make(chan error, 2)
	errors <- fsnotify.ErrEventOverflow
	errors <- fsnotify.ErrEventOverflow
	w, warnings := newWatch(t, nil, errors)
	for range 2 {
		if err := w.change(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(*warnings) != 1 || !w.polling {
		t.Errorf("warnings %q, polling %t", *warnings, w.polling)
	}
	if err := w.change(t.Context(), nil); err != nil { // ends though nothing is reported
		t.Fatal(err)
	}
}

func TestWatch_IsNotDelayedWithoutEndByEvents(t *testing.T) {
	events, done := make(chan fsnotify.Event), make(chan bool)
	w, _ := newWatch(t, events, nil)
	go func() {
		defer close(done)
		if err := w.change(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}()
	for {
		select {
		case events <- fsnotify.Event{Name: "busy", Op: fsnotify.Write}:
		case <-done:
			return
		}
	}
}

func TestWatch_IsConcernedByWhatDecidesWhatIsPushed(t *testing.T) {
	w, _ := newWatch(t, nil, nil)
	dir := w.Local.Workspace.Dir
	w.skipped = map[string]bool{filepath.Join(dir, "x.log"): true}
	for name, want := range map[string]bool{
		"a.txt": true, ".toolignore": true, "x.log": false,
		".tool/web/client.json": true, ".tool/web/manifest.json": true, ".tool/web/pulled.json": false, ".tool/web/stack.json": false,
	} {
		if got := w.concerns(fsnotify.Event{Name: filepath.Join(dir, filepath.FromSlash(name)), Op: fsnotify.Write}); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
