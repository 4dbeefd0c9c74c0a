// Package revisions remembers, on this machine, which config was last pushed to
// or pulled from each project, so that it can be told later which side changed,
// and which base files, so that a push need only tell what differs.
//
// What it keeps can be lost without harm: it is a cache, and its failures are none
// of the user's business.
package revisions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"

	"example.com/projecthub/cmd/tool/internal/wholefile"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Store keeps a file or two for each project of each hub.
type Store struct{ dir string }

// New returns a store in a directory, which need not exist; "" remembers nothing.
func New(dir string) *Store { return &Store{dir} }

func (s *Store) path(origin string, r ref.Ref) string {
	sum := sha256.Sum256([]byte(origin + " " + r.String()))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16]))
}

// Save remembers revision as the last one pushed to or pulled from a project; "": none.
func (s *Store) Save(origin string, r ref.Ref, revision string) {
	s.save(s.path(origin, r), []byte(revision))
}

// Last returns the revision that was saved for a project, "" when none is known.
func (s *Store) Last(origin string, r ref.Ref) string {
	data, err := os.ReadFile(s.path(origin, r))
	if err != nil || !tree.ValidDigest(string(data)) {
		return ""
	}
	return string(data)
}

// SaveFiles remembers files as the last set pushed to or pulled from a project: its
// digest in a line, then its canonical form.
func (s *Store) SaveFiles(origin string, r ref.Ref, files tree.Named) {
	s.save(s.filesPath(origin, r), slices.Concat([]byte(files.Digest+"\n"), files.Canonical()))
}

// LastFiles returns the set that was saved for a project. Its files are read when
// they are asked for.
func (s *Store) LastFiles(origin string, r ref.Ref) tree.Base {
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
	return tree.Base{Digest: digest, Files: func() tree.Tree { return readFiles(path, digest) }}
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

func (s *Store) filesPath(origin string, r ref.Ref) string { return s.path(origin, r) + ".files" }

func (s *Store) save(path string, data []byte) {
	if s.dir != "" {
		_ = wholefile.Replace(path, data)
	}
}
