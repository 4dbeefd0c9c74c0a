package page

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// History is the tab with the history of a project: of its config, or of its base files.
type History struct {
	*Project
	OfFiles  bool // it is that of the base files
	CanSee   bool // the viewer may see the history
	Days     []Day
	From, To int64  // numbers of the two newest of them, which are compared unless others are chosen
	First    string // the address of the newest revisions; "" when they are shown
	Next     string // the address of older ones; "" for the last ones
	Shown    *Comparison
	Restored bool
	NotKept  bool // what was asked for is not kept
}

// Day is the revisions of a day in UTC, the newest first.
type Day struct {
	Date      time.Time
	Revisions []store.Revision
}

// Comparison is a revision, what it changed since another one, and what restoring it would change.
type Comparison struct {
	store.Revision
	Since     int64  // number of the other one; 0: the one before
	IsCurrent bool   // there is nothing to restore
	Current   string // what a restore would replace
	Changes   Changes
	Restore   Changes
}

func (h *History) kind() store.RevisionKind {
	if h.OfFiles {
		return store.Files
	}
	return store.Config
}

// Commands are the command lines that do the same as the screen, after what their button says.
func (h *History) Commands() []string {
	project, files := " --project "+h.Ref, ""
	if h.OfFiles {
		files = " --base-files"
	}
	lines := []string{"tool log", "tool log" + project + files}
	if h.Shown == nil {
		return lines
	}
	if !h.OfFiles {
		lines = []string{"tool show", "tool show " + short(h.Shown.Digest) + project}
	}
	if h.CanWrite && !h.Shown.IsCurrent {
		lines[0] = "tool restore"
		lines = append(lines, "tool restore "+short(h.Shown.Digest)+project+files)
	}
	return lines
}

// names says which keys or files a revision changed, such as: title, theme.accent and 2 more.
func names(r store.Revision) string {
	n := r.Names()
	shown := slices.Concat(n.Added, n.Changed, n.Removed)
	shown = shown[:min(len(shown), 3)]
	text := strings.Join(shown, ", ")
	if more := r.Added + r.Changed + r.Removed - len(shown); more > 0 && text != "" {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// historyPage shows the History tab: a page of revisions, or with ?to= one of them with what it changed, since that
// of ?from= or the one before.
func historyPage(c *request.Call, p *Project) (err error) {
	q := c.R.URL.Query()
	shown := &History{
		Project: p, OfFiles: q.Get("of") == "files", CanSee: c.Has(wire.Reader), Restored: q.Has("restored"),
	}
	switch {
	case !shown.CanSee:
	case q.Get("to") != "":
		err = compare(c, shown, q.Get("from"), q.Get("to"))
	default:
		err = fillDays(c, shown)
	}
	if shown.NotKept = errors.Is(err, store.ErrNotFound); shown.NotKept {
		return show(c, http.StatusNotFound, "history", shown)
	}
	if err != nil {
		return err
	}
	return show(c, http.StatusOK, "history", shown)
}

// pageRevisions is how many revisions a page of a history lists.
const pageRevisions = 50

// fillDays fills in the page of the history that the query asks for.
func fillDays(c *request.Call, shown *History) error {
	before, err := strconv.ParseInt(c.R.URL.Query().Get("cursor"), 10, 64)
	if err != nil || before < 1 {
		before = 0
	}
	revisions, err := c.View().History(shown.ID, shown.kind(), before, pageRevisions+1)
	if err != nil {
		return err
	}
	path, address := "/"+shown.Ref+"/history", url.Values{}
	if shown.OfFiles {
		address.Set("of", "files")
	}
	if before > 0 {
		shown.First = withQuery(path, address)
	}
	if len(revisions) > pageRevisions {
		revisions = revisions[:pageRevisions]
		address.Set("cursor", strconv.FormatInt(revisions[pageRevisions-1].N, 10))
		shown.Next = withQuery(path, address)
	}
	if len(revisions) > 0 {
		shown.To, shown.From = revisions[0].N, revisions[min(1, len(revisions)-1)].N
	}
	for _, r := range revisions {
		date := r.At.Time().Truncate(24 * time.Hour)
		if n := len(shown.Days); n == 0 || !shown.Days[n-1].Date.Equal(date) {
			shown.Days = append(shown.Days, Day{Date: date})
		}
		day := &shown.Days[len(shown.Days)-1]
		day.Revisions = append(day.Revisions, r)
	}
	return nil
}

// comparisonMemory is how many times the size of what a revision has a comparison takes: three of them, read
// and compared.
const comparisonMemory = 6

// compare fills in the revision numbered to, what it changed since that numbered from, by default the one before, and
// what restoring it would change. ErrNotFound if one of them is not kept.
func compare(c *request.Call, shown *History, from, to string) error {
	changes, size := configChanges, c.Hub.Limits.ConfigBytes
	if shown.OfFiles {
		changes, size = fileChanges, request.MaxPlan/4
	}
	if err := c.Need(comparisonMemory * size); err != nil {
		return err
	}
	v := c.View()
	is, err := numbered(v, shown, to)
	if err != nil {
		return err
	}
	now, err := v.Newest(shown.ID, shown.kind())
	if err != nil {
		return err
	}
	shown.Shown = &Comparison{Revision: is, IsCurrent: now.Digest == is.Digest, Current: now.Digest}
	if shown.Shown.Restore, err = changes(now.Content, is.Content); err != nil {
		return err
	}
	var was store.Revision
	switch {
	case from != "":
		was, err = numbered(v, shown, from)
		shown.Shown.Since = was.N
	case is.Parent != "":
		was, err = v.Revision(shown.ID, shown.kind(), is.Parent)
		if errors.Is(err, store.ErrNotFound) {
			shown.Shown.Changes.Unknown = true
			return nil
		}
	}
	if err == nil {
		shown.Shown.Changes, err = changes(was.Content, is.Content)
	}
	return err
}

// numbered returns the revision with a number, or ErrNotFound if it is not kept, or not one of the history.
func numbered(v store.View, shown *History, text string) (r store.Revision, err error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return r, store.ErrNotFound
	}
	r, err = v.Numbered(shown.ID, shown.kind(), n)
	if err == nil && !r.Written() { // no history shows it
		err = store.ErrNotFound
	}
	return r, err
}

// Changes are some of the differences between two states, and how many more there are.
type Changes struct {
	List    []Change
	More    int
	Unknown bool // what was there before is not kept
}

// Change is a key or a path that differs. Kind is added, changed or removed.
type Change struct{ Kind, Key, From, To string }

// Empty reports whether there is no difference.
func (c Changes) Empty() bool { return len(c.List) == 0 }

const (
	maxChanges = 200 // that are shown
	maxValue   = 500 // bytes of a value
)

// add adds a difference, or counts it.
func (c *Changes) add(change Change) {
	if len(c.List) >= maxChanges {
		c.More++
		return
	}
	change.From, change.To = clip(change.From), clip(change.To)
	c.List = append(c.List, change)
}

func clip(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "") + "…"
}

func configChanges(from, to []byte) (changes Changes, err error) {
	if from == nil {
		from = []byte("{}")
	}
	err = store.CompareConfigs(from, to, func(key string, before, after []byte) {
		kind := kindOf(before != nil, after != nil)
		changes.add(Change{Kind: kind, Key: key, From: string(before), To: string(after)})
	})
	return changes, err
}

func fileChanges(from, to []byte) (changes Changes, err error) {
	err = tree.Changes(from, to, func(was, is *tree.Entry) error {
		changes.add(Change{Kind: kindOf(was != nil, is != nil), Key: cmp.Or(is, was).Path})
		return nil
	})
	return changes, err
}

// kindOf returns the kind of a change: was and is say whether there was something before, and is after.
func kindOf(was, is bool) string {
	switch {
	case !was:
		return "added"
	case !is:
		return "removed"
	}
	return "changed"
}
