package hubserver

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/page"
	"example.com/projecthub/store"
)

// historyPage shows the History tab: a page of the history of the config or of the base
// files, or one entry of it.
func (s *Server) historyPage(c *call) error {
	view, project, err := c.projectPage("History")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	q := c.r.URL.Query()
	shown := page.History{Project: project, Files: q.Get("of") == "files", Restored: q.Has("restored")}
	return c.history(http.StatusOK, shown, q)
}

// history responds with the tab. q says which part of the history it shows.
func (c *call) history(status int, shown page.History, q url.Values) error {
	role, err := c.roleOnProject()
	if err != nil {
		return err
	}
	if shown.CanSee = rank(role) >= rank(wire.Reader); shown.CanSee {
		show := c.configEntries
		if shown.Files {
			show = c.fileEntries
		}
		if err := show(&shown, q); err != nil {
			return err
		}
	}
	if shown.NotKept {
		status = http.StatusNotFound
	}
	body, err := shown.Render()
	return c.html(status, body, err)
}

// configEntries fills in the history of the config.
func (c *call) configEntries(shown *page.History, q url.Values) error {
	if id := q.Get("revision"); id != "" {
		return c.configEntry(shown, id)
	}
	before, err := strconv.ParseInt(q.Get("cursor"), 10, 64)
	if err != nil || before < 1 {
		before = 0
	}
	var entries []store.ConfigEntry
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		entries, err = v.ConfigHistory(c.ctx(), c.ref(), before, defaultPage+1)
		return err
	})
	if err != nil {
		return c.noProject(err)
	}
	base := "/" + shown.Ref + "/history"
	if before > 0 {
		shown.First = base
	}
	if len(entries) > defaultPage {
		entries = entries[:defaultPage]
		shown.Next = base + "?cursor=" + strconv.FormatInt(entries[defaultPage-1].N, 10)
	}
	for i := range entries {
		edit := configEdit(shown, &entries[i])
		edit.IsCurrent = before == 0 && i == 0
		shown.Entries = append(shown.Entries, edit)
	}
	return nil
}

func configEdit(shown *page.History, e *store.ConfigEntry) page.Written {
	return page.Written{
		ID: e.Revision, URL: "/" + shown.Ref + "/history?revision=" + e.Revision,
		At: e.UpdatedAt.Time(), By: e.UpdatedBy, Via: e.UpdatedVia, TokenName: e.TokenName, RequestID: e.RequestID,
		Added: e.Added, Changed: e.Changed, Removed: e.Removed,
	}
}

// shownBodies is how many bodies of configs one entry takes at once, read and compressed.
const shownBodies = 6

// configEntry fills in one entry of the config's history.
func (c *call) configEntry(shown *page.History, revision string) error {
	if err := c.takeAtMost(viewing, shownBodies*c.s.Limits.ConfigBytes); err != nil {
		return err
	}
	return c.s.Store.Read(c.ctx(), func(v *store.View) error {
		entry, err := v.ConfigEntryOf(c.ctx(), c.ref(), revision)
		if errors.Is(err, store.ErrNotFound) {
			shown.NotKept = true
			return nil
		}
		if err != nil {
			return err
		}
		is, err := v.ConfigRevision(c.ctx(), c.ref(), revision)
		if err != nil {
			return err
		}
		now, err := v.Config(c.ctx(), c.ref())
		if err != nil {
			return err
		}
		shown.Entry = &page.Entry{Written: configEdit(shown, entry), Current: now.Revision}
		shown.Entry.IsCurrent = now.Revision == revision
		if shown.Entry.Restore, err = configChanges(now.Body, is.Body); err != nil {
			return err
		}
		was := &store.Config{Body: []byte("{}")}
		if entry.Parent != "" {
			was, err = v.ConfigRevision(c.ctx(), c.ref(), entry.Parent)
		}
		if errors.Is(err, store.ErrNotFound) {
			shown.Entry.Changes.Unknown = true
			return nil
		}
		if err == nil {
			shown.Entry.Changes, err = configChanges(was.Body, is.Body)
		}
		return err
	})
}

func configChanges(from, to []byte) (changes page.Changes, err error) {
	err = flat.Compare(from, to, func(key, before, after []byte) {
		kind := "changed"
		if before == nil {
			kind = "added"
		} else if after == nil {
			kind = "removed"
		}
		if len(changes.List) >= page.MaxChanges {
			changes.Add(page.Change{})
			return
		}
		changes.Add(page.Change{Kind: kind, Key: string(key), From: string(before), To: string(after)})
	})
	return changes, err
}

// fileEntries fills in the history of the base files.
func (c *call) fileEntries(shown *page.History, q url.Values) error {
	entries, err := c.fileHistory()
	if err != nil {
		return err
	}
	id := q.Get("tree")
	for _, e := range entries {
		edit := page.Written{
			ID: e.Tree, URL: "/" + shown.Ref + "/history?of=files&tree=" + e.Tree,
			At: e.UpdatedAt.Time(), By: e.UpdatedBy, Via: e.UpdatedVia, TokenName: e.TokenName, RequestID: e.RequestID,
			Count: e.Count, Added: e.Added, Changed: e.Changed, Removed: e.Removed, IsCurrent: e.Tree == entries[0].Tree,
		}
		if id == "" {
			shown.Entries = append(shown.Entries, edit)
		} else if id == e.Tree {
			shown.Entry = &page.Entry{Written: edit, Current: entries[0].Tree}
			return c.fileEntry(shown.Entry, e)
		}
	}
	shown.NotKept = id != ""
	return nil
}

// fileEntry fills in what an entry changed, and what restoring it would change.
func (c *call) fileEntry(shown *page.Entry, e store.FilesEntry) error {
	if err := c.takeHistory(viewing); err != nil {
		return err
	}
	return c.s.Store.Read(c.ctx(), func(v *store.View) error {
		undo, err := v.FilesUndo(c.ctx(), c.ref(), e.N)
		switch {
		case errors.Is(err, store.ErrNotFound):
			shown.Changes.Unknown = true
		case err != nil:
			return err
		default:
			shown.Changes = fileChanges(undo)
		}
		if shown.IsCurrent {
			return nil
		}
		is, err := v.FormerTree(c.ctx(), c.ref(), e.Tree)
		if err != nil {
			return err
		}
		now, err := v.FormerTree(c.ctx(), c.ref(), shown.Current)
		if err != nil {
			return err
		}
		diff := tree.Diff(now, is)
		shown.Restore = pathChanges(diff)
		return nil
	})
}

func fileChanges(u *store.FilesUndo) page.Changes {
	d := tree.Difference{Added: u.Added}
	for _, e := range u.Changed {
		d.Changed = append(d.Changed, e.Path)
	}
	for _, e := range u.Removed {
		d.Removed = append(d.Removed, e.Path)
	}
	return pathChanges(d)
}

func pathChanges(d tree.Difference) (changes page.Changes) {
	for _, part := range []struct {
		kind  string
		paths []string
	}{{"added", d.Added}, {"changed", d.Changed}, {"removed", d.Removed}} {
		for _, path := range part.paths {
			changes.Add(page.Change{Kind: part.kind, Key: path})
		}
	}
	return changes
}

// historyForm restores what the form names, if what it would replace is still what the
// form showed.
func (s *Server) historyForm(c *call) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	view, project, err := c.projectPage("History")
	if err != nil {
		return err
	}
	if view == nil {
		return c.absentProject()
	}
	shown := page.History{Project: project, Files: form.Get("of") == "files"}
	id, current := form.Get("id"), form.Get("current")
	if !tree.ValidDigest(id) || !tree.ValidDigest(current) {
		shown.NotKept = true
		return c.history(http.StatusNotFound, shown, url.Values{"revision": {"-"}, "tree": {"-"}})
	}
	c.r.Header.Set("If-Match", etag(current))
	back := "/" + project.Ref + "/history?restored=1"
	if shown.Files {
		back += "&of=files"
		_, err = c.restoreTree(id, c.checkTree)
	} else {
		err = c.restoreConfig(id)
	}
	var refused *problem
	if err == nil {
		return c.seeOther(back)
	}
	if !errors.As(err, &refused) || refused.Code != wire.CodeRevisionChanged && refused.Code != wire.CodeRevisionNotKept {
		return err
	}
	shown.Outdated = refused.Code == wire.CodeRevisionChanged
	return c.history(refused.Status, shown, url.Values{"revision": {id}, "tree": {id}})
}

// restoreConfig makes the config what it was with a revision.
func (c *call) restoreConfig(revision string) error {
	if err := c.takeAtMost(changing, patchedCost*c.s.Limits.ConfigBytes); err != nil {
		return err
	}
	var former *store.Config
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		former, err = v.ConfigRevision(c.ctx(), c.ref(), revision)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return c.revisionNotKept(revision)
	}
	if err != nil {
		return err
	}
	config, err := flat.Parse(former.Body)
	if err != nil {
		return err
	}
	if err := c.s.checkConfig(config); err != nil {
		return err
	}
	_, err = c.writeConfig(configWrite{via: wire.ViaRestore, change: func(*store.Config) (flat.Config, []byte, error) { return config, config.Canonical(), nil }})
	return err
}
