package hubclient

import (
	"math/bits"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"example.com/projecthub/hubclient/tree"
)

// encodeList returns the frame of a list of files in canonical form, whose dictionary is the list
// base. What differs is known, so that it need not be searched for as an encoder does, which takes
// longer than all else in a push of one file. Lines that base does not have are not compressed.
func encodeList(files, base tree.Tree) []byte {
	lines := files.Canonical()
	if len(base) == 0 {
		return compressor().EncodeAll(lines, nil)
	}
	header := zstd.Header{SingleSegment: true, HasFCS: true, FrameContentSize: uint64(len(lines)), DictionaryID: 1}
	frame, _ := header.AppendTo(nil)
	d := delta{frame: frame, lines: lines}
	distance := 0 // in the dictionary and the lines after it, from a line back to the same one of base
	for _, e := range base {
		distance += lineSize(e)
	}
	for _, e := range files {
		for len(base) > 0 && base[0].Path < e.Path {
			distance -= lineSize(base[0])
			base = base[1:]
		}
		size := lineSize(e)
		switch {
		case len(base) > 0 && base[0] == e:
			d.add(size, distance)
			base = base[1:]
			continue
		case len(base) > 0 && base[0].Path == e.Path:
			distance -= lineSize(base[0])
			base = base[1:]
		}
		d.add(size, 0)
		distance += size
	}
	d.flush()
	return append(d.frame, 1, 0, 0) // a last block, which is empty
}

// lineSize returns the length of an entry's line in the canonical form of a tree.
func lineSize(e tree.Entry) int {
	var size [20]byte
	return len(e.Mode) + len(strconv.AppendInt(size[:0], e.Size, 10)) + len(e.SHA256) + len(e.Path) + len("   \n")
}

// delta is a frame of zstd (RFC 8878) as it is written, block by block.
type delta struct {
	frame    []byte
	lines    []byte // that are not in a block yet
	size     int    // of those that are in the next blocks
	distance int    // back to where they are copied from; 0: they are new
}

// add adds a line of so many bytes, which is copied from so far back, or new.
func (d *delta) add(size, distance int) {
	if distance != d.distance {
		d.flush()
	}
	d.size, d.distance = d.size+size, distance
}

// flush writes blocks, each of which is one copy, or bytes as they are.
func (d *delta) flush() {
	const (
		maxBlock = 128 << 10
		minCopy  = 131 // a shorter copy has a code of another form, and is no gain
	)
	for d.size > 0 {
		n := min(d.size, maxBlock)
		if d.distance == 0 || n < minCopy {
			d.block(0, d.lines[:n])
		} else {
			d.block(2, copyOf(n, d.distance))
		}
		d.lines, d.size = d.lines[n:], d.size-n
	}
}

func (d *delta) block(kind int, content []byte) {
	head := kind<<1 | len(content)<<3
	d.frame = append(append(d.frame, byte(head), byte(head>>8), byte(head>>16)), content...)
}

// copyOf returns the content of a compressed block: no literals, and one sequence whose three
// codes are stated instead of tables.
func copyOf(n, distance int) []byte {
	offset, length := uint64(distance+3), uint64(n-3)
	offsetBits, lengthBits := bits.Len64(offset)-1, bits.Len64(length)-1
	const noLiterals, oneSequence, statedCodes = 0, 1, 0x54
	content := []byte{noLiterals, oneSequence, statedCodes, 0, byte(offsetBits), byte(36 + lengthBits)}
	// The highest bits are read first. The one above them marks where they begin.
	stream := length&^(1<<lengthBits) | offset<<lengthBits
	for ; stream > 0; stream >>= 8 {
		content = append(content, byte(stream))
	}
	return content
}
