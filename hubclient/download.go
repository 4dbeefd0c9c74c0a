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
	"os"
	"time"

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
		client:  c,
		project: r,
		set:     set,
		each:    each,
		files:   map[string]tree.Entry{},
		done:    map[string]bool{},
	}
	for _, e := range set.Files {
		d.files[e.Path] = e
		d.size += e.Size + memberBytes
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
		if err := tries.again(ctx, err); err != nil {
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
	size    int64                 // of the archive at most, packed or not
	idle    *time.Timer           // ends an attempt that waits for a file, or for more of one
}

// memberBytes is what a file takes of an archive at most, besides its content: headers with
// its path, the padding, and what zstd adds.
const memberBytes = 4 << 10

func (d *download) attempt(ctx context.Context) error {
	r := to(wire.OpGetBaseFilesArchive, d.project)
	r.header["Accept-Encoding"] = "zstd"
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	return d.client.exchange(waiting, r, func(resp *http.Response) error {
		switch {
		case mediaType(resp) != "application/x-tar", resp.Header.Get("Content-Encoding") != "zstd":
			return d.client.notAHub(resp.StatusCode, "its response is not an archive")
		case resp.Header.Get("ETag") != quote(d.set.Tree+"-zstd"):
			return &Error{
				Code: wire.CodePlanOutdated, Detail: "the base files changed during the download", Hint: "run the command again",
			}
		}
		// Headers without a file, and frames without content, would have no end.
		packed := &io.LimitedReader{R: resp.Body, N: d.size}
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
		if err != nil {
			return err
		}
		defer z.Close()
		d.idle = time.AfterFunc(d.client.opts.Timeout, func() { end(os.ErrDeadlineExceeded) })
		defer d.idle.Stop()
		plain := &io.LimitedReader{R: z, N: d.size}
		err = d.read(tar.NewReader(plain))
		own, isOwn := errors.AsType[*ownError](err)
		switch {
		case err == nil:
			return nil
		case isOwn:
			return own.error
		case packed.N <= 0, plain.N <= 0:
			return d.client.notAHub(resp.StatusCode, "its archive is larger than its files")
		case errors.Is(context.Cause(waiting), os.ErrDeadlineExceeded):
			return d.client.transportError(ctx, true, os.ErrDeadlineExceeded)
		case errors.Is(err, io.ErrUnexpectedEOF), ctx.Err() != nil, brokeOff(err), timedOut(err):
			return d.client.transportError(ctx, true, err)
		}
		return d.client.notAHub(resp.StatusCode, "its archive is malformed: %v", err)
	})
}

// read calls each for the files of the archive that are not done.
func (d *download) read(archive *tar.Reader) error {
	seen := make(map[string]bool, len(d.files))
	for range d.files {
		d.idle.Reset(d.client.opts.Timeout)
		header, err := archive.Next()
		d.idle.Stop()
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
	checked := &verifiedReader{r: data, left: e.Size, hash: sha256.New(), digest: e.SHA256, download: d}
	if d.done[e.Path] {
		_, err := io.Copy(io.Discard, checked)
		return err
	}
	if err := d.each(e, checked); err != nil {
		if checked.failed != nil {
			return checked.failed
		}
		return &ownError{err}
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

	download *download
}

func (v *verifiedReader) Read(p []byte) (int, error) {
	if v.failed != nil {
		return 0, v.failed
	}
	if v.left == 0 {
		return 0, io.EOF
	}
	v.download.idle.Reset(v.download.client.opts.Timeout)
	n, err := v.r.Read(p[:min(int64(len(p)), v.left)])
	v.download.idle.Stop()
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
