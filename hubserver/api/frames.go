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
	want map[string]int64 // sizes of the files in the list, by digest
	sum  int64            // bytes of the frames of files so far
	buf  []byte           // for the content of a file
}

// receiveFrames is receive for frames.
func (u *upload) receiveFrames(resource int64, before store.Revision) (tree.Tree, error) {
	if u.base != "" && (u.base != before.Digest || before.Damaged) {
		return nil, planOutdated(before.Digest, nil)
	}
	var dictionary []byte
	if u.base != "" {
		dictionary = before.Content
	}
	f := frames{upload: u}
	files, err := f.list(dictionary)
	if err != nil {
		return nil, err
	}
	return files, u.store(resource, f.next)
}

// list reads and checks the list of files, and sets want.
func (f *frames) list(dictionary []byte) (tree.Tree, error) {
	const what = "the list of files"
	const limit = request.MaxPlan
	frame, err := f.frame(what, limit)
	if errors.Is(err, io.EOF) {
		return nil, cannotTake("the upload", "it has no list of files")
	}
	if err != nil {
		return nil, err
	}
	lines, err := f.open(frame, dictionary, what, limit)
	if err != nil {
		return nil, err
	}
	if err := f.c.Need(listCost * int64(bytes.Count(lines, []byte("\n")))); err != nil {
		return nil, err
	}
	files, err := tree.Parse(lines)
	if err != nil {
		return nil, cannotTake(what, "%v", err)
	}
	f.want = make(map[string]int64, len(files))
	total := int64(0)
	for i, e := range files {
		total += e.Size
		if err := checkSet(f.c, i+1, e.Path, e.Size, total); err != nil {
			return nil, err
		}
		if size, ok := f.want[e.SHA256]; ok && size != e.Size {
			return nil, cannotTake(what, "%q and another file have the same sha256 but not the same size", e.Path)
		}
		f.want[e.SHA256] = e.Size
	}
	return files, nil
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
	if size, ok := f.want[b.SHA256]; !ok || size != b.Size {
		return b, cannotTake("the upload", "a file of %d bytes, with the SHA-256 %s, is not in the list", b.Size, b.SHA256)
	}
	return b, nil
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
