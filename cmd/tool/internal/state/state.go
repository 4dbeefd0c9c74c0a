// Package state is what tool remembers on this machine outside the workspace: copies of what
// the last pull replaced, answers to questions, and the sync state, a cache of what was last
// pushed or pulled. It also writes files atomically.
//
// It knows neither the hub nor the workspace: what it saves has a name.
package state

// Dir is the directory for what is to last; "" saves nothing.
type Dir string
