package state

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Sync is the sync state: which config was last pushed to or pulled from each project
// of each hub, to find out later which side changed, and which base files, so that a
// push need only send what differs. It is a cache: it can be lost, and its failures
// are not reported.
type Sync struct{ dir string }

// NewSync returns the sync state in a directory, which need not exist; "" saves nothing.
func NewSync(dir string) *Sync { return &Sync{dir} }

func (s *Sync) path(origin string, r ref.Ref) string {
	return filepath.Join(s.dir, NameOf(origin+" "+r.String()))
}

// Save remembers revision as the last one pushed to or pulled from a project; "": none.
func (s *Sync) Save(origin string, r ref.Ref, revision string) {
	s.save(s.path(origin, r), []byte(revision))
}

// Last returns the revision that was saved for a project, "" when none is known.
func (s *Sync) Last(origin string, r ref.Ref) string {
	data, err := os.ReadFile(s.path(origin, r))
	if err != nil || !tree.ValidDigest(string(data)) {
		return ""
	}
	return string(data)
}

// SaveFiles remembers files as the last set pushed to or pulled from a project: its
// digest in a line, then its canonical form.
func (s *Sync) SaveFiles(origin string, r ref.Ref, files tree.Snapshot) {
	s.save(s.filesPath(origin, r), slices.Concat([]byte(files.Digest+"\n"), files.Tree.Canonical()))
}

// Rename gives what was saved for a project to the same one under its new name.
func (s *Sync) Rename(origin string, from, to ref.Ref) {
	_ = os.Rename(s.path(origin, from), s.path(origin, to))
	_ = os.Rename(s.filesPath(origin, from), s.filesPath(origin, to))
}

// LastFiles returns the set that was saved for a project. Its files are read once, when
// they are asked for.
func (s *Sync) LastFiles(origin string, r ref.Ref) tree.Base {
	path := s.filesPath(origin, r)
	f, err := os.Open(path)
	if err != nil {
		return tree.Base{}
	}
	defer f.Close()
	line := make([]byte, tree.DigestSize)
	_, err = io.ReadFull(f, line)
	digest := string(line)
	if err != nil || !tree.ValidDigest(digest) {
		return tree.Base{}
	}
	return tree.Base{Digest: digest, Files: sync.OnceValue(func() tree.Tree { return readFiles(path, digest) })}
}

// readFiles returns nil unless path still holds the set of this digest.
func readFiles(path, digest string) tree.Tree {
	saved, _ := os.ReadFile(path)
	canonical, ok := bytes.CutPrefix(saved, []byte(digest+"\n"))
	if !ok || tree.DigestOf(canonical) != digest {
		return nil
	}
	files, err := tree.Read(canonical)
	if err != nil {
		return nil
	}
	return files
}

func (s *Sync) filesPath(origin string, r ref.Ref) string { return s.path(origin, r) + ".files" }

func (s *Sync) save(path string, data []byte) {
	if s.dir != "" {
		_ = atomicfile.WriteCache(path, data)
	}
}
