// Package state is what tool remembers on this machine outside the workspace: copies of what
// the last pull replaced, answers to questions, reminders, and the sync state, a cache of what
// was last pushed or pulled.
//
// It knows neither the hub nor the workspace: what it saves has a name.
package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/projecthub/cmd/tool/internal/atomicfile"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
)

// Dir is the directory for what is to last; "" saves nothing.
type Dir string

// ErrNoDirectory says that there is no state directory to store anything in.
var ErrNoDirectory = errors.New("set TOOL_STATE_DIR to a directory for it")

// Consented reports whether a question about name was answered with yes before.
func (d Dir) Consented(name string) bool {
	_, err := os.Lstat(d.consent(name))
	return d != "" && err == nil
}

// Consent remembers a yes.
func (d Dir) Consent(name string) error {
	if d == "" {
		return ErrNoDirectory
	}
	return atomicfile.WriteFile(d.consent(name), []byte(name+"\n")) // for a person who looks into the file
}

func (d Dir) consent(name string) string { return filepath.Join(string(d), "consents", NameOf(name)) }

// NameOf returns a name of a file for a name of any form.
func NameOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// Due reports whether a reminder with this name is due: at most once in a time. Where
// nothing can be remembered, it is always due.
func Due(dir, name string, every time.Duration) bool {
	path := filepath.Join(dir, "reminders", name)
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()).Abs() < every {
		return false
	}
	if dir != "" {
		_ = atomicfile.WriteCache(path, nil) // at worst the reminder comes again
	}
	return true
}

// Sync is the sync state: which config was last pushed to or pulled from each project
// of each hub, to find out later which side changed, and which base files, so that a
// push need only send what differs. It is a cache: it can be lost, and its failures
// are not reported.
type Sync string // its directory, which need not exist; "" saves nothing

func (s Sync) path(origin string, r ref.Ref) string {
	return filepath.Join(string(s), NameOf(origin+" "+r.String()))
}

// Save remembers revision as the last one pushed to or pulled from a project; "": none.
func (s Sync) Save(origin string, r ref.Ref, revision string) {
	s.save(s.path(origin, r), []byte(revision))
}

// Last returns the revision that was saved for a project, "" when none is known.
func (s Sync) Last(origin string, r ref.Ref) string {
	data, err := os.ReadFile(s.path(origin, r))
	if err != nil || !tree.ValidDigest(string(data)) {
		return ""
	}
	return string(data)
}

// SaveFiles remembers files as the last set pushed to or pulled from a project: its
// digest in a line, then its canonical form.
func (s Sync) SaveFiles(origin string, r ref.Ref, files tree.Snapshot) {
	s.save(s.filesPath(origin, r), slices.Concat([]byte(files.Digest+"\n"), files.Tree.Canonical()))
}

// Rename gives what was saved for a project to the same one under its new name.
func (s *Sync) Rename(origin string, from, to ref.Ref) {
	_ = os.Rename(s.path(origin, from), s.path(origin, to))
	_ = os.Rename(s.filesPath(origin, from), s.filesPath(origin, to))
}

// LastFiles returns the set that was saved for a project. Its files are read once, when
// they are asked for.
func (s Sync) LastFiles(origin string, r ref.Ref) tree.Base {
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

func (s Sync) filesPath(origin string, r ref.Ref) string { return s.path(origin, r) + ".files" }

func (s Sync) save(path string, data []byte) {
	if s != "" {
		_ = atomicfile.WriteCache(path, data)
	}
}
