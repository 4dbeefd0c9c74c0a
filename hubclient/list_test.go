package hubclient

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"example.com/projecthub/hubclient/tree"
)

// decodeWith decodes a list whose dictionary is base.
func decodeWith(frame []byte, base tree.Tree) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(1, base.Canonical()), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll(frame, nil)
}

// list returns n files with digests that no other list has.
func list(n int) (t tree.Tree) {
	for i := range n {
		t = append(t, tree.Entry{
			Path: fmt.Sprintf("src/%06d.ts", i), Mode: tree.Regular, Size: int64(rand.N(1 << 30)), SHA256: newDigest(),
		})
	}
	return t
}

func newDigest() string {
	return fmt.Sprintf("%016x%016x%016x%016x", rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64())
}

// What a decoder makes of a frame is the list, whatever has changed.
func TestEncodeList_IsTheList(t *testing.T) {
	many := list(4000) // more than a block of zstd
	rapid.Check(t, func(rt *rapid.T) {
		base := slices.Clone(many[:rapid.SampledFrom([]int{1, 2, 5, 1000, len(many)}).Draw(rt, "files")])
		files := slices.Clone(base)
		for range rapid.IntRange(0, 8).Draw(rt, "edits") {
			i := rapid.IntRange(0, len(files)).Draw(rt, "at")
			switch what := rapid.SampledFrom([]string{"add", "add before", "remove", "change", "chmod"}).Draw(rt, "what"); {
			case i == len(files) || what == "add":
				path := fmt.Sprintf("src/%06d.tsx/%d", i, len(files))
				files = append(files, tree.Entry{Path: path, Mode: tree.Regular, SHA256: newDigest()})
			case what == "add before":
				files = append(files, tree.Entry{Path: fmt.Sprintf("a%d", i), Mode: tree.Executable, Size: 1, SHA256: newDigest()})
			case what == "remove":
				files = slices.Delete(files, i, min(len(files), i+rapid.SampledFrom([]int{1, 2, 2000}).Draw(rt, "n")))
			case what == "change":
				files[i].SHA256, files[i].Size = newDigest(), int64(rand.N(1<<30))
			default:
				files[i].Mode = tree.Executable
			}
			slices.SortFunc(files, func(a, b tree.Entry) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
			files = slices.CompactFunc(files, func(a, b tree.Entry) bool { return a.Path == b.Path })
		}
		lines := files.Canonical()
		got, err := decodeWith(encodeList(files, base), base)
		if err != nil || !bytes.Equal(got, lines) {
			rt.Errorf("%d of %d bytes, %v", len(got), len(lines), err)
		}
	})
}
