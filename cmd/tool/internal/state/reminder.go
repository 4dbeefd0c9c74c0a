package state

import (
	"os"
	"path/filepath"
	"time"
)

// Due reports whether a reminder with this name is due: at most once in a time. Where
// nothing can be remembered, it is always due.
func Due(dir, name string, every time.Duration) bool {
	path := filepath.Join(dir, "reminders", name)
	now := time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()).Abs() < every {
		return false
	}
	if dir == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return true
	}
	if os.WriteFile(path, nil, 0o600) == nil {
		_ = os.Chtimes(path, now, now) // at worst the reminder comes again
	}
	return true
}
