package hubserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"example.com/projecthub/hubclient/previewmodule"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"

	"github.com/go-json-experiment/json"
)

// stackManifest is the file at a bundle's root that names the stack and its version.
const stackManifest = "stack.json"

// maxStackManifest bounds it, in bytes.
const maxStackManifest = 1 << 20

func (s *Server) putVersion(c *call) error {
	number := c.params.ByName("version")
	if !version.Valid(number) {
		return c.noVersion()
	}
	compression, err := c.compressionOf()
	if err != nil {
		return err
	}
	data, err := c.readPieces("the bundle", s.Limits.BundleBytes)
	if err != nil {
		return err
	}
	done, err := c.publish(data, compression, number)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if done.Already {
		status = http.StatusOK
	}
	return c.json(status, wire.Published{StackVersion: toStackVersion(&done.Version), FirstVersion: done.First})
}

// publish stores a bundle as a version of the stack that the path names.
func (c *call) publish(data [][]byte, compression, number string) (done *store.Published, err error) {
	files, manifest, actual, err := c.readBundle(data, compression, number)
	if err != nil {
		return nil, err
	}
	settings, err := c.bundledSchema(data, compression, manifest)
	if err != nil {
		return nil, err
	}
	var size int64
	for _, piece := range data {
		size += int64(len(piece))
	}
	row := &store.StackVersion{
		Account: c.ref().Account(), Slug: c.ref().Slug(), Version: number, Digest: files.Digest(),
		SizeBytes: size, FileCount: len(files), PublishedBy: c.who.user,
	}
	err = c.transact(c.ctx(), func(tx *store.Tx) (err error) {
		done, err = tx.PublishVersion(c.ctx(), row, &store.Bundle{MediaType: actual, Pieces: data, Schema: settings})
		if err != nil || done.Already {
			return err
		}
		return c.audit(c.ctx(), tx, row.Account, "stack.publish", c.ref().String(), number)
	})
	if err == nil && done.Repaired {
		c.s.Log.Warn("a damaged stack version was replaced", "request", c.id, "stack", c.ref().String(), "version", number)
	}
	return done, publishProblem(err, c.ref(), number)
}

func (c *call) noVersion() error {
	return notFound("version " + c.params.ByName("version") + " of the stack " + c.ref().String())
}

// readBundle returns the tree of a bundle and its manifest, after checking that the
// latter bears the name and version under which it is sent.
func (c *call) readBundle(data [][]byte, compression, number string) (files tree.Tree, manifest []byte, actual string, err error) {
	files, actual, err = c.scanBundle(data, compression, stackManifest, func(content []byte) { manifest = content })
	if err != nil {
		return nil, nil, "", err
	}
	if err := checkManifest(manifest, c.ref(), number); err != nil {
		return nil, nil, "", err
	}
	return files, manifest, actual, checkPreview(manifest, files)
}

// scanBundle returns the tree of a bundle, and calls found with the content of the file
// at path, if there is one.
func (c *call) scanBundle(data [][]byte, compression, path string, found func(content []byte)) (tree.Tree, string, error) {
	pieces := make([]io.Reader, len(data))
	for i, piece := range data {
		pieces[i] = bytes.NewReader(piece)
	}
	stream, actual, done, err := c.inflate(io.MultiReader(pieces...), compression)
	if err != nil {
		return nil, "", err
	}
	defer done()
	if actual == plain {
		return nil, "", unsupported("a bundle must be a tar that is compressed with gzip or zstd")
	}
	reader := &archiveReader{
		call:  c,
		wants: func(name string) bool { return name == path },
		each:  func(_ tree.Entry, content []byte) error { found(content); return nil },
	}
	files, err := reader.read(stream)
	return files, actual, err
}

// checkPreview checks that the bundle has the module of the preview that its manifest names.
func checkPreview(manifest []byte, files tree.Tree) error {
	declared, err := previewmodule.Parse(manifest)
	if err != nil {
		return badArchive("its %s: %v", stackManifest, err)
	}
	if declared != nil && !slices.ContainsFunc(files, func(e tree.Entry) bool { return e.Path == declared.Module }) {
		return badArchive("its %s names %s as preview.module, which it does not contain", stackManifest, declared.Module)
	}
	return nil
}

func checkManifest(manifest []byte, stack ref.Ref, number string) error {
	if manifest == nil {
		return badArchive("it has no %s", stackManifest)
	}
	if len(manifest) > maxStackManifest {
		return badArchive("its %s is larger than %d KiB", stackManifest, maxStackManifest>>10)
	}
	var found struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if err := wire.Decode(manifest, &found, json.RejectUnknownMembers(false)); err != nil {
		return badArchive("malformed %s: %v", stackManifest, err)
	}
	if found.Name != stack.String() || found.Version != number {
		return badArchive("its %s names %s version %s, not %s version %s",
			stackManifest, found.Name, found.Version, stack, number)
	}
	return nil
}

func publishProblem(err error, stack ref.Ref, number string) error {
	var notNewer *store.NotNewerError
	switch {
	case errors.Is(err, store.ErrWithdrawn):
		return problemf(http.StatusConflict, wire.CodeVersionExists, "%s %s was withdrawn, and cannot be published again", stack, number).
			hint("raise version in %s", stackManifest)
	case errors.Is(err, store.ErrVersionExists):
		return problemf(http.StatusConflict, wire.CodeVersionExists, "%s %s is already published with other files, and a published version never changes", stack, number).
			hint("raise version in %s", stackManifest)
	case errors.As(err, &notNewer):
		return problemf(http.StatusConflict, wire.CodeVersionNotNewer, "%s is not above %s, the newest version of %s", number, notNewer.Newest, stack).
			hint("raise version in %s above %s", stackManifest, notNewer.Newest)
	}
	return err
}

func (s *Server) getStack(c *call) error {
	role, err := c.roleOn(c.ref().Account())
	if err != nil {
		return err
	}
	var answer wire.Stack
	err = s.Store.Read(c.ctx(), func(v *store.View) error {
		row, versions, err := v.Stack(c.ctx(), c.ref())
		if err != nil {
			return err
		}
		answer = wire.Stack{Stack: c.ref().Path(), Latest: row.Latest, Versions: make([]wire.StackVersion, len(versions))}
		for i := range versions {
			answer.Versions[i] = toStackVersion(&versions[i])
		}
		if rank(role) < rank(wire.Writer) {
			return nil
		}
		n, err := v.Followers(c.ctx(), c.ref(), wire.MostFollowers)
		answer.Followers = &n
		return err
	})
	if err != nil {
		return absent(err, "stack "+c.ref().String())
	}
	return c.json(http.StatusOK, answer)
}

func (s *Server) getVersion(c *call) error {
	row, err := c.stackVersion()
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, toStackVersion(row))
}

// stackVersion returns the version that the path names, 404 if it does not exist.
func (c *call) stackVersion() (row *store.StackVersion, err error) {
	number := c.params.ByName("version")
	if !version.Valid(number) {
		return nil, c.noVersion()
	}
	row, err = lookUp(c, func(v *store.View) (*store.StackVersion, error) { return v.StackVersion(c.ctx(), c.ref(), number) })
	if errors.Is(err, store.ErrNotFound) {
		return nil, c.noVersion()
	}
	return row, err
}

func (s *Server) getBundle(c *call) error {
	row, err := c.stackVersion()
	if err != nil || c.unmodified(row.Digest) {
		return err
	}
	bundle, err := lookUp(c, func(v *store.View) (*store.Body, error) { return v.Bundle(c.ctx(), c.ref(), row.Version) })
	if err != nil {
		return err
	}
	return c.stream(bundle)
}

// stream responds with a bundle or a document, piece by piece.
func (c *call) stream(b *store.Body) error {
	largest := int64(store.PieceSize)
	if b.Pieces == 1 {
		largest = b.Size
	}
	if err := c.takeAtMost(downloading, pieceCost*largest); err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", b.MediaType)
	c.w.Header().Set("Content-Length", strconv.FormatInt(b.Size, 10))
	hash := sha256.New()
	pieces := b.Pieces
	if b.SHA256 != "" {
		pieces = max(1, pieces) // what has a digest and no pieces is damaged
	}
	for n := range pieces {
		if c.r.Method == http.MethodHead {
			break
		}
		piece, err := lookUp(c, func(v *store.View) ([]byte, error) { return v.Piece(c.ctx(), b, n) })
		hash.Write(piece)
		if last := n == pieces-1; err == nil && last && b.SHA256 != "" && b.SHA256 != hex.EncodeToString(hash.Sum(nil)) {
			err = fmt.Errorf("%w: its SHA-256 is another", store.ErrDamaged)
		}
		if err != nil {
			c.w.Header().Del("Content-Length")
			return err
		}
		if _, err := c.w.Write(piece); err != nil {
			return nil // the caller has gone
		}
	}
	if c.w.status == 0 { // there was nothing to write
		c.w.WriteHeader(http.StatusOK)
	}
	return nil
}

// pieceCost is how much memory a byte of a piece takes while it is read from the database.
const pieceCost = 3
