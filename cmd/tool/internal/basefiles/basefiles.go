// Package basefiles chooses the files of an app tree that are pushed, and those
// of a stack's bundle, hashes them, and opens them for whoever uploads them.
//
// It follows no symbolic link, opens nothing but directories and regular files,
// and reads nothing outside the workspace. It knows neither client.json nor the
// hub: the caller says where the app is and what was generated.
package basefiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
)

// What a set may hold at most.
const (
	MaxFiles    = 20_000
	MaxFileSize = 25 << 20 // bytes
	MaxBytes    = 1 << 30  // of all files together
)

// KnowsModes says whether this platform tells which files can be run. Where it
// does not, every file's mode is [tree.Regular].
const KnowsModes = runtime.GOOS != "windows"

// Options say what to choose from.
type Options struct {
	Workspace string   // directory that nothing is read outside of
	Root      string   // the app root, a directory in Workspace; not relative to it
	Generated []string // files that are never chosen, relative to Workspace

	AllowEmpty  bool   // choosing nothing, or having no app root, is no failure
	ListSkipped bool   // collect Selection.Skipped
	CacheDir    string // where hashes are remembered; empty: nowhere
}

// Selection is a chosen set of files. It holds no open file.
type Selection struct {
	Files []*File // in the byte order of their paths
	Bytes int64   // size of all files together

	Skipped       []Skip // in path order; empty unless asked for
	Links, Others int    // symbolic links and special files that no rule leaves out

	workspace string   // resolved
	root      string   // of the set, relative to workspace, /-separated, without a link
	dirs      []string // that were looked into, relative to root, as they are on disk
	cacheDir  string
	known     func() cache // nil without a cacheDir
	remedy    string       // how to leave a file out
}

// Dirs returns the directories that were looked into: absolute, without a link.
func (s *Selection) Dirs() []string {
	root := filepath.Join(s.workspace, filepath.FromSlash(s.root))
	dirs := make([]string, len(s.dirs))
	for i, dir := range s.dirs {
		dirs[i] = filepath.Join(root, filepath.FromSlash(dir))
	}
	return dirs
}

// Excluded returns what rules leave out, where it was asked for: absolute, without
// a link. A symbolic link or a special file, which may become a file, is not among it.
func (s *Selection) Excluded() []string {
	root := filepath.Join(s.workspace, filepath.FromSlash(s.root))
	var all []string
	for _, skip := range s.Skipped {
		if !isKind(skip.Why) {
			all = append(all, filepath.Join(root, filepath.FromSlash(skip.Path)))
		}
	}
	return all
}

// File is one chosen file.
type File struct {
	Path   string // in the set: relative to the root, /-separated, in NFC
	OnDisk string // the same as the file system spells it
	Mode   tree.Mode
	Stamp
}

// Stamp is what tells without reading a file that its content is another.
type Stamp struct {
	Size    int64  // bytes
	ModTime int64  // ns since 1970
	Changed int64  // time of the last change of content, mode or name, ns since 1970; 0 when unknown
	Inode   uint64 // 0 when unknown
}

// Skip is something that was not chosen.
type Skip struct {
	Path string `json:"path"` // relative to the root; a directory's ends in a slash
	Why  string `json:"why"`  // the rule that leaves it out, or what it is
}

// Choose selects the base files of an app: what the built-in rules and then the
// root's .toolignore keep, and never .tool or a generated file.
func Choose(ctx context.Context, o Options) (*Selection, error) {
	s, err := locate(o.Workspace, o.Root, o.CacheDir)
	if err == errNoRoot {
		if o.AllowEmpty {
			return &Selection{}, nil
		}
		return nil, noBaseFiles("the app root %s does not exist", shown(o.Workspace, o.Root))
	}
	if err != nil {
		return nil, err
	}
	if name := tree.ReservedIn(s.root); name != "" {
		return nil, noBaseFiles("the app root %s is in %s, which no app is in", shown(o.Workspace, o.Root), name)
	}
	s.remedy = "leave it out in .toolignore"
	own, err := s.readToolignore()
	if err != nil {
		return nil, err
	}
	err = s.walk(ctx, choice{
		rules: []*ignore.Rules{own, builtIn()},
		never: never(generatedBelow(o, s.root)),
		list:  o.ListSkipped,
	})
	if err != nil {
		return nil, err
	}
	if len(s.Files) == 0 && !o.AllowEmpty {
		return nil, noBaseFiles("no file below the app root %s is chosen", shown(o.Workspace, o.Root))
	}
	return s, nil
}

var errNoRoot = errors.New("no such directory")

// locate resolves where root is in workspace. The error is errNoRoot when it is missing.
func locate(workspace, root, cacheDir string) (*Selection, error) {
	inside, err := resolve(workspace)
	if err != nil {
		return nil, failure.New(failure.CodeNoWorkspace, "find the workspace: %w", err)
	}
	resolved, err := resolve(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoRoot
	}
	if err != nil {
		return nil, failure.New(failure.CodeInvalidFile, "find the directory %s: %w", shown(workspace, root), err)
	}
	rel, err := filepath.Rel(inside, resolved)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, failure.New(failure.CodeOutsideWorkspace, "%s leads to %s, outside the workspace", shown(workspace, root), resolved)
	}
	if is, err := os.Stat(resolved); err == nil && !is.IsDir() {
		return nil, failure.New(failure.CodeInvalidFile, "%s is not a directory", shown(workspace, root))
	}
	return &Selection{workspace: inside, root: filepath.ToSlash(rel), cacheDir: cacheDir}, nil
}

func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// shown names root as the user does, relative to the workspace where it can.
func shown(workspace, root string) string {
	from, _ := filepath.Abs(workspace)
	to, _ := filepath.Abs(root)
	rel, err := filepath.Rel(from, to)
	if err != nil || !filepath.IsLocal(rel) {
		return root
	}
	return filepath.ToSlash(rel)
}

// generatedBelow returns the generated files below root as paths of the set. A
// root that a link leads to has two names, and a record may use either.
func generatedBelow(o Options, root string) map[string]bool {
	below := map[string]bool{}
	for _, name := range o.Generated {
		name = norm.NFC.String(path.Clean(filepath.ToSlash(name)))
		for _, root := range []string{root, shown(o.Workspace, o.Root)} {
			if root = norm.NFC.String(root); root == "." {
				below[name] = true
			} else if rest, ok := strings.CutPrefix(name, root+"/"); ok {
				below[rest] = true
			}
		}
	}
	return below
}

// never returns the test for what no rule can include: reserved directories at any
// depth, and generated files.
func never(generated map[string]bool) func(path string) (why string) {
	return func(path string) string {
		switch name := tree.Reserved(path[strings.LastIndexByte(path, '/')+1:]); {
		case name == ".tool":
			return "the stack, which is published on its own"
		case name != "":
			return name + " (built-in)"
		case len(generated) > 0 && generated[path]:
			return "generated (manifest.json)"
		}
		return ""
	}
}

// open returns the root. No link is followed below the workspace, should one
// have taken a directory's place meanwhile.
func (s *Selection) open() (*dir, error) {
	d, err := openDir(s.workspace)
	if err != nil || s.root == "." {
		return d, err
	}
	for name := range strings.SplitSeq(s.root, "/") {
		below, err := d.openDir(name)
		d.close()
		if err != nil {
			return nil, err
		}
		d = below
	}
	return d, nil
}
