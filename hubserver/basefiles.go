package hubserver

import (
	"archive/tar"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// batchBytes is how much content a transaction stores while an archive is read.
const batchBytes = 4 << 20

func (s *Server) putBaseFiles(c *call) error {
	view, err := c.project()
	if err != nil {
		return err
	}
	compression, err := c.compressionOf()
	if err != nil {
		return err
	}
	if limit := s.Limits.archiveBytes(); c.r.ContentLength > limit {
		return tooLarge("the archive", limit)
	}
	if c.seeds() && view.BaseFiles.Tree != "" {
		return c.setExists()
	}
	files, uploaded, err := c.storeArchive(compression)
	if broken := c.r.Body.(*body).failed; err != nil && broken != nil {
		return brokenBody(broken)
	}
	if err != nil {
		return err
	}
	before, err := c.swap(files)
	if err != nil {
		return err
	}
	diff := tree.Diff(before, files)
	return c.json(http.StatusOK, wire.BaseFilesWritten{
		Project: c.ref(), Tree: files.Digest(), BaseFilesPushed: len(files),
		Added: len(diff.Added), Changed: len(diff.Changed), Removed: len(diff.Removed),
		Uploaded: uploaded, BytesReceived: c.r.Body.(*body).n,
	})
}

func (c *call) setExists() error {
	return problemf(http.StatusPreconditionFailed, wire.CodeSetExists, "%s holds base files already", c.ref())
}

// storeArchive stores the contents of the body's files and returns their tree.
// Nothing shows them until a set names them.
func (c *call) storeArchive(compression string) (files tree.Tree, uploaded int, err error) {
	stream, _, done, err := inflate(c.r.Body, compression)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	batch, size := map[string][]byte{}, int64(0)
	flush := func() error {
		err := c.work(size*contentCost, func() error {
			return c.s.Store.Write(c.ctx(), func(tx *store.Tx) error {
				return tx.PutContents(c.ctx(), c.ref().Account(), batch)
			})
		})
		batch, size = map[string][]byte{}, 0
		return err
	}
	reader := &archiveReader{limits: c.s.Limits, each: func(e tree.Entry, content []byte) error {
		batch[e.SHA256] = content
		if size += e.Size; size < batchBytes {
			return nil
		}
		return flush()
	}}
	if files, err = reader.read(stream); err != nil {
		return nil, 0, err
	}
	return files, len(files), flush()
}

// swap makes files the project's base files.
func (c *call) swap(files tree.Tree) (before tree.Tree, err error) {
	err = c.s.Store.Write(c.ctx(), func(tx *store.Tx) (err error) {
		before, err = tx.SwapBaseFiles(c.ctx(), c.ref(), c.who.user, files, c.seeds())
		if err != nil || before != nil && before.Digest() == files.Digest() {
			return err
		}
		return c.audit(c.ctx(), tx, c.ref().Account(), "base-files.write", c.ref().String(), files.Digest())
	})
	if errors.Is(err, store.ErrSetExists) {
		return nil, c.setExists()
	}
	return before, absent(err, "project "+c.ref().String())
}

// baseSet returns the set of base files of the project that the path names.
func (c *call) baseSet() (set *store.BaseSet, files tree.Tree, err error) {
	if _, err := c.project(); err != nil {
		return nil, nil, err
	}
	err = c.s.Store.Read(c.ctx(), func(tx *store.Tx) (err error) {
		set, err = tx.BaseSet(c.ctx(), c.ref())
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, notFound("base files in " + c.ref().String())
	}
	if err != nil {
		return nil, nil, err
	}
	files, err = tree.Parse(set.Files)
	return set, files, err
}

func (s *Server) getBaseFiles(c *call) error {
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
	c.w.Header().Set("Vary", "Accept-Encoding")
	if c.unmodified(set.Tree) {
		return nil
	}
	c.w.Header().Set("Content-Type", plain)
	compress := acceptsZstd(c.r.Header)
	if compress {
		c.w.Header().Set("Content-Encoding", "zstd")
	}
	if c.r.Method == http.MethodHead {
		return nil
	}
	if !compress {
		return c.writeArchive(c.w, set, files)
	}
	z, err := zstd.NewWriter(c.w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := c.writeArchive(z, set, files); err != nil {
		return err // without Close, so that what was sent stays visibly incomplete
	}
	return z.Close()
}

// acceptsZstd reports whether Accept-Encoding names zstd, other than to refuse it.
func acceptsZstd(h http.Header) bool {
	for offer := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(offer), ";")
		if strings.TrimSpace(name) == "zstd" {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

func (c *call) writeArchive(out io.Writer, set *store.BaseSet, files tree.Tree) error {
	archive := tar.NewWriter(out)
	for _, f := range files {
		var content []byte
		err := c.s.Store.Read(c.ctx(), func(tx *store.Tx) (err error) {
			content, err = tx.Content(c.ctx(), c.ref().Account(), f.SHA256)
			return err
		})
		if err != nil {
			return err
		}
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
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}
