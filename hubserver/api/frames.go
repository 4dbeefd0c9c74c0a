package api

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubserver/request"
	"example.com/projecthub/store"
)

// frames is an upload of the media type [wire.UploadType]: zstd frames, each after its length as an
// unsigned varint. The first one is the list of files, with a line for each, whose SHA-256 is the digest
// of the list (the tree). With ?base=DIGEST, its dictionary is the present list of the project, which must
// have this digest. The other frames are the files that the hub lacks, in any order, and are stored as
// they are.
type frames struct {
	*upload
	list []byte           // in canonical form
	want map[string]int64 // sizes of the files in the list, by digest: at first of those that differ from base
	all  bool             // want has all files
	sum  int64            // bytes of the frames of files so far
	buf  []byte           // for the content of a file
}

// receiveFrames is receive for frames.
func (u *upload) receiveFrames(resource int64, before store.Revision) ([]byte, error) {
	if u.base != "" && (u.base != before.Digest || before.Damaged) {
		return nil, planOutdated(before.Digest, nil)
	}
	if u.base == "" {
		before = store.Revision{}
	}
	f := frames{upload: u}
	if err := f.readList(before); err != nil {
		return nil, err
	}
	return f.list, u.store(resource, f.next)
}

// readList reads and checks the list of files, of which base is the dictionary, if it has content.
func (f *frames) readList(base store.Revision) error {
	const what = "the list of files"
	const limit = request.MaxPlan
	frame, err := f.frame(what, limit)
	if errors.Is(err, io.EOF) {
		return cannotTake("the upload", "it has no list of files")
	}
	if err != nil {
		return err
	}
	if f.list, err = f.open(frame, base.Content, what, limit); err != nil {
		return err
	}
	count := bytes.Count(f.list, []byte("\n"))
	if err := f.c.Need(listCost * int64(count)); err != nil {
		return err
	}
	if err := checkSet(f.c, count, "", 0, 0); err != nil {
		return err
	}
	if err := tree.Check(f.list, base.Content); err != nil {
		return cannotTake(what, "%v", err)
	}
	f.want = map[string]int64{}
	total := base.Bytes
	err = tree.Changes(base.Content, f.list, func(was, is *tree.Entry) error {
		if was != nil {
			total -= was.Size
		}
		if is == nil {
			return nil
		}
		total += is.Size
		if size, ok := f.want[is.SHA256]; ok && size != is.Size {
			return cannotTake(what, "%q and another file have the same sha256 but not the same size", is.Path)
		}
		f.want[is.SHA256] = is.Size
		return checkSet(f.c, count, is.Path, is.Size, 0)
	})
	if err != nil {
		return err
	}
	return checkSet(f.c, count, "", 0, total)
}

// wants reports whether the list has a file with this content.
func (f *frames) wants(b store.Blob) (bool, error) {
	size, ok := f.want[b.SHA256]
	if ok || f.all {
		return ok && size == b.Size, nil
	}
	// The hub should have this one, but it may be missing since a repair.
	f.all = true
	err := tree.Changes(nil, f.list, func(_, is *tree.Entry) error {
		f.want[is.SHA256] = is.Size
		return nil
	})
	if err != nil {
		return false, err
	}
	return f.wants(b)
}

// next reads the frame of a file, and checks that the file is in the list; io.EOF after the last one.
func (f *frames) next() (b store.Blob, err error) {
	limit := f.c.Hub.Limits.BaseFileBytes
	if b.Body, err = f.frame("a file", limit); err != nil {
		return b, err
	}
	if f.sum += int64(len(b.Body)); f.sum > f.limit {
		return b, request.TooLarge(f.body.what, f.limit)
	}
	content, err := f.open(b.Body, nil, "a file", limit)
	if err != nil {
		return b, err
	}
	b.SHA256, b.Size = store.Digest(content), int64(len(content))
	if f.buf = content; cap(content) > 1<<20 { // few files need it
		f.buf = nil
	}
	wanted, err := f.wants(b)
	if err == nil && !wanted {
		err = cannotTake("the upload", "a file of %d bytes, with the SHA-256 %s, is not in the list", b.Size, b.SHA256)
	}
	return b, err
}

// frame reads the next frame, whose content has at most limit bytes; io.EOF after the last one.
func (f *frames) frame(what string, limit int64) ([]byte, error) {
	n, err := binary.ReadUvarint(f.r)
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, f.problem(err)
	case n > uint64(limit+limit/64+1024): // what does not compress grows a little
		return nil, request.TooLarge(what, limit)
	}
	return f.read(f.r, int64(n))
}

// open decompresses a frame, for whose content it takes room while it does so. Messages call the content what.
func (f *frames) open(frame, dictionary []byte, what string, limit int64) (content []byte, err error) {
	size := int64(128 << 10) // of one block: a frame need not declare its size
	var h zstd.Header
	if err := h.Decode(frame); err == nil && h.HasFCS {
		size = int64(min(h.FrameContentSize, uint64(limit)))
	}
	if err := f.c.Need(size); err != nil {
		return nil, err
	}
	if len(dictionary) == 0 {
		content, err = store.Decompress(f.buf, frame, limit)
	} else {
		content, err = store.DecompressWith(frame, dictionary, limit)
	}
	f.c.Free(size)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, request.TooLarge(what, limit)
	}
	if err != nil {
		return nil, cannotTake("the upload", "%s is not a zstd frame as the hub takes it: %v", what, err)
	}
	return content, nil
}
