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
	// atOnce is how much content, in bytes, and how many files are sent without
	// asking first what of it is missing.
	atOnce      = 64 << 10
	atOnceFiles = 500

	// longList is how many files a set may have to be listed at once. One of more is
	// first asked for by its digest alone, which takes less time than a list in vain.
	longList = 500

	// plans bounds how often a push is planned anew because others were faster.
	plans = 20
)

// push is one set of base files on its way.
type push struct {
	*Client
	FileSet
	project   ref.Ref
	condition map[string]string // headers of the PUT
	base      tree.Tree         // the files of Base, once they are needed
	told      int               // files that OnProgress was called with
	lost      bool              // an attempt may have put the set in place without our knowing
}

func (c *Client) newPush(r ref.Ref, files FileSet, condition map[string]string) *push {
	if files.Digest == "" {
		files.Snapshot = files.Tree.Snapshot()
	}
	return &push{Client: c, FileSet: files, project: r, condition: condition}
}

func (p *push) run(ctx context.Context) (*wire.BaseFilesWritten, error) {
	if p.Base.Digest == p.Digest {
		return p.planned(ctx, p.question())
	}
	if p.Base.Digest != "" {
		p.base = p.Base.Files()
	}
	if p.base == nil {
		if len(p.Tree) > longList {
			return p.planned(ctx, p.question())
		}
		return p.planned(ctx, p.all())
	}
	m := p.delta()
	contents := p.fresh(m.Put)
	if len(m.Put)+len(m.Remove) > atOnceFiles || tree.Tree(contents).Bytes() >= atOnce {
		return p.planned(ctx, m)
	}
	manifest, err := wire.Encode(m)
	if err != nil {
		return nil, err
	}
	w, err := p.put(ctx, manifest, contents, false)
	if HasCode(err, wire.CodePlanOutdated) {
		return p.planned(ctx, p.all())
	}
	return w, err
}

// all names the set by its files.
func (p *push) all() wire.Manifest {
	// Never nil, which would stand for no list.
	return wire.Manifest{Tree: p.Digest, Files: append(make([]tree.Entry, 0, len(p.Tree)), p.Tree...)}
}

// question asks for the set by its digest alone.
func (p *push) question() wire.Manifest { return wire.Manifest{Tree: p.Digest} }

func isQuestion(m wire.Manifest) bool { return m.Files == nil && m.Base == "" }

// delta names the set by what leads to it from the base.
func (p *push) delta() wire.Manifest {
	d := tree.DeltaOf(p.base, p.Tree)
	return wire.Manifest{Tree: p.Digest, Base: p.Base.Digest, Put: d.Put, Remove: d.Remove}
}

// fresh returns those of entries whose contents the base does not have, each once.
func (p *push) fresh(entries []tree.Entry) []tree.Entry {
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
	return take(entries, wanted)
}

// take returns an entry for each of the wanted contents, in the order of entries.
func take(entries []tree.Entry, wanted map[string]bool) []tree.Entry {
	wanted = maps.Clone(wanted)
	var taken []tree.Entry
	for _, e := range entries {
		if wanted[e.SHA256] {
			delete(wanted, e.SHA256)
			taken = append(taken, e)
		}
	}
	return taken
}

// planned asks what is missing and sends it, until the set is in place. What an
// attempt that broke has brought is not missing at the next one.
func (p *push) planned(ctx context.Context, m wire.Manifest) (*wire.BaseFilesWritten, error) {
	tries, before := p.newTries(), len(p.Tree)+1
	for outdated := 0; ; {
		manifest, err := wire.Encode(m)
		if err != nil {
			return nil, err
		}
		plan, err := p.plan(ctx, p.project, manifest)
		if err != nil {
			return nil, err
		}
		if plan.Unchanged && (p.condition == nil || p.lost) {
			return p.unchanged(), nil
		}
		if plan.NeedFull || isQuestion(m) {
			if m.Files != nil {
				return nil, p.notAHub(http.StatusOK, "it asks for a list of files that it has")
			}
			if m = p.all(); !plan.AllMissing && !plan.Unchanged {
				continue
			}
			if manifest, err = wire.Encode(m); err != nil {
				return nil, err
			}
			if plan.AllMissing {
				plan.Missing = p.digests()
			}
		}
		contents, err := p.missing(plan)
		if err != nil {
			return nil, err
		}
		if len(contents) < before { // it gets on
			tries, before = p.newTries(), len(contents)
		}
		w, err := p.put(ctx, manifest, contents, true)
		if err == nil {
			return w, nil
		}
		if outdated++; HasCode(err, wire.CodePlanOutdated) && outdated < plans {
			m = p.all()
			continue
		}
		p.lost = p.lost || lostBefore(err)
		if err := tries.again(ctx, http.MethodPut, err); err != nil {
			return nil, err
		}
	}
}

// unchanged is the answer to a set that is in place already.
func (p *push) unchanged() *wire.BaseFilesWritten {
	p.sent(len(p.Tree), p.Tree.Bytes())
	w := &wire.BaseFilesWritten{Project: p.project, Tree: p.Digest, BaseFilesPushed: len(p.Tree)}
	if p.condition != nil {
		w.Added = len(p.Tree) // by the attempt whose answer was lost
	}
	return w
}

// digests returns those of the set's contents.
func (p *push) digests() []string {
	all := make([]string, len(p.Tree))
	for i, e := range p.Tree {
		all[i] = e.SHA256
	}
	return all
}

// missing returns the contents that a plan asks for.
func (p *push) missing(plan *wire.Plan) ([]tree.Entry, error) {
	wanted := make(map[string]bool, len(plan.Missing))
	for _, digest := range plan.Missing {
		wanted[digest] = true
	}
	contents := take(p.Tree, wanted)
	if len(contents) != len(wanted) {
		return nil, p.notAHub(http.StatusOK, "it asks for contents that no file has")
	}
	return contents, nil
}

// put sends a manifest, in JSON, and contents. One that is planned is sent once: after a
// failure less may be missing.
func (p *push) put(ctx context.Context, manifest []byte, contents []tree.Entry, planned bool) (*wire.BaseFilesWritten, error) {
	req := to(wire.OpPutBaseFiles, p.project)
	req.header, req.once = maps.Clone(p.condition), planned
	there := len(p.Tree) - len(contents)
	bytesThere := p.Tree.Bytes() - tree.Tree(contents).Bytes()
	sent := func(files int, bytes int64) { p.sent(there+files, bytesThere+bytes) }
	if err := req.packedBody(ctx, manifest, contents, p.near(), p.Open, sent); err != nil {
		return nil, err
	}
	var w wire.BaseFilesWritten
	if _, err := p.send(ctx, req, &w); err != nil {
		return nil, err
	}
	p.sent(len(p.Tree), p.Tree.Bytes())
	return &w, nil
}

// sent tells of progress, which never goes back.
func (p *push) sent(files int, bytes int64) {
	if p.OnProgress != nil && files > p.told {
		p.told = files
		p.OnProgress(files, bytes)
	}
}
