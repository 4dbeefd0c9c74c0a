package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/store/sqldb"
)

// Blob is the content of a file, as it is stored.
type Blob struct {
	SHA256 string // of the content, in hex
	Size   int64  // of the content, in bytes
	Body   []byte // one zstd frame
}

// NewBlob returns the blob of a content.
func NewBlob(content []byte) Blob {
	return Blob{SHA256: Digest(content), Size: int64(len(content)), Body: Compress(content)}
}

// Open returns the content of a blob, in the memory of buf if that is large enough. ErrDamaged if it does not have the
// digest and the size.
func (b Blob) Open(buf []byte) ([]byte, error) {
	content, err := Decompress(buf, b.Body, b.Size)
	if err := b.checked(Digest(content), int64(len(content)), err); err != nil {
		return nil, err
	}
	return content, nil
}

// ReadBlob returns the blob with a frame as its body. It reads the content, of at most limit bytes, in little memory,
// and fails as Decompress does.
func ReadBlob(frame []byte, limit int64) (b Blob, err error) {
	// A skippable frame, say, would be sent but not hashed.
	if err := checkFrame(frame, uint64(limit)); err != nil {
		return b, err
	}
	hash := sha256.New()
	b.Body = frame
	b.Size, err = b.CopyTo(hash)
	b.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return b, err
}

// Verify is Open without returning the content, in little memory.
func (b Blob) Verify() error {
	read, err := ReadBlob(b.Body, b.Size)
	return b.checked(read.SHA256, read.Size, err)
}

// checked returns ErrDamaged if the content could not be read, or does not have the digest and the size of the blob.
func (b Blob) checked(digest string, size int64, err error) error {
	if err == nil && (digest != b.SHA256 || size != b.Size) {
		err = errOtherContent
	}
	if err != nil {
		return fmt.Errorf("%w: blob %s: %w", ErrDamaged, b.SHA256, err)
	}
	return nil
}

// errOtherContent says that a content has another digest or size than is stored for it.
var errOtherContent = errors.New("the content does not match its digest")

// CopyTo writes the content to w. It does not check it: see Verify.
func (b Blob) CopyTo(w io.Writer) (n int64, err error) {
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	if err := d.Reset(bytes.NewReader(b.Body)); err != nil {
		return 0, err
	}
	return io.Copy(w, d)
}

// decoders have a window, which is memory of several megabytes.
var decoders = sync.Pool{New: func() any {
	return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true)))
}}

// PutBlobs stores blobs for a later write that names them. It replaces those that are stored already, because they may
// be damaged. A sweep deletes them after a day if nothing names them.
func (tx *Tx) PutBlobs(resource int64, blobs []Blob) error {
	if err := tx.sweepLater(resource); err != nil {
		return err
	}
	// In one order, so that two uploads do not deadlock.
	blobs = slices.SortedFunc(slices.Values(blobs), func(a, b Blob) int { return strings.Compare(a.SHA256, b.SHA256) })
	for _, b := range blobs {
		err := tx.send(`INSERT INTO blobs (resource_id, sha256, size, at, body) VALUES (?, ?, ?, @now, ?)
			ON CONFLICT (resource_id, sha256) DO UPDATE SET size = excluded.size, at = excluded.at, body = excluded.body`,
			resource, b.SHA256, b.Size, b.Body)
		if err != nil {
			return err
		}
	}
	return nil
}

// Missing returns the digests of which a resource has no blob.
func (v View) Missing(resource int64, digests []string) (missing []string, err error) {
	found, err := v.stored(resource, digests, "NULL")
	for _, digest := range digests {
		if _, ok := found[digest]; !ok {
			missing = append(missing, digest)
		}
	}
	return missing, err
}

// missingBlobs returns the digests of files of which a resource has no blob, with ErrMissing. ErrSize if a blob does
// not have the size that the list of files says: a caller who does not send the blob can claim any.
func (v View) missingBlobs(resource int64, files tree.Tree) (missing []string, err error) {
	for page := range slices.Chunk(files, blobPage) {
		found, err := v.stored(resource, page.Digests(), "NULL")
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			b, ok := found[e.SHA256]
			if ok && b.Size != e.Size {
				return nil, fmt.Errorf("%q %w", e.Path, ErrSize)
			}
			if !ok {
				missing = append(missing, e.SHA256)
			}
		}
	}
	if len(missing) > 0 {
		err = ErrMissing
	}
	return missing, err
}

// blobPage is how many digests a query has at most.
const blobPage = 512

// ofPage returns the WHERE for the blobs of a resource with a page of digests, and its arguments.
func ofPage(resource int64, page []string) (where string, args []any) {
	ofThese, digests := in(page)
	return "WHERE resource_id = ? AND sha256 " + ofThese, append([]any{resource}, digests...)
}

// Blobs returns the blobs of a resource that it names by these digests, by digest, not checked yet; an ErrDamaged
// that is also an ErrMissing if one is not stored.
func (v View) Blobs(resource int64, digests []string) (map[string]Blob, error) {
	found, err := v.stored(resource, digests, "body")
	for _, digest := range digests {
		if _, ok := found[digest]; err == nil && !ok {
			err = notStored(digest)
		}
	}
	return found, err
}

// stored returns those of the blobs that a resource has, by digest. body is the column of that name, or NULL to leave
// the bodies out.
func (v View) stored(resource int64, digests []string, body string) (map[string]Blob, error) {
	found := make(map[string]Blob, len(digests))
	for page := range slices.Chunk(digests, blobPage) {
		where, args := ofPage(resource, page)
		err := sqldb.Each(v, func(b *Blob) []any { return sqldb.Row(&b.SHA256, &b.Size, &b.Body) },
			func(b Blob) error {
				found[b.SHA256] = b
				return nil
			}, "SELECT sha256, size, "+body+" FROM blobs "+where, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func notStored(digest string) error { return fmt.Errorf("%w: %w: %s", ErrDamaged, ErrMissing, digest) }

// BlobSize returns the size of a blob's content. It fails as Blobs does, and with an ErrDamaged if the size is not one
// that Open can read.
func (v View) BlobSize(resource int64, digest string) (size int64, err error) {
	err = v.One(sqldb.Row(&size), "SELECT size FROM blobs WHERE resource_id = ? AND sha256 = ?", resource, digest)
	if errors.Is(err, ErrNotFound) {
		err = notStored(digest)
	}
	if size < 0 || size > maxContent { // Open reads no more
		err = fmt.Errorf("%w: blob %s: its size is %d", ErrDamaged, digest, size)
	}
	return size, err
}
