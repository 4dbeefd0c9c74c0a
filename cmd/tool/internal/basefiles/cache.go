package basefiles

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/projecthub/cmd/tool/internal/wholefile"
)

// The cache of hashes is a file for each root: a line that names the format, a
// checksum of the rest, and the files in the order of their paths. It may be
// lost or damaged at any time: then everything is read again. Its format's
// number also stands for what a token looks like, because a file is in the
// cache only if it holds none.
//
//	record: size, mtime, ctime, inode (8 bytes each), digest (64 hex digits), length of path (2 bytes), path
//
// Numbers are little-endian.
const (
	cacheFormat = "tool hashes 1\n"
	checksumEnd = len(cacheFormat) + 4
	stampSize   = 4 * 8
	digestSize  = 2 * sha256.Size
	recordSize  = stampSize + digestSize + 2 // without the path
)

// A file that is younger than this when it is read is not remembered: it could
// be written once more without its time telling, on the coarsest of clocks.
const settling = 2 * time.Second

// cacheFile is the path of s's cache, empty when there is to be none.
func (s *Selection) cacheFile() string {
	if s.cacheDir == "" {
		return ""
	}
	root := sha256.Sum256([]byte(filepath.Join(s.workspace, filepath.FromSlash(s.root))))
	return filepath.Join(s.cacheDir, hex.EncodeToString(root[:8])+".hashes")
}

// cache is the part of a cache that was not asked for yet.
type cache string

// readCache returns an empty cache for a file that is missing, damaged or in
// another format.
func readCache(file string) cache {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	var head [checksumEnd]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || string(head[:len(cacheFormat)]) != cacheFormat {
		return ""
	}
	var records strings.Builder
	if is, err := f.Stat(); err == nil {
		records.Grow(int(is.Size()))
	}
	sum := crc32.New(castagnoli())
	_, err = io.Copy(io.MultiWriter(&records, sum), f)
	if err != nil || sum.Sum32() != binary.LittleEndian.Uint32(head[len(cacheFormat):]) {
		return ""
	}
	return cache(records.String())
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// digest returns the digest of f, or nothing. It is to be asked in path order.
func (c *cache) digest(f *File) string {
	for len(*c) >= recordSize {
		record := string(*c)
		end := recordSize + int(record[recordSize-2]) + int(record[recordSize-1])<<8
		if end > len(record) {
			return ""
		}
		path := record[recordSize:end]
		if path > f.Path {
			return ""
		}
		*c = cache(record[end:])
		if path == f.Path {
			var stamp [stampSize]byte
			if record[:stampSize] != string(appendStamp(stamp[:0], f.Stamp)) {
				return ""
			}
			return record[stampSize : stampSize+digestSize]
		}
	}
	return ""
}

func appendStamp(b []byte, s Stamp) []byte {
	for _, n := range [...]uint64{uint64(s.Size), uint64(s.ModTime), uint64(s.Changed), s.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// remember writes what is known now, if any of it is new. A cache that cannot
// be written costs time and nothing else.
func (h *hashing) remember() {
	file := h.set.cacheFile()
	if file == "" || len(h.todo) == 0 {
		return
	}
	settled := h.started.Add(-settling).UnixNano()
	size := checksumEnd
	for _, e := range h.entries {
		size += recordSize + len(e.Path)
	}
	b := append(append(make([]byte, 0, size), cacheFormat...), 0, 0, 0, 0)
	for i, e := range h.entries {
		f := h.set.Files[i]
		if e.SHA256 == "" || f.ModTime >= settled {
			continue
		}
		b = appendStamp(b, f.Stamp)
		b = append(b, e.SHA256...)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(e.Path)))
		b = append(b, e.Path...)
	}
	binary.LittleEndian.PutUint32(b[len(cacheFormat):], crc32.Checksum(b[checksumEnd:], castagnoli()))
	_ = wholefile.Replace(file, b)
}
