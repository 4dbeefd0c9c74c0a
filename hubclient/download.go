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

// DownloadBaseFiles hands the contents of a set that [Client.BaseFiles] returned to
// each, file by file. What each reads has the entry's size and digest, or fails
// before its end. Where the connection breaks, it goes on with the file that was
// under way: each is called for that once more. The error is plan_outdated when
// the hub holds another set by now, or that of each.
func (c *Client) DownloadBaseFiles(ctx context.Context, r ref.Ref, set *wire.BaseFiles, each func(tree.Entry, io.Reader) error) error {
	d := &download{Client: c, project: r, set: set, each: each}
	tries := c.newTries()
	for {
		before := d.done
		err := d.attempt(ctx)
		if err == nil {
			return nil
		}
		if d.done > before {
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
	done    int // files that each has taken
}

// ownError is a failure of what a caller does with a download.
type ownError struct{ error }

func (d *download) attempt(ctx context.Context) error {
	req, err := d.newRequest(ctx, request{method: http.MethodGet, path: baseFilesPath(d.project) + "/archive", header: map[string]string{"Accept-Encoding": "zstd"}})
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
	case resp.Header.Get("ETag") != quote(d.set.Tree):
		return &Error{Code: wire.CodePlanOutdated, Detail: "the base files changed while they were fetched", Hint: "run the command again"}
	}
	return nil
}

// read hands out the files that are not done yet. They come in the order of the set.
func (d *download) read(archive *tar.Reader) error {
	for i, e := range d.set.Files {
		header, err := archive.Next()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || header.Name != e.Path || header.Size != e.Size {
			return fmt.Errorf("%q is not the file %q of the set", header.Name, e.Path)
		}
		if i < d.done {
			continue
		}
		content := &verified{r: archive, left: e.Size, hash: sha256.New(), digest: e.SHA256}
		if err := d.each(e, content); err != nil {
			if content.failed != nil {
				return content.failed
			}
			return ownError{err}
		}
		d.done++
	}
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
