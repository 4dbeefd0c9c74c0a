// Package state is what tool remembers on this machine outside the workspace: copies of what
// the last pull replaced, answers to questions, reminders, and the sync state, a cache of what
// was last pushed or pulled.
//
// It knows neither the hub nor the workspace: what it saves has a name.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
)

// Dir is the directory for what is to last; "" saves nothing.
type Dir string

// ErrNoDirectory says that there is no state directory to store anything in.
var ErrNoDirectory = errors.New("set TOOL_STATE_DIR to a directory for it")

// Consented reports whether a question about name was answered with yes before.
func (d Dir) Consented(name string) bool {
	_, err := os.Lstat(d.consent(name))
	return d != "" && err == nil
}

// Consent remembers a yes.
func (d Dir) Consent(name string) error {
	if d == "" {
		return ErrNoDirectory
	}
	return atomicfile.WriteFile(d.consent(name), []byte(name+"\n")) // for a person who looks into the file
}

func (d Dir) consent(name string) string { return filepath.Join(string(d), "consents", NameOf(name)) }

// NameOf returns a name of a file for a name of any form.
func NameOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// Due reports whether a reminder with this name is due: at most once in a time. Where
// nothing can be remembered, it is always due.
func Due(dir, name string, every time.Duration) bool {
	path := filepath.Join(dir, "reminders", name)
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()).Abs() < every {
		return false
	}
	if dir != "" {
		_ = atomicfile.WriteCache(path, nil) // at worst the reminder comes again
	}
	return true
}
