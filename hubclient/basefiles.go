package hubclient

import (
	"context"
	"maps"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// BaseFiles returns the base files of a project; nil if none were pushed. Its Files are
// a [tree.Tree] with the digest Tree.
func (c *Client) BaseFiles(ctx context.Context, r ref.Ref) (*wire.BaseFiles, error) {
	set, err := result[wire.BaseFiles](ctx, c, to(wire.OpGetBaseFiles, r))
	if HasCode(err, wire.CodeNotFound) {
		// Either the project or its base files do not exist; only the former is an error.
		_, err := c.Project(ctx, r)
		return nil, err
	}
	return set, err
}

// FileSet is a file set to upload.
type FileSet struct {
	Snapshot tree.Snapshot // its Digest may be empty
	Open     Opener        // may be called by several goroutines
	Base     tree.Snapshot // what the hub probably stores, so that only changes are sent

	// All sends each blob, also those that the hub has, which replaces damaged ones.
	All bool

	// OnProgress, if not nil, receives how many files and bytes the hub has so far,
	// including what it had before the push. Neither number decreases.
	OnProgress func(files int, bytes int64)
}

// SeedBaseFiles uploads the first base files of a project that was just created, if it has none yet.
func (c Created) SeedBaseFiles(ctx context.Context, files FileSet) (*wire.BaseFilesWritten, error) {
	u := c.client.Upload(c.project.Project, files)
	u.Replace("")
	u.plan, u.missing = &wire.PlannedBaseFiles{}, u.blobs // a new project lacks all of them
	return u.Put(ctx)
}

const (
	// A push of fewer bytes, and at most so many blobs, is sent without a plan.
	maxUnplanned      = 64 << 10
	maxUnplannedBlobs = 500

	// maxReplans limits how often a push is planned again because others changed the project.
	maxReplans = 20
)

// Upload replaces the base files of an existing project by one file set.
type Upload struct {
	client    *Client
	files     FileSet
	project   ref.Ref
	condition map[string]string // headers of the PUT; with one, a repeated attempt is planned again
	base      tree.Tree         // the files of files.Base, as long as the hub may have them
	blobs     []tree.Entry      // an entry for each blob that the base does not have
	plan      *wire.PlannedBaseFiles
	missing   []tree.Entry // by the plan
	reported  int          // files that OnProgress was called with
	ambiguous bool         // an attempt failed, but may have been applied
}

// Upload returns an Upload of files to the project r. Its Put uploads the blobs that the hub does not have.
func (c *Client) Upload(r ref.Ref, files FileSet) *Upload {
	if files.Snapshot.Digest == "" {
		files.Snapshot = files.Snapshot.Tree.Snapshot()
	}
	u := &Upload{client: c, files: files, project: r}
	switch files.Base.Digest {
	case "":
		u.compareWith(nil)
	case files.Snapshot.Digest: // a plan without blobs asks whether the hub still has it
		u.base = files.Snapshot.Tree
	default:
		u.compareWith(files.Base.Tree)
	}
	return u
}

func (u *Upload) compareWith(base tree.Tree) {
	t := u.files.Snapshot.Tree
	changed := t.NotIn(base)
	isNew := make(map[string]bool, len(changed))
	for _, i := range changed {
		isNew[t[i].SHA256] = true
	}
	for _, e := range base {
		delete(isNew, e.SHA256)
	}
	u.base, u.blobs = base, nil
	for _, i := range changed {
		if e := t[i]; isNew[e.SHA256] {
			delete(isNew, e.SHA256)
			u.blobs = append(u.blobs, e)
		}
	}
}

// Replace lets Put replace only the tree current, "" for none; its error is revision_changed or
// set_exists if the project has another one.
func (u *Upload) Replace(current string) {
	u.condition = map[string]string{"If-None-Match": "*"}
	if current != "" {
		u.condition = map[string]string{"If-Match": quote(current)}
	}
}

// NeedsPlan reports whether Put asks the hub what is missing: not if little changed since the base.
func (u *Upload) NeedsPlan() bool {
	isSmall := len(u.blobs) <= maxUnplannedBlobs && tree.Tree(u.blobs).Bytes() < maxUnplanned
	return !u.files.All && (u.base == nil || !isSmall || u.files.Base.Digest == u.files.Snapshot.Digest)
}

// Plan returns the digest of the project's present tree, "" for none, and whether a Put would
// change nothing. A Put after it does not ask again what is missing.
func (u *Upload) Plan(ctx context.Context) (current string, unchanged bool, err error) {
	body := wire.PlanBaseFiles{Tree: u.files.Snapshot.Digest, Digests: make([]string, len(u.blobs))}
	byDigest := make(map[string]tree.Entry, len(u.blobs))
	for i, e := range u.blobs {
		body.Digests[i], byDigest[e.SHA256] = e.SHA256, e
	}
	req := to(wire.OpPlanBaseFiles, u.project).json(body)
	req.writes = false
	plan, err := result[wire.PlannedBaseFiles](ctx, u.client, req)
	if err != nil {
		return "", false, err
	}
	if u.base != nil && !plan.Unchanged && plan.Current != u.files.Base.Digest {
		u.compareWith(nil)
		return u.Plan(ctx)
	}
	u.missing = make([]tree.Entry, len(plan.Missing))
	for i, digest := range plan.Missing {
		e, asked := byDigest[digest]
		if !asked {
			err := u.client.notAHub(http.StatusOK, "it asks for a blob that it was not asked about, or twice")
			return "", false, err
		}
		u.missing[i] = e
		delete(byDigest, digest)
	}
	u.plan = plan
	return plan.Current, plan.Unchanged, nil
}

// Put uploads what is missing, until the hub stores the tree. Blobs that a failed attempt
// uploaded are not missing in the next plan.
func (u *Upload) Put(ctx context.Context) (*wire.BaseFilesWritten, error) {
	switch {
	case u.files.All:
		u.compareWith(nil)
		return u.put(ctx, u.blobs, false)
	case u.plan == nil && u.condition == nil && !u.NeedsPlan():
		w, err := u.put(ctx, u.blobs, false)
		if !HasCode(err, wire.CodePlanOutdated) {
			return w, err
		}
		u.compareWith(nil)
	}
	tries, missing := u.client.newTries(), len(u.files.Snapshot.Tree)+1
	for outdated := 0; ; u.plan = nil {
		if u.plan == nil {
			if _, _, err := u.Plan(ctx); err != nil {
				return nil, err
			}
		}
		// A conditional push is sent even if the tree is unchanged, unless an earlier
		// attempt of it may have been applied.
		if u.plan.Unchanged && (u.condition == nil || u.ambiguous) {
			return u.unchanged(), nil
		}
		if len(u.missing) < missing { // the last attempt uploaded some
			tries, missing = u.client.newTries(), len(u.missing)
		}
		w, err := u.put(ctx, u.missing, true)
		if err == nil {
			return w, nil
		}
		if outdated++; HasCode(err, wire.CodePlanOutdated) && outdated < maxReplans {
			u.compareWith(nil)
			continue
		}
		e, ok := err.(*Error)
		u.ambiguous = u.ambiguous || ok && e.lost
		if err := tries.again(ctx, err); err != nil {
			return nil, err
		}
	}
}

// unchanged returns the result of a push whose tree the hub already stores.
func (u *Upload) unchanged() *wire.BaseFilesWritten {
	t := u.files.Snapshot.Tree
	u.progress(len(t), t.Bytes())
	w := &wire.BaseFilesWritten{Project: u.project, Tree: u.files.Snapshot.Digest, BaseFilesPushed: len(t)}
	if u.condition["If-None-Match"] != "" {
		w.Added = len(t) // by the attempt whose response was lost
	}
	return w
}

// put sends the list of files and blobs. A planned put is attempted once: after a failure
// fewer blobs may be missing.
func (u *Upload) put(ctx context.Context, blobs []tree.Entry, planned bool) (*wire.BaseFilesWritten, error) {
	req := to(wire.OpPutBaseFiles, u.project)
	req.single = planned
	maps.Copy(req.header, u.condition)
	t := u.files.Snapshot.Tree
	query := u.client.pushQuery()
	if len(u.base) > 0 {
		query.Set("base", u.files.Base.Digest)
	}
	list, err := tree.Patch(u.base.Canonical(), t.Canonical()) // of no base: the whole list
	if err != nil {
		return nil, err
	}
	stored, storedBytes := len(t)-len(blobs), t.Bytes()-tree.Tree(blobs).Bytes()
	req, err = req.query(query).upload(ctx, &upload{
		list: compress(list), blobs: blobs, open: u.files.Open,
		onProgress: func(files int, bytes int64) { u.progress(stored+files, storedBytes+bytes) },
	})
	if err != nil {
		return nil, err
	}
	w, err := result[wire.BaseFilesWritten](ctx, u.client, req)
	if err != nil {
		return nil, err
	}
	u.progress(len(t), t.Bytes())
	return w, nil
}

// progress calls OnProgress unless a failed attempt got further.
func (u *Upload) progress(files int, bytes int64) {
	if u.files.OnProgress != nil && files > u.reported {
		u.reported = files
		u.files.OnProgress(files, bytes)
	}
}
