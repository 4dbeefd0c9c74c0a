package hubserver

import (
	"bufio"
	"errors"
	"io"
	"net/http"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) planBaseFiles(c *call) error {
	current, err := c.baseTree()
	if err != nil {
		return err
	}
	var m wire.Manifest
	if err := c.readManifest(&m); err != nil {
		return err
	}
	sizes, err := s.Limits.checkManifest(&m)
	if err != nil {
		return err
	}
	plan := wire.Plan{
		Current: current, Unchanged: m.Tree == current,
		NeedFull: m.Files == nil && (m.Base == "" || m.Base != current), Missing: []string{},
	}
	if plan.Unchanged || m.Base != "" && m.Base == current {
		damaged, err := c.damaged()
		if err != nil {
			return err
		}
		if damaged { // the same files again, or those that stay, are to be sent
			plan.Unchanged, plan.NeedFull = false, m.Files == nil
		}
	}
	switch {
	case plan.Unchanged:
		plan.NeedFull = false
	case plan.NeedFull:
		plan.AllMissing, err = c.lacksAll()
	default:
		plan.Missing, err = c.leaseBlobs(sizes)
	}
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, plan)
}

// damaged reports whether base files of the project are known to be damaged.
func (c *call) damaged() (damaged bool, err error) {
	err = c.s.Store.Read(c.ctx(), func(v *store.View) error {
		damaged, err = v.DamagedFiles(c.ctx(), c.ref())
		return err
	})
	return damaged, err
}

// lacksAll reports whether the account has no blobs.
func (c *call) lacksAll() (bool, error) {
	holds, err := lookUp(c, func(v *store.View) (bool, error) { return v.HasBlobs(c.ctx(), c.ref().Account()) })
	return !holds, err
}

// leaseBlobs leases blobs to the caller, and returns those that are missing.
func (c *call) leaseBlobs(sizes map[string]int64) ([]string, error) {
	missing := []string{}
	err := c.transact(c.ctx(), func(tx *store.Tx) error {
		m, err := tx.Lease(c.ctx(), c.ref().Account(), sizes)
		missing = append(missing[:0], m...)
		return err
	})
	var size *store.SizeError
	if errors.As(err, &size) {
		return nil, badManifest("%v", size)
	}
	return missing, err
}

// readManifest reads the body of a plan.
func (c *call) readManifest(m *wire.Manifest) error {
	if err := c.needMediaType("application/json"); err != nil {
		return err
	}
	const what = "the list of files"
	limit := c.s.Limits.PlanBytes
	stream := io.Reader(c.r.Body)
	switch encoding := c.r.Header.Get("Content-Encoding"); encoding {
	case "":
		if c.r.ContentLength > limit {
			return tooLarge(what, limit)
		}
	case "zstd":
		if err := c.takePart(streamPart, inflateMemory); err != nil {
			return err
		}
		sent := &countingReader{r: c.r.Body, what: what, limit: limit} // it may inflate to nothing
		z, err := c.unzstd(bufio.NewReaderSize(sent, 4<<10))
		if err != nil {
			return err
		}
		defer z.Close()
		stream = z
	default:
		return unsupported("the Content-Encoding of a plan must be zstd or absent, not %q", encoding)
	}
	return planProblem(c.decodeManifest(stream, what, limit, m), c.r.Body.(*body).failed)
}

// planProblem returns the problem for a list of files that could not be read.
func planProblem(err, broken error) error {
	var p *problem
	switch {
	case err == nil:
		return nil
	case broken != nil:
		return brokenBody(broken)
	case errors.As(err, &p):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return brokenBody(err)
	}
	return invalidBody("", "the body is not compressed as declared").because(err)
}

func badManifest(format string, args ...any) *problem {
	return cannotTake("the manifest", format, args...)
}

// checkManifest checks all of a manifest that needs no look at what is stored, and
// brings its files into order. It returns the contents that they have, sizes by digest.
func (l Limits) checkManifest(m *wire.Manifest) (map[string]int64, error) {
	switch {
	case !tree.ValidDigest(m.Tree):
		return nil, invalidBody("/tree", "a tree is 64 lower-case hex digits")
	case m.Files != nil && (m.Base != "" || m.Put != nil || m.Remove != nil):
		return nil, invalidBody("", "send either files, or base with put and remove, not both")
	case m.Files == nil && m.Base == "" && (m.Put != nil || m.Remove != nil):
		return nil, invalidBody("/base", "put and remove need the base that they start from")
	case m.Base != "" && !tree.ValidDigest(m.Base):
		return nil, invalidBody("/base", "a tree is 64 lower-case hex digits")
	}
	entries := m.Files
	if entries == nil {
		entries = m.Put
	}
	sizes, err := l.contentsOf(entries)
	if err != nil {
		return nil, err
	}
	files, err := tree.New(entries)
	if err != nil {
		return nil, pathProblem("the manifest", err)
	}
	if m.Files == nil {
		m.Put = files
		return sizes, nil
	}
	if digest := files.Digest(); digest != m.Tree {
		return nil, badManifest("its files are the tree %s", digest)
	}
	m.Files = files
	return sizes, nil
}

// contentsOf returns the contents of files, sizes by digest, within the limits.
func (l Limits) contentsOf(files []tree.Entry) (map[string]int64, error) {
	if err := l.checkSet(files); err != nil {
		return nil, err
	}
	sizes := make(map[string]int64, len(files))
	for _, e := range files {
		if size, ok := sizes[e.SHA256]; ok && size != e.Size {
			return nil, badManifest("%q and another file have the same sha256 but not the same size", e.Path)
		}
		sizes[e.SHA256] = e.Size
	}
	return sizes, nil
}

func (l Limits) checkSet(files []tree.Entry) error {
	var bytes int64
	for i, e := range files {
		bytes += e.Size
		if err := l.check(i+1, e.Path, e.Size, bytes); err != nil {
			return err
		}
	}
	return nil
}

// next returns what makes the manifest's set, which was checked, of the one before.
func (l Limits) next(m *wire.Manifest) func(before tree.Tree) (tree.Tree, error) {
	return func(before tree.Tree) (tree.Tree, error) {
		if m.Files != nil {
			return m.Files, nil
		}
		after, err := before.Apply(tree.Delta{Put: m.Put, Remove: m.Remove})
		if err != nil {
			return nil, err
		}
		return after, l.checkSet(after)
	}
}
