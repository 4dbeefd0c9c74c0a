package watcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func testWatcher(events <-chan fsnotify.Event, errors <-chan error) (*Watcher, *[]string) {
	var warnings []string
	return &Watcher{
		Ignore: func(string) bool { return false }, warn: func(s string) { warnings = append(warnings, s) },
		events: events, errors: errors, watched: map[string]bool{},
	}, &warnings
}

func TestWatcher_ReportsAnErrorOnceAndPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errors := make(chan error, 2)
		errors <- fsnotify.ErrEventOverflow
		errors <- fsnotify.ErrEventOverflow
		w, warnings := testWatcher(nil, errors)
		for range 3 { // the third ends though nothing is reported
			if err := w.Wait(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "looking for them") || !w.polling {
			t.Errorf("%q, polling %t", *warnings, w.polling)
		}
	})
}

func TestWatcher_IsNotDelayedWithoutEndByEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, done := make(chan fsnotify.Event), make(chan bool)
		w, _ := testWatcher(events, nil)
		go func() {
			defer close(done)
			if err := w.Wait(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}()
		for {
			select {
			case events <- fsnotify.Event{Name: "busy", Op: fsnotify.Write}:
				time.Sleep(Gathering / 2) // of the bubble's clock
			case <-done:
				return
			}
		}
	})
}

func TestAnyOf_IgnoresListedPathsAndOtherNamesOfDirectory(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	ignore := AnyOf([]string{at("x.log")}, at(".tool/web"), "client.json", "manifest.json")
	for name, want := range map[string]bool{
		"a.txt": false, ".toolignore": false, "x.log": true,
		".tool/web/client.json": false, ".tool/web/manifest.json": false, ".tool/web/pulled.json": true,
		".tool/web/stack.json": true,
	} {
		if got := ignore(at(name)); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestWatcher_ReportsWrittenFile(t *testing.T) {
	dir := t.TempDir()
	w := New(func(text string) { t.Error(text) })
	defer w.Close()
	if !w.Add(dir) || w.Add(dir) {
		t.Error("only the first Add of a directory is new")
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}
