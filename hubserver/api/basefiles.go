package api

import (
	"errors"
	"fmt"
	"net/http"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// getBaseFiles responds with the list of a project's base files, or with ?tree=DIGEST with a former list.
func getBaseFiles(c *request.Call) error {
	set, err := requestedRevision(c, "tree", formerFiles, presentFiles)
	if err != nil || c.Unmodified(set.Digest) {
		return err
	}
	if err := c.Need(listCost * set.Files); err != nil {
		return err
	}
	files, err := tree.Read(set.Content)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.BaseFiles{
		BaseFilesSum: toBaseFilesSum(set), Files: files, UpdatedAt: set.At.Time(), UpdatedBy: set.User,
	})
}

// checkDigest returns a 422 for a parameter of the query that cannot be a digest.
func checkDigest(name, digest string) error {
	if tree.ValidDigest(digest) {
		return nil
	}
	return request.InvalidBody("", "%s must be 64 lower-case hex digits, not %q", name, digest)
}

// listCost is how much memory one file takes in a list and as a [tree.Entry], in bytes.
const listCost = 512

// presentFiles returns the base files of the project that the path names, 404 if it has none.
func presentFiles(c *request.Call) (store.Revision, error) {
	set, err := newestFiles(c, c.View())
	if err == nil && set.N == 0 {
		err = request.NotFound("base files in " + c.Ref().String())
	}
	return set, err
}

// newestFiles is presentFiles, but N is 0 if the project has none. If the list is damaged, it returns
// an ErrDamaged together with the revision, which then has a digest and no content.
func newestFiles(c *request.Call, v store.View) (store.Revision, error) {
	set, err := v.Newest(c.Resource.ID, store.Files)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	noteDamage(c, err)
	return set, err
}

// noteDamage logs an ErrDamaged about base files, with what to do about it.
func noteDamage(c *request.Call, err error) {
	if errors.Is(err, store.ErrDamaged) {
		c.Hub.Log.Error(
			"stored base files are damaged: push them again to replace them (tool push NAME --base-files --force)",
			"request", c.ID, "project", c.Ref().String(), "error", err)
	}
}

// getBaseFilesArchive responds with a tar of all base files, or with ?base=DIGEST of those that the former list
// does not have as they are now.
func getBaseFilesArchive(c *request.Call, set store.Revision) error {
	files, err := changedSince(c, set, c.R.URL.Query().Get("base"))
	if err != nil {
		return err
	}
	err = sendTar(c, c.Resource.ID, set.Digest, files, set.At.Time())
	noteDamage(c, err)
	return err
}

// changedSince returns the files in a list that differ from those in the project's former list base. It returns all
// if base is "", damaged or not kept, or if the caller has no role, because the project may have been private.
func changedSince(c *request.Call, set store.Revision, base string) (changed tree.Tree, err error) {
	var former store.Revision // without a base, one without files
	if err := checkDigest("base", base); base != "" && err != nil {
		return nil, err
	}
	if base != "" && c.Has(wire.Reader) {
		former, err = c.View().Revision(c.Resource.ID, store.Files, base)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDamaged) {
			return nil, err
		}
	}
	if err := c.Need(listCost * set.Files); err != nil {
		return nil, err
	}
	err = tree.Changes(former.Content, set.Content, func(_, is *tree.Entry) error {
		if is != nil {
			changed = append(changed, *is)
		}
		return nil
	})
	return changed, err
}

// digestBytes bounds what a digest takes in the JSON of a plan, in bytes: 64, quotes, a comma and white space.
const digestBytes = 128

// planBaseFiles responds with which blobs a push has to upload. A plan without digests is a quick check whether
// the tree has changed. With digests all blobs are looked up, even if it has not: some may be lost.
func planBaseFiles(c *request.Call) error {
	var req wire.PlanBaseFiles
	// Short elements take many times their size when decoded.
	limit := min(request.MaxPlan, digestBytes*int64(c.Hub.Limits.BaseFiles)+request.MaxJSON)
	if _, err := c.ReadJSON("the plan", limit, &req); err != nil {
		return err
	}
	if !tree.ValidDigest(req.Tree) {
		return request.InvalidBody("/tree", "a tree is 64 lower-case hex digits")
	}
	if err := checkSet(c, len(req.Digests), "", 0, 0); err != nil {
		return err
	}
	for i, digest := range req.Digests {
		if !tree.ValidDigest(digest) {
			return request.InvalidBody(fmt.Sprint("/digests/", i), "a digest is 64 lower-case hex digits")
		}
	}
	current, incomplete, err := c.View().NewestDigest(c.Resource.ID, store.Files)
	if err != nil {
		return err
	}
	missing, err := c.View().Missing(c.Resource.ID, req.Digests)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wire.PlannedBaseFiles{
		Current: current, Unchanged: current == req.Tree && len(missing) == 0 && !incomplete,
		Missing: append([]string{}, missing...),
	})
}

// putBaseFiles replaces the base files of a project by those of a tar, or by those of a list, of which only the
// blobs that the hub lacks are sent (see frames).
func putBaseFiles(c *request.Call) error {
	u, err := newUpload(c, "the archive", archiveBytes(c))
	if err != nil {
		return err
	}
	before, err := filesBefore(c, c.View())
	if err != nil {
		return err
	}
	list, err := u.receive(c.Resource.ID, before)
	if err != nil {
		return err
	}
	via := wire.ViaPush
	if c.Condition().New {
		via = wire.ViaCreate
	}
	answer, err := writeFiles(c, before, filesWrite{
		base: u.base, list: list, sent: u.sent, via: via, action: "base-files.write",
	})
	if err != nil {
		return err
	}
	answer.Uploaded, answer.BytesReceived = u.uploaded, u.body.n
	return c.JSON(http.StatusOK, answer)
}

// filesBefore returns the base files that a write replaces, which may be damaged: 412 if they do not meet the
// request's condition.
func filesBefore(c *request.Call, v store.View) (before store.Revision, err error) {
	condition := c.Condition()
	before, err = newestFiles(c, v)
	isDamaged := err != nil && before.N > 0 // a write may replace it
	if err != nil && !isDamaged {
		return before, err
	}
	if condition.Holds(before.Digest, before.N > 0) {
		return before, nil
	}
	if condition.New && before.N > 0 {
		return before, request.Problemf(http.StatusPreconditionFailed, wire.CodeSetExists,
			"%s already has base files", c.Ref())
	}
	p := request.RevisionChanged("the base files of " + c.Ref().String() + " do not meet the request's condition")
	if before.N > 0 {
		p.Current = &wire.Edit{Revision: before.Digest}
	}
	return before, p
}

// filesWrite is a write of the base files of a project.
type filesWrite struct {
	base   string          // digest that the list before it must have; "": any
	list   []byte          // of files, in canonical form
	sent   map[string]bool // digests of the blobs that its upload has stored
	via    wire.Via
	action string // of the audit log
}

// writeFiles makes a write. It is prepared for the files before, outside the transaction. If another write was
// first, it is prepared again inside, for the files that this has left.
func writeFiles(c *request.Call, before store.Revision, w filesWrite) (*wire.BaseFilesWritten, error) {
	by, err := c.Author(string(w.via))
	if err != nil {
		return nil, err
	}
	prepared, err := store.PrepareFiles(before, w.list, w.sent, by)
	if err != nil {
		return nil, err
	}
	var answer *wire.BaseFilesWritten
	err = c.Write(func(tx *store.Tx) (done request.Done, err error) {
		before, write := before, prepared // copies, because this may run again
		after, missing, err := tx.WriteFiles(c.Resource.ID, write)
		if errors.Is(err, store.ErrChanged) {
			if before, err = filesBefore(c, tx.View); err != nil {
				return done, err
			}
			if w.base != "" && w.base != before.Digest {
				return done, planOutdated(before.Digest, nil)
			}
			if write, err = store.PrepareFiles(before, w.list, w.sent, by); err != nil {
				return done, err
			}
			after, missing, err = tx.WriteFiles(c.Resource.ID, write)
		}
		if errors.Is(err, store.ErrMissing) {
			return done, planOutdated(before.Digest, missing)
		}
		if errors.Is(err, store.ErrSize) {
			return done, cannotTake("the list of files", "%v", err)
		}
		answer = &wire.BaseFilesWritten{Project: c.Ref(), Tree: after.Digest, BaseFilesPushed: int(after.Files)}
		if after.N != before.N {
			answer.Added, answer.Changed, answer.Removed = after.Added, after.Changed, after.Removed
			done = c.Did(w.action, after.Digest)
		}
		return done, err
	})
	if err != nil {
		return nil, resourceProblem(c, err)
	}
	return answer, nil
}

// planOutdated is the 409 of a push whose plan is no longer right: other files are current now, or blobs are
// missing.
func planOutdated(current string, missing []string) error {
	p := request.Problemf(http.StatusConflict, wire.CodePlanOutdated, "the base files changed since the push was planned").
		WithHint("plan it again")
	p.Missing = missing
	if missing != nil {
		p.Detail = fmt.Sprintf("%d blobs that the file set names are missing", len(missing))
	}
	if current != "" {
		p.Current = &wire.Edit{Revision: current}
	}
	return p
}

// restoreBaseFiles makes a former list of base files the present one: 428 without If-Match.
func restoreBaseFiles(c *request.Call) error {
	var req wire.RestoreBaseFiles
	body, err := c.ReadJSON("the body", request.MaxJSON, &req)
	if err != nil {
		return err
	}
	if !tree.ValidDigest(req.Tree) {
		return request.InvalidBody("/tree", "must be 64 lower-case hex digits, not %q", req.Tree)
	}
	if err := needIfMatch(c, "a restore", "send the digest of the base files that it is to replace"); err != nil {
		return err
	}
	before, err := filesBefore(c, c.View())
	if err != nil {
		return err
	}
	former, err := formerFiles(c, req.Tree)
	if err != nil {
		return err
	}
	if err := c.Need(listCost * former.Files); err != nil {
		return err
	}
	answer, err := writeFiles(c, before, filesWrite{
		list: former.Content, via: wire.ViaRestore, action: "base-files.restore",
	})
	if err != nil {
		return err
	}
	answer.BytesReceived = int64(len(body))
	return c.JSON(http.StatusOK, answer)
}
