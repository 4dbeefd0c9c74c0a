package push

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/workspace"
)

func testWatch(t *testing.T, events <-chan fsnotify.Event, errors <-chan error) (w *watch, stderr *bytes.Buffer) {
	t.Helper()
	stderr = new(bytes.Buffer)
	local := &workspace.Project{Name: "web", Workspace: &workspace.Workspace{Dir: t.TempDir()}}
	a := app.New(os.LookupEnv, term.Streams{Err: stderr})
	w = newWatch(&push{app: a, local: local}, nil)
	w.events, w.errors = events, errors
	return w, stderr
}

func TestWatch_ReportsAWatcherErrorOnceAndPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errors := make(chan error, 2)
		errors <- fsnotify.ErrEventOverflow
		errors <- fsnotify.ErrEventOverflow
		w, warnings := testWatch(t, nil, errors)
		for range 2 {
			if err := w.change(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(warnings.String(), "warning: "); n != 1 || !w.polling {
			t.Errorf("%d warnings, polling %t", n, w.polling)
		}
		if err := w.change(t.Context(), nil); err != nil { // ends though nothing is reported
			t.Fatal(err)
		}
	})
}

func TestWatch_IsNotDelayedWithoutEndByEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, done := make(chan fsnotify.Event), make(chan bool)
		w, _ := testWatch(t, events, nil)
		go func() {
			defer close(done)
			if err := w.change(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}()
		for {
			select {
			case events <- fsnotify.Event{Name: "busy", Op: fsnotify.Write}:
				time.Sleep(gathering / 2) // of the bubble's clock
			case <-done:
				return
			}
		}
	})
}

func TestWatch_IsConcernedByWhatDecidesWhatIsPushed(t *testing.T) {
	w, _ := testWatch(t, nil, nil)
	dir := w.first.local.Workspace.Dir
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
