// Package state is what tool remembers on this machine outside the workspace: the undo
// history, which saves what a push or a pull replaces, and the sync state, a cache of
// what was last pushed or pulled. It also writes files atomically.
//
// It knows neither the hub nor the workspace: it saves values under a name and returns
// the latest one.
package state
