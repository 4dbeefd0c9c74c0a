package hubserver

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

func (s *Server) putBaseFiles(c *call) error {
	current, err := c.baseTree()
	if err != nil {
		return err
	}
	compression, err := c.compressionOf()
	if err != nil {
		return err
	}
	take, limit := c.takeArchive, s.Limits.archiveBytes()
	if mediaType, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")); mediaType == wire.BaseFilesType {
		take, limit = c.takeUpload, limit+s.Limits.PlanBytes
	}
	if c.r.ContentLength > limit {
		return tooLarge("the archive", limit)
	}
	if c.createOnly() && current != "" {
		return c.setExists()
	}
	if err := c.checkTree(current); err != nil {
		return err
	}
	w := c.packWriter()
	swap, uploaded, err := take(compression, w)
	if broken := c.r.Body.(*body).failed; err != nil && broken != nil {
		if err := w.Keep(c.ctx()); err != nil {
			c.s.Log.Warn("the blobs of a failed push were not stored", "request", c.id, "error", err)
		}
		return brokenBody(broken)
	}
	if err != nil {
		w.Abort()
		return err
	}
	swapped, err := c.swap(swap, w)
	if err != nil {
		return err
	}
	s.watches.wrote(c.ref())
	diff := tree.Diff(swapped.Before, swapped.After)
	return c.json(http.StatusOK, wire.BaseFilesWritten{
		Project: c.ref(), Tree: swap.Tree, BaseFilesPushed: len(swapped.After),
		Added: len(diff.Added), Changed: len(diff.Changed), Removed: len(diff.Removed),
		Uploaded: uploaded, BytesReceived: c.r.Body.(*body).n,
	})
}

// packWriter returns what stores the blobs of a push to the project that the path
// names, for as long as the caller may write there.
func (c *call) packWriter() *store.PackWriter {
	return c.s.Store.NewPackWriter(c.ref().Account(), store.PackOptions{
		Check:   c.permitAgain,
		Reserve: func(bytes int64) error { return c.takePart(packPart, bytes) },
	})
}

func (c *call) setExists() error {
	return problemf(http.StatusPreconditionFailed, wire.CodeSetExists, "%s already has base files", c.ref())
}

// checkTree checks the request's If-Match against the digest of the set that the
// project holds, "" for none.
func (c *call) checkTree(current string) error {
	if c.ifMatch(current, current != "") {
		return nil
	}
	p := revisionChanged("the base files of " + c.ref().String() + " are not those that the request was made for")
	if current != "" {
		p.Current = &wire.Edit{Revision: current}
	}
	return p
}

// takeArchive stores the blobs of an ordinary tar, whose files become the snapshot.
func (c *call) takeArchive(compression string, w *store.PackWriter) (s *store.Swap, uploaded int, err error) {
	stream, _, done, err := c.inflate(c.r.Body, compression)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	add := func(e tree.Entry, content []byte) error {
		c.parts[contentPart] = 0 // the writer reserves memory for what it keeps
		return w.Add(c.ctx(), e.SHA256, content)
	}
	reader := &archiveReader{call: c, wants: func(string) bool { return true }, each: add}
	files, err := reader.read(stream)
	if err != nil {
		return nil, 0, err
	}
	return &store.Swap{Tree: files.Digest(), Next: func(tree.Tree) (tree.Tree, error) { return files, nil }}, len(files), nil
}

// swap stores the rest of the push and replaces the snapshot.
func (c *call) swap(s *store.Swap, w *store.PackWriter) (*store.Swapped, error) {
	via := wire.ViaPush
	if s.CreateOnly = c.createOnly(); s.CreateOnly {
		via = wire.ViaCreate
	}
	s.Author, s.Allowed = c.author(via), c.checkTree
	if err := c.takeSet(); err != nil {
		return nil, errors.Join(err, w.Keep(c.ctx())) // the next attempt need not upload it again
	}
	swapped, err := w.Finish(c.ctx(), c.ref(), *s, func(tx *store.Tx, done *store.Swapped) error {
		if done.Unchanged {
			return nil
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "base-files.write", c.ref().String(), s.Tree)
	})
	var outdated *store.OutdatedError
	var other *store.TreeError
	var size *store.SizeError
	switch {
	case errors.Is(err, store.ErrSnapshotExists):
		return nil, c.setExists()
	case errors.As(err, &outdated):
		return nil, planOutdated(outdated)
	case errors.As(err, &other):
		return nil, badManifest("its files are the tree %s", other.Is)
	case errors.As(err, &size):
		return nil, badManifest("%v", size)
	}
	return swapped, c.noProject(pathProblem("the manifest", err))
}

// swapCost is how much memory a byte of the list of a project's base files takes
// while that is replaced: read, parsed, compared, and written with a delta applied.
const swapCost = 2 * setCost

// takeSet reserves the memory for the list of the base files that the project has,
// which a far smaller push may change.
func (c *call) takeSet() error {
	size, err := c.baseSetSize()
	if err != nil || size == 0 {
		return err
	}
	var others int64
	for p, n := range c.parts {
		if part(p) != setPart {
			others += n
		}
	}
	return c.takePart(setPart, min(swapCost*size, max(0, c.s.memory.queues[uploading].most-others-holdStep)))
}

// baseSetSize returns the length of the list of the project's base files, in bytes, 0 for none.
func (c *call) baseSetSize() (size int64, err error) {
	size, err = lookUp(c, func(v *store.View) (int64, error) { return v.SnapshotSize(c.ctx(), c.ref()) })
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	return size, err
}

func planOutdated(o *store.OutdatedError) error {
	p := problemf(http.StatusConflict, wire.CodePlanOutdated, "the base files changed since the push was planned").
		hint("plan it again")
	if o.Missing != nil {
		p.Detail = fmt.Sprintf("%d blobs that the file set names are missing", len(o.Missing))
	}
	if p.Missing = o.Missing; o.Current != "" {
		p.Current = &wire.Edit{Revision: o.Current}
	}
	return p
}

// baseTree returns the digest of the set of base files that the project holds which
// the path names, "" for none.
func (c *call) baseTree() (digest string, err error) {
	digest, err = lookUp(c, func(v *store.View) (string, error) { return v.SnapshotDigest(c.ctx(), c.ref()) })
	return digest, c.noProject(err)
}

// How much memory a base file archive takes: for each byte of the list of its
// files, and for a pack, decoded and not, and what compresses it.
const (
	setCost       = 6
	archiveMemory = 2 << 20
)

// baseSet returns the set of base files of the project that the path names.
func (c *call) baseSet() (set *store.Snapshot, files tree.Tree, err error) {
	if _, err := c.baseTree(); err != nil {
		return nil, nil, err
	}
	err = c.s.Store.Read(c.ctx(), func(v *store.View) error {
		size, err := v.SnapshotSize(c.ctx(), c.ref())
		if err != nil {
			return err
		}
		if err := c.takeAtMost(downloading, archiveMemory+setCost*size); err != nil {
			return err
		}
		set, err = v.Snapshot(c.ctx(), c.ref())
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, notFound("base files in " + c.ref().String())
	}
	if err != nil {
		return nil, nil, err
	}
	files, err = set.List()
	if errors.Is(err, store.ErrDamaged) {
		c.damagedFiles(nil, err)
	}
	set.Files = nil
	return set, files, err
}

// damagedFiles logs that base files of the project were found to be damaged, and
// notes which, so that the next push of the same files replaces them.
func (c *call) damagedFiles(files tree.Tree, cause error) {
	ctx := context.WithoutCancel(c.ctx())
	found, err := c.s.Store.RecordDamagedFiles(ctx, c.ref(), files, cause)
	if err != nil {
		c.s.Log.Error("damage was not recorded", "request", c.id, "error", err)
	}
	if len(found) > 0 {
		c.s.Log.Error("stored base files are damaged: push them again to replace them",
			"request", c.id, "project", c.ref().String(), "damaged", found, "error", cause)
	}
}

func (s *Server) getBaseFiles(c *call) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	if q.Has("tree") {
		return c.getFormerFiles(q.Get("tree"))
	}
	set, files, err := c.baseSet()
	if err != nil || c.unmodified(set.Tree) {
		return err
	}
	return c.json(http.StatusOK, wire.BaseFiles{
		BaseFilesSum: toBaseFilesSum(set.BaseFilesState), Files: files,
		UpdatedAt: set.UpdatedAt.Time(), UpdatedBy: set.UpdatedBy,
	})
}

func (s *Server) getArchive(c *call) error {
	set, files, err := c.baseSet()
	if err != nil {
		return err
	}
	if base := c.r.URL.Query().Get("base"); base != "" {
		if files, err = c.changedSince(files, base); err != nil {
			return err
		}
	}
	c.w.Header().Set("Vary", "Accept-Encoding")
	compress := acceptsZstd(c.r.Header)
	encoding := ""
	if compress {
		encoding = "zstd"
	}
	if c.unmodifiedIn(set.Tree, encoding) {
		return nil
	}
	c.w.Header().Set("Content-Type", plain)
	if compress {
		c.w.Header().Set("Content-Encoding", encoding)
	}
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	if !compress {
		return c.writeArchive(c.w, set, files)
	}
	z := encoders.Get().(*zstd.Encoder)
	z.Reset(c.w)
	defer func() {
		z.Reset(nil)
		encoders.Put(z)
	}()
	if err := c.writeArchive(z, set, files); err != nil {
		return err // without Close, so that what was sent stays visibly incomplete
	}
	return z.Close()
}

// changedSince returns the files that are not the same in a former tree of the project; all
// of them if that tree is not kept, or the caller may not know what it was: a public project
// may have been private then.
func (c *call) changedSince(files tree.Tree, base string) (tree.Tree, error) {
	if !tree.ValidDigest(base) {
		return nil, invalidBody("", "base must be 64 lower-case hex digits, not %q", base)
	}
	role, err := c.roleOnProject()
	if err != nil || rank(role) < rank(wire.Reader) {
		return files, err
	}
	var former tree.Tree
	err = c.s.Store.Read(c.ctx(), func(v *store.View) error {
		size, err := v.SnapshotSize(c.ctx(), c.ref())
		if err != nil {
			return err
		}
		changes, err := v.FileChanges(c.ctx(), c.ref())
		if err != nil {
			return err
		}
		if err := c.takeAtMost(downloading, archiveMemory+2*setCost*size+entryCost*changes); err != nil {
			return err
		}
		former, err = v.FormerTree(c.ctx(), c.ref(), base)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	same := make(map[tree.Entry]bool, len(former))
	for _, e := range former {
		same[e] = true
	}
	changed := make(tree.Tree, 0, len(files))
	for _, e := range files {
		if !same[e] {
			changed = append(changed, e)
		}
	}
	return changed, nil
}

// encoders compress archives. Their windows are small: many may be read at once, slowly.
var encoders = sync.Pool{New: func() any {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
}}

// acceptsZstd reports whether Accept-Encoding names zstd, other than to refuse it.
func acceptsZstd(h http.Header) bool { return accepts(h, "zstd") }

func acceptsGzip(h http.Header) bool { return accepts(h, "gzip") }

func accepts(h http.Header, encoding string) bool {
	for offer := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(offer), ";")
		if strings.TrimSpace(name) == encoding {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// writeArchive writes the files in the order in which they are stored, so that each
// pack is decoded once.
func (c *call) writeArchive(out io.Writer, set *store.Snapshot, files tree.Tree) error {
	archive := tar.NewWriter(out)
	err := c.s.Store.Read(c.ctx(), func(v *store.View) error {
		reader := v.BlobReader(c.ref().Account())
		stored, err := reader.Locate(c.ctx(), files)
		if err != nil {
			return err
		}
		if err := c.checkDamaged(v, reader, stored); err != nil {
			return err
		}
		if len(stored) > 0 {
			if err := reader.Prepare(c.ctx(), stored[0].Blob); err != nil {
				return err
			}
		}
		for _, f := range stored {
			if err := c.writeFile(reader, archive, set, f); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrDamaged) {
		c.damagedFiles(files, err)
	}
	if err != nil {
		return err
	}
	return archive.Close()
}

// checkDamaged fails, before anything is sent, when a content that is known to be
// damaged still is.
func (c *call) checkDamaged(v *store.View, reader *store.Reader, stored []store.StoredFile) error {
	damaged, err := v.Damaged(c.ctx(), c.ref().Account())
	if err != nil || len(damaged) == 0 {
		return err
	}
	for _, f := range stored {
		if !damaged[f.SHA256] {
			continue
		}
		if err := reader.Copy(c.ctx(), io.Discard, f.Blob); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) writeFile(reader *store.Reader, archive *tar.Writer, set *store.Snapshot, f store.StoredFile) error {
	mode, err := strconv.ParseInt(string(f.Mode), 8, 64)
	if err != nil {
		return err
	}
	header := &tar.Header{
		Name: f.Path, Size: f.Size, Mode: mode, Typeflag: tar.TypeReg,
		ModTime: set.UpdatedAt.Time().Truncate(time.Second),
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	return reader.Copy(c.ctx(), archive, f.Blob)
}
