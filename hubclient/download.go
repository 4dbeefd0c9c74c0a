package hubclient

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// DownloadBaseFiles calls each for every file of set, which [Client.BaseFiles] returned,
// in the order in which the hub stores them. The reader returns a blob with the entry's
// size and digest, or fails before its end. After a broken connection, each is called
// again for the file that was interrupted. The error is plan_outdated if the hub's base
// files changed, or the error of each.
func (c *Client) DownloadBaseFiles(
	ctx context.Context, r ref.Ref, set *wire.BaseFiles, each func(tree.Entry, io.Reader) error,
) error {
	d := &download{
		client: c, project: r, set: set, each: each, files: make(map[string]tree.Entry, len(set.Files)), done: map[string]bool{},
	}
	for _, e := range set.Files {
		d.files[e.Path] = e
	}
	tries := c.newTries()
	for {
		before := len(d.done)
		err := d.attempt(ctx)
		if err == nil {
			return nil
		}
		if len(d.done) > before {
			tries = c.newTries()
		}
		if err := tries.again(ctx, http.MethodGet, err); err != nil {
			return err
		}
	}
}

type download struct {
	client  *Client
	project ref.Ref
	set     *wire.BaseFiles
	each    func(tree.Entry, io.Reader) error
	files   map[string]tree.Entry // by path
	done    map[string]bool       // paths that each was called for successfully
}

// ownError is an error of the caller's each.
type ownError struct{ error }

func (d *download) attempt(ctx context.Context) error {
	r := to(wire.OpGetBaseFilesArchive, d.project)
	r.set("Accept-Encoding", "zstd")
	req, err := d.client.newRequest(ctx, r)
	if err != nil {
		return err
	}
	resp, err := d.client.roundTrip(req)
	if err != nil {
		return d.client.transportError(ctx, true, err)
	}
	defer resp.Body.Close()
	if err := d.checkAnswer(req, resp); err != nil {
		return err
	}
	z, err := zstd.NewReader(resp.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	err = d.read(tar.NewReader(z))
	var own ownError
	var known *Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &own):
		return own.error
	case errors.Is(err, io.ErrUnexpectedEOF), ctx.Err() != nil, brokeOff(err), timedOut(err):
		return d.client.transportError(ctx, true, err)
	}
	return d.client.notAHub(resp.StatusCode, "its archive is malformed: %v", err)
}

func (d *download) checkAnswer(req *http.Request, resp *http.Response) error {
	if err := d.client.checkStatus(req, resp); err != nil {
		return err
	}
	version := line(resp.Header.Get("Hub-Version"))
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return d.client.transportError(req.Context(), true, err)
		}
		return d.client.refusal(resp, body, version)
	case version == "", mediaType(resp) != "application/x-tar", resp.Header.Get("Content-Encoding") != "zstd":
		return d.client.notAHub(resp.StatusCode, "its response is not an archive")
	case !d.isSnapshot(resp.Header.Get("ETag")):
		return &Error{Code: wire.CodePlanOutdated, Detail: "the base files changed during the download", Hint: "run the command again"}
	}
	return nil
}

// isSnapshot reports whether an archive with this ETag contains the files of d.set. A
// compressed archive has its own ETag; older hubs sent that of the plain one.
func (d *download) isSnapshot(etag string) bool {
	return etag == quote(d.set.Tree+"-zstd") || etag == quote(d.set.Tree)
}

// read calls each for the files of the archive that are not done.
func (d *download) read(archive *tar.Reader) error {
	seen := make(map[string]bool, len(d.files))
	for range d.files {
		header, err := archive.Next()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		e, ok := d.files[header.Name]
		if !ok || seen[header.Name] || header.Typeflag != tar.TypeReg || header.Size != e.Size {
			return fmt.Errorf("%q is unknown, has another size, or is repeated", header.Name)
		}
		seen[e.Path] = true
		if err := d.receive(e, archive); err != nil {
			return err
		}
	}
	return nil
}

// receive calls each for a file that is not done.
func (d *download) receive(e tree.Entry, data io.Reader) error {
	if d.done[e.Path] {
		return nil
	}
	checked := &verifiedReader{r: data, left: e.Size, hash: sha256.New(), digest: e.SHA256}
	if err := d.each(e, checked); err != nil {
		if checked.failed != nil {
			return checked.failed
		}
		return ownError{err}
	}
	d.done[e.Path] = true
	return nil
}

// verifiedReader reads a blob. It returns the last bytes only if the digest is correct.
type verifiedReader struct {
	r      io.Reader
	left   int64
	hash   hash.Hash
	digest string
	failed error
}

func (v *verifiedReader) Read(p []byte) (int, error) {
	if v.failed != nil {
		return 0, v.failed
	}
	if v.left == 0 {
		return 0, io.EOF
	}
	n, err := v.r.Read(p[:min(int64(len(p)), v.left)])
	v.hash.Write(p[:n])
	v.left -= int64(n)
	switch {
	case v.left == 0:
		if hex.EncodeToString(v.hash.Sum(nil)) != v.digest {
			v.failed = errors.New("a blob has another sha256 than its entry")
		}
	case err == io.EOF:
		v.failed = io.ErrUnexpectedEOF
	default:
		v.failed = err
	}
	if v.failed != nil {
		return 0, v.failed
	}
	return n, nil
}
