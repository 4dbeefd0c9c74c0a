package page

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/api"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// History is the tab with the history of a project: of its config, or of its base files.
type History struct {
	*Project
	OfFiles  bool // it is that of the base files
	CanSee   bool // the viewer may see the history
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
	store.Revision
	IsCurrent bool
	URL       string // in a list
}

// Entry is an entry with what it changed, and what restoring it would change.
type Entry struct {
	Written
	Current string // what a restore would replace
	Changes Changes
	Restore Changes
}

func (h *History) kind() store.RevisionKind {
	if h.OfFiles {
		return store.Files
	}
	return store.Config
}

// Commands are the command lines that do the same as the screen.
func (h *History) Commands() []string {
	project, files := " --project "+h.Ref, ""
	if h.OfFiles {
		files = " --base-files"
	}
	var lines []string
	if h.Entry != nil && !h.OfFiles {
		lines = append(lines, "tool show "+short(h.Entry.Digest)+project)
	}
	if h.Entry != nil && h.CanWrite && !h.Entry.IsCurrent {
		lines = append(lines, "tool restore "+short(h.Entry.Digest)+project+files)
	}
	if len(lines) == 0 {
		lines = append(lines, "tool log"+project+files)
	}
	return lines
}

// historyPage shows the History tab: a page of the history of the config or of the base files, or
// one entry of it.
func historyPage(c *request.Call, p *Project) error {
	q := c.R.URL.Query()
	shown := &History{Project: p, OfFiles: q.Get("of") == "files", Restored: q.Has("restored")}
	digest := q.Get("revision")
	if shown.OfFiles {
		digest = q.Get("tree")
	}
	return showHistory(c, http.StatusOK, shown, digest)
}

// showHistory responds with the tab: with the entry of a digest, without one with a list of entries.
func showHistory(c *request.Call, status int, shown *History, digest string) (err error) {
	shown.CanSee = c.Has(wire.Reader)
	switch {
	case !shown.CanSee, shown.NotKept:
	case digest != "":
		err = fillEntry(c, shown, digest)
	default:
		err = fillEntries(c, shown)
	}
	if err != nil {
		return err
	}
	if shown.NotKept {
		status = http.StatusNotFound
	}
	return show(c, status, "history", shown)
}

// pageEntries is how many entries a page of a history lists.
const pageEntries = 50

// fillEntries fills in the page of the history that the query asks for.
func fillEntries(c *request.Call, shown *History) error {
	before, err := strconv.ParseInt(c.R.URL.Query().Get("cursor"), 10, 64)
	if err != nil || before < 1 {
		before = 0
	}
	entries, err := c.View().History(shown.ID, shown.kind(), before, pageEntries+1)
	if err != nil {
		return err
	}
	path, address, entry := "/"+shown.Ref+"/history", url.Values{}, "?revision="
	if shown.OfFiles {
		address.Set("of", "files")
		entry = "?of=files&tree="
	}
	if before > 0 {
		shown.First = withQuery(path, address)
	}
	if len(entries) > pageEntries {
		entries = entries[:pageEntries]
		address.Set("cursor", strconv.FormatInt(entries[pageEntries-1].N, 10))
		shown.Next = withQuery(path, address)
	}
	for i, r := range entries {
		shown.Entries = append(shown.Entries, Written{r, before == 0 && i == 0, path + entry + r.Digest})
	}
	return nil
}

// entryMemory is how many times the size of what a revision has an entry takes: three of them, read
// and compared.
const entryMemory = 6

// fillEntry fills in one revision, what it changed, and what restoring it would change.
func fillEntry(c *request.Call, shown *History, digest string) error {
	compare, size := configChanges, c.Hub.Limits.ConfigBytes
	if shown.OfFiles {
		compare, size = fileChanges, request.MaxPlan/4
	}
	if err := c.Need(entryMemory * size); err != nil {
		return err
	}
	v := c.View()
	is, err := v.Revision(shown.ID, shown.kind(), digest)
	if errors.Is(err, store.ErrNotFound) {
		shown.NotKept = true
		return nil
	}
	if err != nil {
		return err
	}
	now, err := v.Newest(shown.ID, shown.kind())
	if err != nil {
		return err
	}
	shown.Entry = &Entry{Written: Written{Revision: is, IsCurrent: now.Digest == digest}, Current: now.Digest}
	if shown.Entry.Restore, err = compare(now.Content, is.Content); err != nil {
		return err
	}
	was := store.Revision{}
	if is.Parent != "" {
		was, err = v.Revision(shown.ID, shown.kind(), is.Parent)
	}
	if errors.Is(err, store.ErrNotFound) {
		shown.Entry.Changes.Unknown = true
		return nil
	}
	if err == nil {
		shown.Entry.Changes, err = compare(was.Content, is.Content)
	}
	return err
}

// historyForm restores what the form names, if what it would replace is still what the form showed.
func historyForm(c *request.Call, p *Project) error {
	form, err := c.ReadForm(maxForm)
	if err != nil {
		return err
	}
	shown := &History{Project: p, OfFiles: form.Get("of") == "files"}
	digest, current := form.Get("id"), form.Get("current")
	if !tree.ValidDigest(digest) || !tree.ValidDigest(current) {
		shown.NotKept = true
		return showHistory(c, http.StatusNotFound, shown, "")
	}
	c.R.Header.Set("If-Match", request.ETag(current))
	back := "/" + p.Ref + "/history?restored=1"
	if shown.OfFiles {
		back += "&of=files"
		_, err = api.RestoreFiles(c, digest)
	} else {
		err = api.RestoreConfig(c, digest)
	}
	if err == nil {
		return seeOther(c, back)
	}
	refused, ok := errors.AsType[*request.Problem](err)
	if !ok || refused.Code != wire.CodeRevisionChanged && refused.Code != wire.CodeRevisionNotKept {
		return err
	}
	shown.Outdated = refused.Code == wire.CodeRevisionChanged
	return showHistory(c, refused.Status, shown, digest)
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
		kind := "changed"
		if before == nil {
			kind = "added"
		} else if after == nil {
			kind = "removed"
		}
		changes.add(Change{Kind: kind, Key: key, From: string(before), To: string(after)})
	})
	return changes, err
}

func fileChanges(from, to []byte) (changes Changes, err error) {
	before, err := tree.Read(from)
	if err != nil {
		return changes, err
	}
	after, err := tree.Read(to)
	if err != nil {
		return changes, err
	}
	add := func(kind string, paths []string) {
		for _, path := range paths {
			changes.add(Change{Kind: kind, Key: path})
		}
	}
	d := tree.Diff(before, after)
	add("added", d.Added)
	add("changed", d.Changed)
	add("removed", d.Removed)
	return changes, nil
}
