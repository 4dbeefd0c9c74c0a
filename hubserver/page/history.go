package page

import (
	"strings"
	"time"
)

// History is the tab with the history of a project: of its config, or of its base files.
type History struct {
	Project
	CanSee   bool // the viewer may see the history
	Files    bool // it is that of the base files
	Entries  []Written
	First    string // the address of the newest entries; "" when they are shown
	Next     string // the address of older ones; "" for the last ones
	Entry    *Entry // the one that is shown alone
	Restored bool
	Outdated bool // what was to be replaced by a restore has changed since it was shown
	NotKept  bool // the entry that was asked for is not kept
}

// Written is an entry of a history.
type Written struct {
	ID        string // the revision, or the digest of the tree
	URL       string
	At        time.Time
	By, Via   string // Via is "" if it is not known
	TokenName string
	RequestID string
	Count     int // base files
	Added     int
	Changed   int
	Removed   int
	IsCurrent bool
}

// Entry is an entry with what it changed, and what restoring it would change.
type Entry struct {
	Written
	Current string // what a restore would replace
	Changes Changes
	Restore Changes
}

// Changes are some of the differences between two states, and how many more there are.
type Changes struct {
	List    []Change
	More    int
	Unknown bool // what was there before is not kept
}

// Change is a key or a path that differs. Kind is added, changed or removed.
type Change struct{ Kind, Key, From, To string }

// MaxChanges is how many differences are shown, and MaxValue how many bytes of a value.
const (
	MaxChanges = 200
	MaxValue   = 500
)

// Add adds a difference, or counts it.
func (c *Changes) Add(change Change) {
	if len(c.List) >= MaxChanges {
		c.More++
		return
	}
	change.From, change.To = clip(change.From), clip(change.To)
	c.List = append(c.List, change)
}

// Empty reports whether there is no difference.
func (c Changes) Empty() bool { return len(c.List) == 0 }

func clip(s string) string {
	if len(s) <= MaxValue {
		return s
	}
	return strings.ToValidUTF8(s[:MaxValue], "") + "…"
}

// Commands are the command lines that do the same as the screen.
func (h History) Commands() []string {
	project, files := " --project "+h.Ref, ""
	if h.Files {
		files = " --base-files"
	}
	if h.Entry == nil {
		return []string{"tool log" + project + files}
	}
	var lines []string
	id := short(h.Entry.ID)
	if !h.Files {
		lines = append(lines, "tool show "+id+project)
	}
	if h.CanWrite && !h.Entry.IsCurrent {
		lines = append(lines, "tool restore "+id+project+files)
	}
	if len(lines) == 0 {
		lines = append(lines, "tool log"+project+files)
	}
	return lines
}

// Render returns the page.
func (h History) Render() ([]byte, error) { return render("history", h) }
