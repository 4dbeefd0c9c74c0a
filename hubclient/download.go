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

// DownloadBaseFiles calls each with every file of a set that [Client.BaseFiles]
// returned, in the order in which the hub stores them. What each reads has the
// entry's size and digest, or fails before its end. Where the connection breaks, it
// continues with the file that was under way: each is called for that once more.
// The error is plan_outdated when the hub has another set by now, or that of each.
func (c *Client) DownloadBaseFiles(ctx context.Context, r ref.Ref, set *wire.BaseFiles, each func(tree.Entry, io.Reader) error) error {
	d := &download{Client: c, project: r, set: set, each: each, files: make(map[string]tree.Entry, len(set.Files)), done: map[string]bool{}}
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
	*Client
	project ref.Ref
	set     *wire.BaseFiles
	each    func(tree.Entry, io.Reader) error
	files   map[string]tree.Entry // of the set, by path
	done    map[string]bool       // paths of the files that each has taken
}

// ownError is a failure of what a caller does with a download.
type ownError struct{ error }

func (d *download) attempt(ctx context.Context) error {
	r := to(wire.OpGetBaseFilesArchive, d.project)
	r.set("Accept-Encoding", "zstd")
	req, err := d.newRequest(ctx, r)
	if err != nil {
		return err
	}
	resp, err := d.roundTrip(req)
	if err != nil {
		return d.transportError(ctx, true, err)
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
		return d.transportError(ctx, true, err)
	}
	return d.notAHub(resp.StatusCode, "its archive cannot be read: %v", err)
}

func (d *download) checkAnswer(req *http.Request, resp *http.Response) error {
	if err := d.checkStatus(req, resp); err != nil {
		return err
	}
	version := line(resp.Header.Get("Hub-Version"))
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return d.transportError(req.Context(), true, err)
		}
		return d.refusal(resp, body, version)
	case version == "", mediaType(resp) != "application/x-tar", resp.Header.Get("Content-Encoding") != "zstd":
		return d.notAHub(resp.StatusCode, "its answer is no archive")
	case !d.isSet(resp.Header.Get("ETag")):
		return &Error{Code: wire.CodePlanOutdated, Detail: "the base files changed while they were fetched", Hint: "run the command again"}
	}
	return nil
}

// isSet reports whether an archive with this ETag is of the set that is downloaded. A
// compressed one has an ETag of its own; older hubs gave it that of the plain one.
func (d *download) isSet(etag string) bool {
	return etag == quote(d.set.Tree+"-zstd") || etag == quote(d.set.Tree)
}

// read calls each with the files that it has not taken yet.
func (d *download) read(archive *tar.Reader) error {
	seen := make(map[string]bool, len(d.files))
	for len(seen) < len(d.files) {
		header, err := archive.Next()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		e, ok := d.files[header.Name]
		if !ok || seen[e.Path] || header.Typeflag != tar.TypeReg || header.Size != e.Size {
			return fmt.Errorf("%q is not a file of the set, has another size, or comes twice", header.Name)
		}
		seen[e.Path] = true
		if err := d.take(e, archive); err != nil {
			return err
		}
	}
	return nil
}

// take calls each with a file unless it has taken it.
func (d *download) take(e tree.Entry, content io.Reader) error {
	if d.done[e.Path] {
		return nil
	}
	checked := &verified{r: content, left: e.Size, hash: sha256.New(), digest: e.SHA256}
	if err := d.each(e, checked); err != nil {
		if checked.failed != nil {
			return checked.failed
		}
		return ownError{err}
	}
	d.done[e.Path] = true
	return nil
}

// verified reads a content whose last bytes it holds back until all are right.
type verified struct {
	r      io.Reader
	left   int64
	hash   hash.Hash
	digest string
	failed error
}

func (v *verified) Read(p []byte) (int, error) {
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
			v.failed = fmt.Errorf("a content is not what its sha256 says")
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
