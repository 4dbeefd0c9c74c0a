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

	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/hubclient/tree"
)

// The cache of hashes is one file for each root: a line with the format, a checksum of
// the rest, the digest of the tree, and a record for each file in path order. The digest
// is all dashes if a file of the tree has no record. A missing or damaged cache only
// means that all files are read again. The format's number changes also when tokens
// look different, because only files without a token are recorded, and when the digest
// of a tree is computed differently.
//
//	record: size, mtime, ctime, inode (8 bytes each), mode (4 digits), digest (64 hex digits),
//	        length of path (2 bytes), path
//
// Numbers are little-endian.
const (
	cacheFormat = "tool hashes 2\n"
	checksumEnd = len(cacheFormat) + 4
	stampSize   = 4*8 + len(tree.Regular)
	recordSize  = stampSize + tree.DigestSize + 2 // without the path
)

var noDigest = strings.Repeat("-", tree.DigestSize)

// A file modified less than this before it is read is not recorded: on the coarsest
// clocks, another write could leave its time unchanged.
const settling = 2 * time.Second

// cacheFile returns the path of the cache of s, or "" for no cache.
func (s *Selection) cacheFile() string {
	if s.cacheDir == "" {
		return ""
	}
	root := sha256.Sum256([]byte(filepath.Join(s.workspace, filepath.FromSlash(s.root))))
	return filepath.Join(s.cacheDir, hex.EncodeToString(root[:8])+".hashes")
}

// lookUp starts reading the cache while the files are selected.
func (s *Selection) lookUp() {
	if file := s.cacheFile(); file != "" {
		s.known = sync.OnceValue(func() cache { return readCache(file) })
		go s.known()
	}
}

// cache is the content of a cache file.
type cache struct {
	tree    string // digest of the tree of all records, "" if unknown
	records string // not yet passed by digest
	stale   bool   // a record did not match its file
}

// readCache returns an empty cache if the file is missing, damaged or in another format.
func readCache(file string) cache {
	b, err := os.ReadFile(file)
	if err != nil || len(b) < checksumEnd+tree.DigestSize || string(b[:len(cacheFormat)]) != cacheFormat ||
		crc32.Checksum(b[checksumEnd:], castagnoli()) != binary.LittleEndian.Uint32(b[len(cacheFormat):]) {
		return cache{}
	}
	rest := string(b[checksumEnd:])
	c := cache{records: rest[tree.DigestSize:]}
	if tree.ValidDigest(rest[:tree.DigestSize]) {
		c.tree = rest[:tree.DigestSize]
	}
	return c
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// digest returns the recorded digest of f, or "". Call it in path order.
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

// treeDigest returns the digest of the tree if digest was called for all records and
// each matched its file; else "".
func (c *cache) treeDigest() string {
	if c.stale || c.records != "" {
		return ""
	}
	return c.tree
}

func appendStamp(b []byte, f *File) []byte {
	for _, n := range [...]uint64{uint64(f.Size), uint64(f.ModTime), uint64(f.Changed), f.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return append(b, f.Mode...)
}

// remember writes the cache; digest is that of the tree, "" if it is not known. It ignores
// errors: without a cache, the next run only takes longer.
func (h *hashing) remember(digest string) {
	file := h.selection.cacheFile()
	if file == "" {
		return
	}
	settled := h.started.Add(-settling).UnixNano()
	size := checksumEnd + tree.DigestSize
	for _, e := range h.entries {
		size += recordSize + len(e.Path)
	}
	b := append(append(make([]byte, 0, size), cacheFormat...), 0, 0, 0, 0)
	b = append(b, cmp.Or(digest, noDigest)...)
	for i, e := range h.entries {
		f := h.selection.Files[i]
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
