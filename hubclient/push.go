package hubclient

import (
	"context"
	"maps"
	"net/http"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

const (
	// A push of fewer bytes, and at most so many changed files, is sent without a plan.
	maxUnplanned      = 64 << 10
	maxUnplannedFiles = 500

	// A tree of at most so many files is listed in the first plan request. The hub is
	// asked about a larger one by its digest first, which is faster if it is unchanged.
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
	base      tree.Tree         // the files of files.Base, once they are needed
	manifest  wire.Manifest
	encoded   []byte // the manifest in JSON
	reported  int    // files that OnProgress was called with
	ambiguous bool   // an attempt failed, but may have been applied
}

func (c *Client) newPush(r ref.Ref, files FileSet, condition map[string]string) *push {
	if files.Snapshot.Digest == "" {
		files.Snapshot = files.Snapshot.Tree.Snapshot()
	}
	return &push{client: c, files: files, project: r, condition: condition}
}

func (p *push) run(ctx context.Context) (*wire.BaseFilesWritten, error) {
	first := p.firstManifest()
	if err := p.setManifest(first); err != nil {
		return nil, err
	}
	if first.Base == "" || p.condition != nil { // a repeated attempt has to find out whether the first was applied
		return p.planAndPut(ctx)
	}
	blobs := p.newBlobs(first.Put)
	if len(first.Put)+len(first.Remove) > maxUnplannedFiles || tree.Tree(blobs).Bytes() >= maxUnplanned {
		return p.planAndPut(ctx)
	}
	w, err := p.put(ctx, blobs, false)
	if !HasCode(err, wire.CodePlanOutdated) {
		return w, err
	}
	if err := p.setManifest(p.list()); err != nil {
		return nil, err
	}
	return p.planAndPut(ctx)
}

// firstManifest returns the shortest manifest that the hub probably understands.
func (p *push) firstManifest() wire.Manifest {
	base := p.files.Base
	if base.Digest == p.files.Snapshot.Digest {
		return p.question()
	}
	if base.Digest != "" {
		p.base = base.Files()
	}
	switch {
	case p.base != nil:
		return p.delta()
	case len(p.files.Snapshot.Tree) > maxListed:
		return p.question()
	}
	return p.list()
}

func (p *push) setManifest(m wire.Manifest) (err error) {
	p.manifest = m
	p.encoded, err = wire.Encode(m)
	return err
}

// list returns a manifest that lists all files.
func (p *push) list() wire.Manifest {
	// Files must not be nil, which means that there is no list.
	files := append(make([]tree.Entry, 0, len(p.files.Snapshot.Tree)), p.files.Snapshot.Tree...)
	return wire.Manifest{Tree: p.files.Snapshot.Digest, Files: files}
}

// question returns a manifest of the digest alone.
func (p *push) question() wire.Manifest { return wire.Manifest{Tree: p.files.Snapshot.Digest} }

func isQuestion(m wire.Manifest) bool { return m.Files == nil && m.Base == "" }

// delta returns a manifest of the changes since the base.
func (p *push) delta() wire.Manifest {
	d := tree.DeltaOf(p.base, p.files.Snapshot.Tree)
	return wire.Manifest{Tree: p.files.Snapshot.Digest, Base: p.files.Base.Digest, Put: d.Put, Remove: d.Remove}
}

// newBlobs returns an entry for each blob of entries that the base does not have.
func (p *push) newBlobs(entries []tree.Entry) []tree.Entry {
	if len(entries) == 0 {
		return nil
	}
	wanted := map[string]bool{}
	for _, e := range entries {
		wanted[e.SHA256] = true
	}
	for _, e := range p.base {
		delete(wanted, e.SHA256)
	}
	return blobsIn(entries, wanted)
}

// blobsIn returns one entry for each of the wanted digests, in the order of entries.
func blobsIn(entries []tree.Entry, wanted map[string]bool) []tree.Entry {
	wanted = maps.Clone(wanted)
	var found []tree.Entry
	for _, e := range entries {
		if wanted[e.SHA256] {
			delete(wanted, e.SHA256)
			found = append(found, e)
		}
	}
	return found
}

// planAndPut asks which blobs are missing and sends them, until the hub stores the
// tree. Blobs that a failed attempt uploaded are not missing in the next plan.
func (p *push) planAndPut(ctx context.Context) (*wire.BaseFilesWritten, error) {
	tries, missing := p.client.newTries(), len(p.files.Snapshot.Tree)+1
	for outdated := 0; ; {
		plan, err := p.ask(ctx)
		if err != nil {
			return nil, err
		}
		if p.isStored(plan) {
			return p.unchanged(), nil
		}
		blobs, err := p.missing(plan)
		if err != nil {
			return nil, err
		}
		if len(blobs) < missing { // the last attempt uploaded some
			tries, missing = p.client.newTries(), len(blobs)
		}
		w, err := p.put(ctx, blobs, true)
		if err == nil {
			return w, nil
		}
		if outdated++; HasCode(err, wire.CodePlanOutdated) && outdated < maxReplans {
			if err := p.setManifest(p.list()); err != nil {
				return nil, err
			}
			continue
		}
		p.ambiguous = p.ambiguous || lostBefore(err)
		if err := tries.again(ctx, http.MethodPut, err); err != nil {
			return nil, err
		}
	}
}

// ask returns the hub's plan for the manifest. It replaces the manifest by a list of
// all files where the hub needs it.
func (p *push) ask(ctx context.Context) (*wire.Plan, error) {
	for {
		plan, err := p.client.plan(ctx, p.project, p.encoded)
		if err != nil || p.isStored(plan) || !plan.NeedFull && !isQuestion(p.manifest) {
			return plan, err
		}
		if p.manifest.Files != nil {
			return nil, p.client.notAHub(http.StatusOK, "it asks for a list of files that it has")
		}
		if err := p.setManifest(p.list()); err != nil {
			return nil, err
		}
		if plan.AllMissing {
			plan.Missing = p.digests()
		}
		if plan.AllMissing || plan.Unchanged {
			return plan, nil
		}
	}
}

// isStored reports whether nothing has to be sent. A conditional push is sent even
// if the tree is unchanged, unless an earlier attempt of it may have been applied.
func (p *push) isStored(plan *wire.Plan) bool {
	return plan.Unchanged && (p.condition == nil || p.ambiguous)
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

// digests returns the digest of each file.
func (p *push) digests() []string {
	all := make([]string, len(p.files.Snapshot.Tree))
	for i, e := range p.files.Snapshot.Tree {
		all[i] = e.SHA256
	}
	return all
}

// missing returns an entry for each blob that a plan asks for.
func (p *push) missing(plan *wire.Plan) ([]tree.Entry, error) {
	wanted := make(map[string]bool, len(plan.Missing))
	for _, digest := range plan.Missing {
		wanted[digest] = true
	}
	blobs := blobsIn(p.files.Snapshot.Tree, wanted)
	if len(blobs) != len(wanted) {
		return nil, p.client.notAHub(http.StatusOK, "it asks for blobs that no file has")
	}
	return blobs, nil
}

// put sends the manifest and blobs. A planned put is attempted once: after a failure
// fewer blobs may be missing.
func (p *push) put(ctx context.Context, blobs []tree.Entry, planned bool) (*wire.BaseFilesWritten, error) {
	req := to(wire.OpPutBaseFiles, p.project)
	req.header, req.once = maps.Clone(p.condition), planned
	t := p.files.Snapshot.Tree
	stored, storedBytes := len(t)-len(blobs), t.Bytes()-tree.Tree(blobs).Bytes()
	err := req.setUpload(ctx, &upload{
		manifest: p.encoded, blobs: blobs, near: p.client.near(), open: p.files.Open,
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
