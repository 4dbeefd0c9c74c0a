package hubserver

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"

	"example.com/projecthub/hubclient/frame"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/store"
)

// takeUpload stores the blobs of a push that names its files in a manifest, and
// includes only missing blobs. Its frames are stored as they come.
func (c *call) takeUpload(_ string, w *store.PackWriter) (s *store.Swap, uploaded int, err error) {
	if err := c.takePart(streamPart, uploadMemory); err != nil {
		return nil, 0, err
	}
	u := &upload{call: c, frames: frame.NewReader(c.r.Body), packs: w, limits: c.s.Limits, hash: sha256.New(), buf: make([]byte, 64<<10)}
	u.archive = tar.NewReader(u)
	u.frames.Reserve = func(bytes int) error { return notStored(c.takePart(streamPart, uploadMemory+int64(bytes))) }
	m, err := u.manifest()
	if err != nil {
		return nil, 0, uploadProblem(err)
	}
	if err := u.contents(); err != nil {
		return nil, 0, uploadProblem(err)
	}
	if err := u.last(); err != nil {
		return nil, 0, uploadProblem(err)
	}
	return &store.Swap{Tree: m.Tree, Base: m.Base, Next: c.s.Limits.next(m)}, w.Blobs(), nil
}

// uploadMemory is what reading a push of frames of [frame.Size] takes, in bytes.
const uploadMemory = 1280 << 10

// upload reads a tar from frames, and stores the frames that hold blobs.
type upload struct {
	call    *call
	frames  *frame.Reader
	archive *tar.Reader
	limits  Limits
	packs   *store.PackWriter

	frame    []byte // as it came
	plain    []byte // what it holds
	start    int64  // of plain, in the stream
	read     int    // of plain
	from, to int    // of plain, where blobs are; equal: nowhere
	open     bool   // a blob is being read
	end      int64  // of the last blob, in the stream; 0: none came

	wanted map[string]int64 // sizes of the blobs that the manifest names and that did not come yet
	hash   hash.Hash
	buf    []byte
}

// Read hands out the stream, from one frame at a time.
func (u *upload) Read(p []byte) (int, error) {
	for u.read == len(u.plain) {
		if err := u.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, u.plain[u.read:])
	if u.open {
		if u.from == u.to {
			u.from = u.read
		}
		u.to = u.read + n
	}
	u.read += n
	return n, nil
}

// next goes on to the next frame.
func (u *upload) next() error {
	if err := u.leave(); err != nil {
		return err
	}
	if limit := u.limits.archiveBytes() + u.limits.PlanBytes; u.start > limit {
		return tooLarge("the archive", limit)
	}
	if cap(u.plain) > 2*frame.Size {
		u.plain = nil // what it had is no longer reserved
	}
	f, err := u.frames.Next(u.packs.Memory.Take())
	if err != nil {
		return err
	}
	plain, err := frame.Decode(u.plain, f)
	if err != nil {
		return err
	}
	u.frame, u.plain, u.read = f, plain, 0
	return nil
}

// leave keeps what is used of the frame that was read.
func (u *upload) leave() error {
	u.keep()
	u.start += int64(len(u.plain))
	u.frame, u.plain, u.read, u.from, u.to = nil, u.plain[:0], 0, 0, 0
	if !u.open {
		return notStored(u.packs.Flush(u.call.ctx()))
	}
	err := u.packs.Limit(u.limits.BaseFileBytes)
	if errors.Is(err, store.ErrLongBlob) {
		return badArchive("too many zstd frames without the end of a blob: end a frame with a blob now and then")
	}
	return notStored(err)
}

// keep adds the frame to the packs as it came, unless it holds more than a pack may,
// or mostly something other than blobs: reading a small blob must not decode much more.
func (u *upload) keep() {
	used := u.plain[u.from:u.to]
	if len(u.plain) <= frame.Size && len(used) >= len(u.plain)/2 && len(used) > 0 {
		u.packs.AddFrame(u.start, int64(len(u.plain)), u.frame)
		return
	}
	u.packs.Memory.Give(u.frame)
	start := u.start + int64(u.from)
	for part := range slices.Chunk(used, frame.Size) {
		u.packs.AddBytes(start, part)
		start += int64(len(part))
	}
}

// storeError is a failure of the hub's own amid the bytes of a push.
type storeError struct{ error }

func notStored(err error) error {
	if err == nil {
		return nil
	}
	return &storeError{err}
}

// manifest reads the first member.
func (u *upload) manifest() (*wire.Manifest, error) {
	header, err := u.archive.Next()
	if errors.Is(err, io.EOF) || err == nil && header.Name != wire.ManifestMember {
		return nil, badArchive("its first member must be %s", wire.ManifestMember)
	}
	if err != nil {
		return nil, err
	}
	if header.Size > u.limits.PlanBytes {
		return nil, tooLarge(wire.ManifestMember, u.limits.PlanBytes)
	}
	m := &wire.Manifest{}
	if err := u.call.decodeManifest(u.archive, wire.ManifestMember, u.limits.PlanBytes, m); err != nil {
		return nil, err
	}
	if u.wanted, err = u.limits.checkManifest(m); err == nil && m.Files == nil && m.Base == "" {
		err = badManifest("it lists no files")
	}
	return m, err
}

// contents reads the other members.
func (u *upload) contents() error {
	for {
		header, err := u.archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := u.content(header); err != nil {
			return err
		}
	}
}

func (u *upload) content(header *tar.Header) error {
	digest, ok := strings.CutPrefix(header.Name, wire.ContentMembers)
	if !ok || header.Typeflag != tar.TypeReg || !tree.ValidDigest(digest) {
		return badArchive("its member %q is not %s and a sha256", header.Name, wire.ContentMembers)
	}
	size, ok := u.wanted[digest]
	switch {
	case !ok:
		return badArchive("%s is not in the manifest, or was already sent", header.Name)
	case size != header.Size:
		return badArchive("%s has %d bytes, and %d in the manifest", header.Name, header.Size, size)
	}
	delete(u.wanted, digest)
	start, err := u.copy(size)
	if err != nil {
		return err
	}
	if hex.EncodeToString(u.hash.Sum(nil)) != digest {
		return badArchive("%s is not the blob that its name says: its sha256 does not match", header.Name)
	}
	if u.position() != start+size {
		return badArchive("%s is a sparse file", header.Name) // whose bytes are not in the stream one after the other
	}
	if u.end > 0 && start-u.end > tarOverhead {
		return badArchive("there are %d bytes before %s: at most %d may be between two blobs", start-u.end, header.Name, tarOverhead)
	}
	u.end = start + size
	u.packs.AddBlob(digest, start, size)
	return nil
}

// position is how much of the stream was read.
func (u *upload) position() int64 { return u.start + int64(u.read) }

// copy reads a blob into u.hash, and returns where in the stream it starts.
func (u *upload) copy(size int64) (start int64, err error) {
	u.hash.Reset()
	start = u.position()
	u.open = size > 0
	defer func() { u.open = false }()
	for left := size; left > 0; {
		n, err := u.archive.Read(u.buf[:min(left, int64(len(u.buf)))])
		u.hash.Write(u.buf[:n])
		left -= int64(n)
		if err != nil && left > 0 {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
	return start, nil
}

// last makes sure that nothing but zeros follows the tar, and leaves the last frame.
func (u *upload) last() error {
	for {
		n, err := u.Read(u.buf)
		if strings.Trim(string(u.buf[:n]), "\x00") != "" {
			return badArchive("there is data after its end")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// uploadProblem describes what is wrong with the bytes of a push.
func uploadProblem(err error) error {
	if own, ok := errors.AsType[*storeError](err); ok {
		return own.error
	}
	switch {
	case errors.Is(err, frame.ErrTooLarge):
		return badArchive("%v", err)
	case errors.Is(err, frame.ErrInvalid):
		return badArchive("it is not zstd").because(err)
	}
	return streamProblem(err)
}
