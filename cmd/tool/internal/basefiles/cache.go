package basefiles

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/hubclient/tree"
)

// The cache of hashes is a text file for each root: the format, a checksum of the rest, the
// digest of the tree, and a record for each file in path order.
//
//	tool hashes 4
//	5f0d1a9c
//	2c26b46b…6266e7ae
//	9f86d081…b0f00a08 src/index.html<TAB>0644 1532 1700000000000000000 1700000000000000001 4711
//
// A record has the file's digest, path, mode, size, mtime, ctime and inode. The digest of the
// tree is all dashes if a file of it has no record. A missing or damaged cache only means that all
// files are read again. The format's number changes also when tokens or other credentials look different, because
// only files without them are recorded, and when the digest of a tree is computed differently.
const cacheFormat = "tool hashes 4\n"

var noDigest = strings.Repeat("-", tree.DigestSize)

// A file modified less than this before it is read is not recorded: on the coarsest
// clocks, another write could leave its time unchanged.
const settling = 2 * time.Second

// cacheFile returns the path of the cache of s, or "" for no cache.
func (s *Selection) cacheFile() string {
	if s.cacheDir == "" {
		return ""
	}
	root := sha256.Sum256([]byte(s.Root()))
	return filepath.Join(s.cacheDir, hex.EncodeToString(root[:8])+".hashes")
}

// lookUp starts reading the cache while the files are selected.
func (s *Selection) lookUp() {
	if file := s.cacheFile(); file != "" {
		s.known = sync.OnceValue(func() cache { return readCache(file) })
		go s.known()
	}
}

type cache struct {
	tree    string // digest of the tree of all records, "" if unknown
	records string // not yet passed by digest
	stale   bool   // a record did not match its file
	buf     []byte // for the record that digest expects
}

// readCache returns an empty cache if the file is missing, damaged or in another format. It has
// the text in memory only once: a large app has megabytes of it.
func readCache(file string) cache {
	f, err := os.Open(file)
	if err != nil {
		return cache{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return cache{}
	}
	r := bufio.NewReader(f)
	format, _ := r.ReadString('\n')
	sum, _ := r.ReadString('\n')
	var text strings.Builder
	text.Grow(int(info.Size()))
	crc := crc32.New(castagnoli())
	_, err = io.Copy(io.MultiWriter(&text, crc), r)
	if err != nil || format != cacheFormat || sum != sumLine(crc.Sum32()) {
		return cache{}
	}
	digest, records, _ := strings.Cut(text.String(), "\n")
	return cache{tree: strings.Trim(digest, "-"), records: records}
}

// castagnoli is no variable, so that only commands with a cache compute the table.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func sumLine(sum uint32) string { return fmt.Sprintf("%08x\n", sum) }

// digest returns the recorded digest of f, or "". Call it in path order.
func (c *cache) digest(f *File) string {
	// Mostly nothing changed, so that the next record is the expected one.
	c.buf = appendRecord(append(c.buf[:0], ' '), f)
	end := tree.DigestSize + len(c.buf)
	if end <= len(c.records) && c.records[tree.DigestSize:end] == string(c.buf) {
		digest := c.records[:tree.DigestSize]
		c.records = c.records[end:]
		return digest
	}
	for c.records != "" {
		record, rest, _ := strings.Cut(c.records, "\n")
		digest, record, _ := strings.Cut(record, " ")
		path, _, _ := strings.Cut(record, "\t")
		if path > f.Path {
			return ""
		}
		c.records = rest
		if record == string(c.buf[1:len(c.buf)-1]) {
			return digest
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

// maxStamps is how many bytes a record has besides the path, at most.
const maxStamps = tree.DigestSize + len("  0644    \n") + 4*len("-9223372036854775808")

// appendRecord appends the record of f without its digest.
func appendRecord(b []byte, f *File) []byte {
	b = append(append(append(b, f.Path...), '\t'), f.Mode...)
	for _, n := range [...]int64{f.Size, f.ModTime, f.Changed, int64(f.Inode)} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return append(b, '\n')
}

// remember writes the cache; digest is that of the tree, "" if it is not known. It ignores
// errors: without a cache, the next run only takes longer.
func (h *hashing) remember(digest string) {
	file := h.selection.cacheFile()
	if file == "" {
		return
	}
	settled := h.started.Add(-settling).UnixNano()
	size := 0
	for _, e := range h.entries {
		size += len(e.Path) + maxStamps
	}
	b := make([]byte, 0, len(cacheFormat)+len(sumLine(0))+len(noDigest)+1+size)
	b = append(b, cacheFormat+sumLine(0)+noDigest+"\n"...) // sum and digest are replaced below
	for i, e := range h.entries {
		f := h.selection.Files[i]
		if e.SHA256 == "" || f.ModTime >= settled || f.Credential != "" {
			digest = ""
			continue
		}
		b = appendRecord(append(append(b, e.SHA256...), ' '), f)
	}
	text := b[len(cacheFormat)+len(sumLine(0)):]
	copy(text, digest)
	copy(b[len(cacheFormat):], sumLine(crc32.Checksum(text, castagnoli())))
	_ = atomicfile.WriteCache(file, b)
}
