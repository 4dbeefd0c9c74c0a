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
// of the list (the tree). With ?base=DIGEST, it is a patch of the present list of the project, which must
// have this digest. The other frames are the files that the hub lacks, in any order, and are stored as
// they are.
type frames struct {
	*upload
	list   []byte           // in canonical form
	want   map[string]int64 // sizes of the files in the list, by digest: at first of those that differ from base
	all    bool             // want has all files
	sum    int64            // bytes of the frames of files so far
	length int64            // of the next frame; 0: it was not read yet
}

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

// readList reads and checks the list of files, or a patch of the list of base.
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
	err = f.open(frame, limit, what, limit, func() (err error) {
		f.list, err = store.Decompress(nil, frame, limit)
		return err
	})
	if err == nil && f.base != "" {
		f.list, err = f.patched(base.Content, f.list)
	}
	if err != nil {
		return err
	}
	f.done(f.batch) // the list's frame
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

// patched returns the list of files that a patch makes of the list from.
func (f *frames) patched(from, patch []byte) ([]byte, error) {
	room := int64(len(from) + 2*len(patch)) // of the patch and the new list
	if err := f.c.Need(room); err != nil {
		return nil, err
	}
	defer f.c.Free(room)
	list, err := tree.Apply(from, patch)
	if err != nil {
		return nil, cannotTake("the list of files", "%v", err)
	}
	if len(list) > request.MaxPlan {
		return nil, request.TooLarge("the list of files", request.MaxPlan)
	}
	return list, nil
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
	frame, err := f.frame("a file", limit)
	if err != nil {
		return b, err
	}
	f.sum += int64(len(frame))
	if f.sum > f.limit {
		return b, request.TooLarge(f.body.what, f.limit)
	}
	err = f.open(frame, MaxWindow, "a file", limit, func() (err error) {
		b, err = store.ReadBlob(frame, limit)
		return err
	})
	if err != nil {
		return b, err
	}
	wanted, err := f.wants(b)
	if err == nil && !wanted {
		err = cannotTake("the upload", "a file of %d bytes, with the SHA-256 %s, is not in the list", b.Size, b.SHA256)
	}
	return b, err
}

// frame reads the next frame, whose content has at most limit bytes; io.EOF after the last one. errFull if the present
// batch has no memory for it.
func (f *frames) frame(what string, limit int64) ([]byte, error) {
	if f.length == 0 {
		n, err := binary.ReadUvarint(f.r)
		switch {
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case err != nil:
			return nil, f.problem(err)
		case n > uint64(limit+limit/64+1024): // what does not compress grows a little
			return nil, request.TooLarge(what, limit)
		}
		f.length = int64(n)
	}
	buf, err := f.reserve(f.length)
	if err != nil {
		return nil, err
	}
	data, err := f.read(buf, f.r, f.length)
	if cap(data) > cap(buf) {
		f.batch.taken += int64(cap(data) - cap(buf))
		if f.length > batchBytes {
			f.batch.arena = data
		}
	}
	f.length = 0
	return data, err
}

// reserve returns a buffer for the next frame, maybe too small. A large frame is alone in its batch, and the next
// large one waits until that batch is stored. From the second batch on, small frames have their memory in an arena.
// Arenas are used again, because as garbage they could take several times the memory that is in use.
func (f *frames) reserve(n int64) ([]byte, error) {
	b := &f.batch
	switch {
	case n > batchBytes && b.taken > 0:
		return nil, errFull
	case n > batchBytes:
		b.arena = <-f.large
		b.taken = int64(cap(b.arena))
		return b.arena, nil
	case f.batches < 2:
		return nil, nil
	case b.arena == nil:
		select {
		case b.arena = <-f.spare:
		default:
			if err := f.c.Need(batchBytes); err != nil {
				return nil, err
			}
			b.arena = make([]byte, 0, batchBytes)
		}
		b.taken = batchBytes
	}
	used := len(b.arena)
	if int64(batchBytes-used) < n {
		return nil, errFull
	}
	b.arena = b.arena[:used+int(n)]
	return b.arena[used : used : used+int(n)], nil
}

// open calls read, which decompresses a frame. Meanwhile it takes room for the content, up to most bytes. Messages call
// the content what.
func (f *frames) open(frame []byte, most uint64, what string, limit int64, read func() error) error {
	size := uint64(128 << 10) // of one block: a frame need not declare its size
	var h zstd.Header
	if err := h.Decode(frame); err == nil {
		size = max(size, h.FrameContentSize, h.WindowSize)
	}
	room := int64(min(size, most))
	if err := f.c.Need(room); err != nil {
		return err
	}
	err := read()
	f.c.Free(room)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return request.TooLarge(what, limit)
	}
	if err != nil {
		return cannotTake("the upload", "%s is not a supported zstd frame: %v", what, err)
	}
	return nil
}
