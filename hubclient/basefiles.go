package hubclient

import (
	"context"
	"net/http"
	"net/url"

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
	Base     tree.Base     // what the hub probably stores, so that only changes are sent

	// All sends each blob, also those that the hub has, which replaces damaged ones. A
	// conditional push ignores it.
	All bool

	// OnProgress, if not nil, receives how many files and bytes the hub has so far,
	// including what it had before the push. Neither number decreases.
	OnProgress func(files int, bytes int64)
}

// PutBaseFiles replaces the base files of an existing project. It uploads the blobs that
// the hub does not have. It asks for a plan first, unless little changed since files.Base.
func (c *Client) PutBaseFiles(ctx context.Context, r ref.Ref, files FileSet) (*wire.BaseFilesWritten, error) {
	p := c.newPush(r, files, nil)
	blobs := p.newBlobs()
	small := len(blobs) <= maxUnplannedBlobs && tree.Tree(blobs).Bytes() < maxUnplanned
	switch {
	case files.All:
		p.base = nil
		return p.put(ctx, p.newBlobs(), false)
	case p.base != nil && small && files.Base.Digest != p.files.Snapshot.Digest:
		w, err := p.put(ctx, blobs, false)
		if !HasCode(err, wire.CodePlanOutdated) {
			return w, err
		}
		p.base = nil
	}
	return p.planAndPut(ctx)
}

// ReplaceBaseFiles is PutBaseFiles if the project's present tree is current, "" for none.
// Otherwise the error is revision_changed, or set_exists.
func (c *Client) ReplaceBaseFiles(
	ctx context.Context, r ref.Ref, files FileSet, current string,
) (*wire.BaseFilesWritten, error) {
	condition := map[string]string{"If-None-Match": "*"}
	if current != "" {
		condition = map[string]string{"If-Match": quote(current)}
	}
	return c.newPush(r, files, condition).planAndPut(ctx)
}

// SeedBaseFiles uploads the first base files of a project that was just created. The hub
// refuses them if the project already has some.
func (c Created) SeedBaseFiles(ctx context.Context, files FileSet) (*wire.BaseFilesWritten, error) {
	p := c.client.newPush(c.project.Project, files, map[string]string{"If-None-Match": "*"})
	p.isNew = true
	return p.planAndPut(ctx)
}

const (
	// A push of fewer bytes, and at most so many blobs, is sent without a plan.
	maxUnplanned      = 64 << 10
	maxUnplannedBlobs = 500

	// maxReplans limits how often a push is planned again because others changed the project.
	maxReplans = 20
)

// push uploads one file set.
type push struct {
	client    *Client
	files     FileSet
	project   ref.Ref
	condition map[string]string // headers of the PUT; with one, a repeated attempt is planned again
	base      tree.Tree         // the files of files.Base, as long as the hub may have them
	isNew     bool              // the project was just created, and nothing was sent yet
	reported  int               // files that OnProgress was called with
	ambiguous bool              // an attempt failed, but may have been applied
}

func (c *Client) newPush(r ref.Ref, files FileSet, condition map[string]string) *push {
	if files.Snapshot.Digest == "" {
		files.Snapshot = files.Snapshot.Tree.Snapshot()
	}
	p := &push{client: c, files: files, project: r, condition: condition}
	switch files.Base.Digest {
	case "":
	case files.Snapshot.Digest: // a plan without blobs asks whether the hub still has it
		p.base = files.Snapshot.Tree
	default:
		p.base = files.Base.Files()
	}
	return p
}

// newBlobs returns an entry for each blob that the base does not have.
func (p *push) newBlobs() []tree.Entry {
	known := make(map[string]bool, len(p.base)+len(p.files.Snapshot.Tree))
	for _, e := range p.base {
		known[e.SHA256] = true
	}
	var blobs []tree.Entry
	for _, e := range p.files.Snapshot.Tree {
		if !known[e.SHA256] {
			known[e.SHA256] = true
			blobs = append(blobs, e)
		}
	}
	return blobs
}

// planAndPut asks which blobs are missing and sends them, until the hub stores the
// tree. Blobs that a failed attempt uploaded are not missing in the next plan.
func (p *push) planAndPut(ctx context.Context) (*wire.BaseFilesWritten, error) {
	tries, missing := p.client.newTries(), len(p.files.Snapshot.Tree)+1
	for outdated := 0; ; {
		plan, blobs, err := p.plan(ctx)
		if err != nil {
			return nil, err
		}
		// A conditional push is sent even if the tree is unchanged, unless an earlier
		// attempt of it may have been applied.
		if plan.Unchanged && (p.condition == nil || p.ambiguous) {
			return p.unchanged(), nil
		}
		if len(blobs) < missing { // the last attempt uploaded some
			tries, missing = p.client.newTries(), len(blobs)
		}
		w, err := p.put(ctx, blobs, true)
		if err == nil {
			return w, nil
		}
		if outdated++; HasCode(err, wire.CodePlanOutdated) && outdated < maxReplans {
			p.base = nil
			continue
		}
		e, ok := err.(*Error)
		p.ambiguous = p.ambiguous || ok && e.lost
		if err := tries.again(ctx, err); err != nil {
			return nil, err
		}
	}
}

// plan asks which blobs are missing, and returns an entry for each. Those of the base are
// not, if the hub has it. A new project lacks all of them.
func (p *push) plan(ctx context.Context) (*wire.PlannedBaseFiles, []tree.Entry, error) {
	blobs := p.newBlobs()
	if p.isNew {
		p.isNew = false
		return &wire.PlannedBaseFiles{}, blobs, nil
	}
	body := wire.PlanBaseFiles{Tree: p.files.Snapshot.Digest, Digests: make([]string, len(blobs))}
	byDigest := make(map[string]tree.Entry, len(blobs))
	for i, e := range blobs {
		body.Digests[i], byDigest[e.SHA256] = e.SHA256, e
	}
	plan, err := result[wire.PlannedBaseFiles](ctx, p.client, to(wire.OpPlanBaseFiles, p.project).json(body))
	if err != nil {
		return nil, nil, err
	}
	if p.base != nil && !plan.Unchanged && plan.Current != p.files.Base.Digest {
		p.base = nil
		return p.plan(ctx)
	}
	missing := make([]tree.Entry, len(plan.Missing))
	for i, digest := range plan.Missing {
		e, asked := byDigest[digest]
		if !asked {
			return nil, nil, p.client.notAHub(http.StatusOK, "it asks for a blob that it was not asked about, or twice")
		}
		missing[i] = e
		delete(byDigest, digest)
	}
	return plan, missing, nil
}

// unchanged returns the result of a push whose tree the hub already stores.
func (p *push) unchanged() *wire.BaseFilesWritten {
	t := p.files.Snapshot.Tree
	p.progress(len(t), t.Bytes())
	w := &wire.BaseFilesWritten{Project: p.project, Tree: p.files.Snapshot.Digest, BaseFilesPushed: len(t)}
	if p.condition["If-None-Match"] != "" {
		w.Added = len(t) // by the attempt whose response was lost
	}
	return w
}

// put sends the list of files and blobs. A planned put is attempted once: after a failure
// fewer blobs may be missing.
func (p *push) put(ctx context.Context, blobs []tree.Entry, planned bool) (*wire.BaseFilesWritten, error) {
	req := to(wire.OpPutBaseFiles, p.project)
	req.once = planned
	for header, value := range p.condition {
		req.header[header] = value
	}
	query := url.Values{"push": {p.client.push}}
	if len(p.base) > 0 {
		query.Set("base", p.files.Base.Digest)
	}
	t := p.files.Snapshot.Tree
	stored, storedBytes := len(t)-len(blobs), t.Bytes()-tree.Tree(blobs).Bytes()
	req, err := req.query(query).upload(ctx, &upload{
		list: compressList(t.Canonical(), p.base.Canonical()), blobs: blobs, open: p.files.Open,
		onProgress: func(files int, bytes int64) { p.progress(stored+files, storedBytes+bytes) },
	})
	if err != nil {
		return nil, err
	}
	w, err := result[wire.BaseFilesWritten](ctx, p.client, req)
	if err != nil {
		return nil, err
	}
	p.progress(len(t), t.Bytes())
	return w, nil
}

// progress calls OnProgress unless a failed attempt got further.
func (p *push) progress(files int, bytes int64) {
	if p.files.OnProgress != nil && files > p.reported {
		p.reported = files
		p.files.OnProgress(files, bytes)
	}
}
