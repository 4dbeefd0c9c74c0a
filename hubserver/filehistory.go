package hubserver

import (
	"errors"
	"net/http"
	"slices"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) getBaseFilesHistory(c *call) error {
	entries, err := c.fileHistory()
	if err != nil {
		return err
	}
	answer := wire.BaseFilesHistory{Entries: make([]wire.BaseFilesEntry, len(entries))}
	for i := range entries {
		answer.Entries[i] = toBaseFilesEntry(&entries[i])
	}
	return c.json(http.StatusOK, answer)
}

func (c *call) fileHistory() (entries []store.FilesEntry, err error) {
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		entries, err = v.FileHistory(c.ctx(), c.ref())
		return err
	})
	return entries, c.noProject(err)
}

// getFormerFiles responds with a set of base files that the project has or had. As for a
// config, what it was is for those who can read the account.
func (c *call) getFormerFiles(digest string) error {
	if err := c.needReader(); err != nil {
		return err
	}
	if !tree.ValidDigest(digest) {
		return invalidBody("", "tree must be 64 lower-case hex digits, not %q", digest)
	}
	if err := c.takeHistory(downloading); err != nil {
		return err
	}
	var files tree.Tree
	var entries []store.FilesEntry
	err := c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		if files, err = v.FormerTree(c.ctx(), c.ref(), digest); err == nil {
			entries, err = v.FileHistory(c.ctx(), c.ref())
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return c.treeNotKept(digest)
	}
	if err != nil || c.unmodified(digest) {
		return err
	}
	answer := wire.BaseFiles{BaseFilesSum: wire.BaseFilesSum{Tree: digest, Count: len(files), Bytes: files.Bytes()}, Files: files}
	if i := slices.IndexFunc(entries, func(e store.FilesEntry) bool { return e.Tree == digest }); i >= 0 {
		answer.UpdatedAt, answer.UpdatedBy = entries[i].UpdatedAt.Time(), entries[i].UpdatedBy
	}
	return c.json(http.StatusOK, answer)
}

// treeNotKept is the failure of a request for a tree that the history does not have.
func (c *call) treeNotKept(digest string) error {
	if _, err := c.baseTree(); err != nil {
		return err // the project does not exist
	}
	return problemf(http.StatusNotFound, wire.CodeRevisionNotKept, "the set of base files %s of %s is not kept", digest, c.ref()).
		hint("the hub keeps the last %d: list them with %s", store.KeptTrees, "/v1/projects/"+c.ref().Path()+"/preview/base-files/history")
}

func (s *Server) restoreBaseFiles(c *call) error {
	if _, err := c.baseTree(); err != nil {
		return err
	}
	var req wire.RestoreBaseFiles
	if _, err := c.readJSON("the body", maxJSON, &req); err != nil {
		return err
	}
	if !tree.ValidDigest(req.Tree) {
		return invalidBody("/tree", "must be 64 lower-case hex digits, not %q", req.Tree)
	}
	if _, conditional := c.r.Header["If-Match"]; !conditional {
		return problemf(http.StatusPreconditionRequired, wire.CodePreconditionRequired, "a restore needs If-Match").
			hint("send the digest of the base files that it is to replace")
	}
	answer, err := c.restoreTree(req.Tree, c.checkTree)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, answer)
}

// restoreTree makes a former tree of the project's base files the present one, if
// allowed returns nil for the digest of the one that it replaces.
func (c *call) restoreTree(digest string, allowed func(current string) error) (*wire.BaseFilesWritten, error) {
	if err := c.takeHistory(uploading); err != nil {
		return nil, err
	}
	swap := store.Swap{Author: c.author(wire.ViaRestore), Tree: digest, Allowed: allowed}
	var swapped *store.Swapped
	err := c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		swap.Next = func(tree.Tree) (tree.Tree, error) { return tx.FormerTree(c.ctx(), c.ref(), digest) }
		if swapped, err = tx.SwapSnapshot(c.ctx(), c.ref(), swap); err != nil || swapped.Unchanged {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "base-files.restore", c.ref().String(), digest)
	})
	if outdated, ok := errors.AsType[*store.OutdatedError](err); ok {
		return nil, planOutdated(outdated)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, c.treeNotKept(digest)
	}
	if err != nil {
		return nil, err
	}
	c.s.watches.wrote(c.ref())
	diff := tree.Diff(swapped.Before, swapped.After)
	return &wire.BaseFilesWritten{
		Project: c.ref(), Tree: digest, BaseFilesPushed: len(swapped.After),
		Added: len(diff.Added), Changed: len(diff.Changed), Removed: len(diff.Removed), BytesReceived: c.r.Body.(*body).n,
	}, nil
}

// changeCost is how much memory a file takes that an entry of the history changed.
const changeCost = 600

// takeHistory reserves the memory for finding a former tree.
func (c *call) takeHistory(w work) error {
	size, err := c.baseSetSize()
	if err != nil {
		return err
	}
	var changes int64
	err = c.s.Store.Read(c.ctx(), func(v *store.View) (err error) {
		changes, err = v.FileChanges(c.ctx(), c.ref())
		return err
	})
	if err != nil {
		return err
	}
	return c.takeAtMost(w, swapCost*size+changeCost*changes)
}
