package basefiles

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unsafe"

	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/tree"
)

// The cache of hashes is a file for each root: a line that names the format, a
// checksum of the rest, the digest of the set, and its files in the order of
// their paths. Where files of the set are missing, the digest is all dashes. The
// cache may be lost or damaged at any time: then everything is read again. Its
// format's number also stands for what a token looks like, because a file is in
// the cache only if it holds none, and for how a set is named, because its digest
// is taken from here.
//
//	record: size, mtime, ctime, inode (8 bytes each), mode (4 digits), digest (64 hex digits), length of path (2 bytes), path
//
// Numbers are little-endian.
const (
	cacheFormat = "tool hashes 2\n"
	checksumEnd = len(cacheFormat) + 4
	stampSize   = 4*8 + len(tree.Regular)
	recordSize  = stampSize + tree.DigestSize + 2 // without the path
)

var noDigest = strings.Repeat("-", tree.DigestSize)

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

// lookUp begins to read the cache, for when the files are found.
func (s *Selection) lookUp() {
	if file := s.cacheFile(); file != "" {
		s.known = sync.OnceValue(func() cache { return readCache(file) })
		go s.known()
	}
}

// cache is what a file of hashes tells.
type cache struct {
	set     string // digest of the set that all its records make, empty when unknown
	records string // those that were not asked for yet
	stale   bool   // a record was of no use
}

// readCache returns an empty cache for a file that is missing, damaged or in
// another format.
func readCache(file string) cache {
	b, err := os.ReadFile(file)
	if err != nil || len(b) < checksumEnd+tree.DigestSize || string(b[:len(cacheFormat)]) != cacheFormat ||
		crc32.Checksum(b[checksumEnd:], castagnoli()) != binary.LittleEndian.Uint32(b[len(cacheFormat):]) {
		return cache{}
	}
	rest := unsafe.String(&b[checksumEnd], len(b)-checksumEnd) // spares a copy of b, which nobody else has
	c := cache{records: rest[tree.DigestSize:]}
	if tree.ValidDigest(rest[:tree.DigestSize]) {
		c.set = rest[:tree.DigestSize]
	}
	return c
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// digest returns the digest of f, or nothing. It is to be asked in path order.
func (c *cache) digest(f *File) string {
	for len(c.records) >= recordSize {
		record := c.records
		end := recordSize + int(record[recordSize-2]) + int(record[recordSize-1])<<8
		if end > len(record) {
			return ""
		}
		path := record[recordSize:end]
		if path > f.Path {
			return ""
		}
		c.records = record[end:]
		var stamp [stampSize]byte
		if path == f.Path && record[:stampSize] == string(appendStamp(stamp[:0], f)) {
			return record[stampSize : stampSize+tree.DigestSize]
		}
		c.stale = true
		if path == f.Path {
			return ""
		}
	}
	return ""
}

// whole returns the digest of the set whose files were asked for, when they are all
// that the cache knows; else nothing.
func (c *cache) whole() string {
	if c.stale || c.records != "" {
		return ""
	}
	return c.set
}

func appendStamp(b []byte, f *File) []byte {
	for _, n := range [...]uint64{uint64(f.Size), uint64(f.ModTime), uint64(f.Changed), f.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return append(b, f.Mode...)
}

// remember writes what is known now. A cache that cannot be written costs time
// and nothing else.
func (h *hashing) remember() {
	file := h.set.cacheFile()
	if file == "" {
		return
	}
	settled := h.started.Add(-settling).UnixNano()
	size := checksumEnd + tree.DigestSize
	for _, e := range h.entries {
		size += recordSize + len(e.Path)
	}
	b := append(append(make([]byte, 0, size), cacheFormat...), 0, 0, 0, 0)
	b = append(b, cmp.Or(h.digest, noDigest)...)
	for i, e := range h.entries {
		f := h.set.Files[i]
		if e.SHA256 == "" || f.ModTime >= settled {
			copy(b[checksumEnd:], noDigest)
			continue
		}
		b = appendStamp(b, f)
		b = append(b, e.SHA256...)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(e.Path)))
		b = append(b, e.Path...)
	}
	binary.LittleEndian.PutUint32(b[len(cacheFormat):], crc32.Checksum(b[checksumEnd:], castagnoli()))
	_ = state.WriteCache(file, b)
}
