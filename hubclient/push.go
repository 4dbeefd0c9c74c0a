package hubclient

import (
	"context"
	"maps"
	"net/http"
	"net/url"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

const (
	// A push of fewer bytes, and at most so many blobs, is sent without a plan.
	maxUnplanned      = 64 << 10
	maxUnplannedBlobs = 500

	// A plan of at most so many digests names them in the first request. The hub is asked
	// about a larger tree by its digest first, which is faster if it is unchanged.
	maxListed = 500

	// maxReplans limits how often a push is planned again because others changed the project.
	maxReplans = 20
)

// push uploads one file set.
type push struct {
	client    *Client
	files     FileSet
	project   ref.Ref
	condition map[string]string // headers of the PUT
	base      tree.Tree         // the files of files.Base, as long as the hub may have them
	reported  int               // files that OnProgress was called with
	ambiguous bool              // an attempt failed, but may have been applied
}

func (c *Client) newPush(r ref.Ref, files FileSet, condition map[string]string) *push {
	if files.Snapshot.Digest == "" {
		files.Snapshot = files.Snapshot.Tree.Snapshot()
	}
	return &push{client: c, files: files, project: r, condition: condition}
}

func (p *push) run(ctx context.Context) (*wire.BaseFilesWritten, error) {
	if p.files.All && p.condition == nil {
		return p.put(ctx, p.newBlobs(), false)
	}
	base := p.files.Base
	if base.Digest != "" && base.Digest != p.files.Snapshot.Digest {
		p.base = base.Files()
	}
	if p.base == nil || p.condition != nil { // a repeated attempt has to find out whether the first was applied
		return p.planAndPut(ctx)
	}
	blobs := p.newBlobs()
	if len(blobs) > maxUnplannedBlobs || tree.Tree(blobs).Bytes() >= maxUnplanned {
		return p.planAndPut(ctx)
	}
	w, err := p.put(ctx, blobs, false)
	if !HasCode(err, wire.CodePlanOutdated) {
		return w, err
	}
	p.base = nil
	return p.planAndPut(ctx)
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
	if plan, err := p.ask(ctx); err != nil {
		return nil, err
	} else if plan.Unchanged {
		return p.unchanged(), nil
	}
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
		p.ambiguous = p.ambiguous || lostBefore(err)
		if err := tries.again(ctx, http.MethodPut, err); err != nil {
			return nil, err
		}
	}
}

// ask asks whether the hub has the tree, if that is quicker than a plan, or likely.
func (p *push) ask(ctx context.Context) (*wire.PlannedBaseFiles, error) {
	s := p.files.Snapshot
	if p.condition != nil || p.base != nil || len(s.Tree) <= maxListed && p.files.Base.Digest != s.Digest {
		return new(wire.PlannedBaseFiles), nil
	}
	return p.client.planBaseFiles(ctx, p.project, wire.PlanBaseFiles{Tree: s.Digest})
}

// plan asks which blobs are missing, and returns an entry for each. Those of the base are
// not, if the hub has it.
func (p *push) plan(ctx context.Context) (*wire.PlannedBaseFiles, []tree.Entry, error) {
	blobs := p.newBlobs()
	req := wire.PlanBaseFiles{Tree: p.files.Snapshot.Digest, Digests: make([]string, len(blobs))}
	byDigest := make(map[string]tree.Entry, len(blobs))
	for i, e := range blobs {
		req.Digests[i], byDigest[e.SHA256] = e.SHA256, e
	}
	plan, err := p.client.planBaseFiles(ctx, p.project, req)
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
	req.header, req.once = maps.Clone(p.condition), planned
	query := url.Values{"push": {p.client.push}}
	if len(p.base) > 0 {
		query.Set("base", p.files.Base.Digest)
	}
	req.query(query)
	t := p.files.Snapshot.Tree
	stored, storedBytes := len(t)-len(blobs), t.Bytes()-tree.Tree(blobs).Bytes()
	err := req.setUpload(ctx, &upload{
		list: compressList(t.Canonical(), p.base.Canonical()), blobs: blobs, open: p.files.Open,
		onProgress: func(files int, bytes int64) { p.progress(stored+files, storedBytes+bytes) },
	})
	if err != nil {
		return nil, err
	}
	var w wire.BaseFilesWritten
	if _, err := p.client.send(ctx, req, &w); err != nil {
		return nil, err
	}
	p.progress(len(t), t.Bytes())
	return &w, nil
}

// progress calls OnProgress unless a failed attempt got further.
func (p *push) progress(files int, bytes int64) {
	if p.files.OnProgress != nil && files > p.reported {
		p.reported = files
		p.files.OnProgress(files, bytes)
	}
}
