// Package watcher waits until files change, by the reports of the system, or by polling
// where it makes none. It knows directories, and neither projects nor what is done with
// a change.
package watcher

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// Gathering is how long nothing has to change before a change is reported: what
	// changes in a burst goes together. A file that is written all the time delays the
	// others by maxGathering at most.
	Gathering    = 100 * time.Millisecond
	maxGathering = time.Second

	// pollInterval is between two looks where the system does not report changes.
	pollInterval = 2 * time.Second
)

// Watcher watches directories, but not what is below them.
type Watcher struct {
	// Ignore reports whether a change of this path does not matter.
	Ignore func(path string) bool

	warn    func(string)
	watcher *fsnotify.Watcher // nil: changes are polled
	events  <-chan fsnotify.Event
	errors  <-chan error
	polling bool            // the system does not report all changes
	watched map[string]bool // directories
}

// New returns a Watcher of no directory. warn is called once, if changes have to be polled.
func New(warn func(string)) *Watcher {
	w := &Watcher{Ignore: func(string) bool { return false }, warn: warn, watched: map[string]bool{}}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		w.poll(err)
	} else {
		w.watcher, w.events, w.errors = watcher, watcher.Events, watcher.Errors
	}
	return w
}

// Close stops watching.
func (w *Watcher) Close() {
	if w.watcher != nil {
		w.watcher.Close()
	}
}

// Add watches directories, and reports whether one of them is new.
func (w *Watcher) Add(dirs ...string) (grown bool) {
	if w.watcher == nil {
		return false
	}
	for _, dir := range dirs {
		if w.watched[dir] {
			continue
		}
		if err := w.watcher.Add(dir); err != nil {
			w.poll(err)
			continue
		}
		w.watched[dir], grown = true, true
	}
	return grown
}

// poll has changes looked for from now on, where the system does not report them.
func (w *Watcher) poll(why error) {
	if !w.polling {
		w.polling = true
		w.warn("changes cannot be watched: " + why.Error() + "; looking for them every " + pollInterval.String())
	}
}

// Wait returns once something has changed and then nothing for a while, or when the
// time is over. A nil channel never is.
func (w *Watcher) Wait(ctx context.Context, over <-chan time.Time) error {
	var quiet, latest <-chan time.Time
	if w.polling {
		quiet = time.After(pollInterval)
	}
	gather := func() {
		quiet = time.After(Gathering)
		if latest == nil {
			latest = time.After(maxGathering)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		case <-quiet:
			return nil
		case <-latest:
			return nil
		case e := <-w.events:
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				delete(w.watched, e.Name) // a directory that comes back is another
			}
			if !w.Ignore(e.Name) {
				gather()
			}
		case err := <-w.errors: // such as too many events at once, of which some were lost
			w.poll(err)
			gather()
		}
	}
}

// AnyOf returns a function for [Watcher.Ignore] that ignores these paths, and in the
// directory dir all names but those of only.
func AnyOf(ignored []string, dir string, only ...string) func(string) bool {
	all := map[string]bool{}
	for _, path := range ignored {
		all[path] = true
	}
	return func(path string) bool {
		if filepath.Dir(path) != dir {
			return all[path]
		}
		return !slices.Contains(only, filepath.Base(path))
	}
}
