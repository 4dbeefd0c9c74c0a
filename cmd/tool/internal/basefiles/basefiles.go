// Package basefiles selects the files of an app that are pushed, and those of a
// stack's bundle. It hashes them, opens them for the upload, and writes pulled files.
//
// It follows no symbolic link, opens only directories and regular files, and reads
// nothing outside the workspace. It knows neither client.json nor the hub: the caller
// says where the app is and which files were generated.
package basefiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"example.com/projecthub/hubclient/wire"
)

// UsualLimits are those of a hub whose administrator has not set others. A pull asks before
// it writes more, because a hub can name any size.
var UsualLimits = wire.Limits{BaseFiles: 20_000, BaseFileBytes: 25 << 20, BaseFilesBytes: 1 << 30}

// CheckLimits returns how files exceed limits, nil if they do not.
func CheckLimits(files tree.Tree, l wire.Limits) error {
	if n := len(files); above(int64(n), int64(l.BaseFiles)) {
		return fmt.Errorf("there are %d files, and there may be %d at most", n, l.BaseFiles)
	}
	for _, e := range files {
		if above(e.Size, l.BaseFileBytes) {
			return fmt.Errorf("%s has %s, and a file may have %s at most", e.Path, mib(e.Size), mib(l.BaseFileBytes))
		}
	}
	if n := files.Bytes(); above(n, l.BaseFilesBytes) {
		return fmt.Errorf("the files have %s together, and they may have %s at most", mib(n), mib(l.BaseFilesBytes))
	}
	return nil
}

// above reports whether n is above a limit; 0 means that there is no limit.
func above(n, limit int64) bool { return limit > 0 && n > limit }

// KnowsModes reports whether files have executable bits here; else each file is [tree.Regular].
const KnowsModes = runtime.GOOS != "windows"

// Options configure [Choose] and [Bundle].
type Options struct {
	Workspace string   // nothing outside this directory is read
	Root      string   // of the files, a directory in Workspace; not relative to it
	Generated []string // files that are never selected, relative to Workspace

	AllowEmpty  bool        // allow no file or no app root
	ListSkipped bool        // collect Selection.Skipped
	CacheDir    string      // for the cache of hashes; empty: no cache
	Limits      wire.Limits // of the hub; the zero Limits: UsualLimits
}

// Selection lists the files selected by the rules. It keeps no file open.
type Selection struct {
	Files []*File // in the byte order of their paths
	Bytes int64   // size of all files together

	Skipped       []Skip // in path order; only with ListSkipped
	Links, Others int    // symbolic links and special files that no rule excludes

	workspace string   // resolved
	root      string   // relative to workspace, /-separated, without symbolic links
	dirs      []string // directories that were read, relative to root, as spelled on disk
	cacheDir  string
	known     func() cache // nil without a cacheDir
	limits    wire.Limits
	remedy    string // how the user can exclude a file
}

// Root returns the directory of the files, as an absolute path without symbolic links.
func (s *Selection) Root() string { return filepath.Join(s.workspace, filepath.FromSlash(s.root)) }

// InWorkspace returns the path of a file relative to the workspace.
func (s *Selection) InWorkspace(f *File) string { return path.Join(s.root, f.Path) }

// Dirs returns the directories that were read, as absolute paths without symbolic links.
func (s *Selection) Dirs() []string {
	root := s.Root()
	dirs := make([]string, len(s.dirs))
	for i, dir := range s.dirs {
		dirs[i] = filepath.Join(root, filepath.FromSlash(dir))
	}
	return dirs
}

// Excluded returns the paths that rules exclude, absolute and without symbolic links;
// only with ListSkipped. It does not list links and special files, which may become files.
func (s *Selection) Excluded() []string {
	root := s.Root()
	var all []string
	for _, skip := range s.Skipped {
		if !isKind(skip.Why) {
			all = append(all, filepath.Join(root, filepath.FromSlash(skip.Path)))
		}
	}
	return all
}

// File is one selected file.
type File struct {
	Path   string // in the tree: relative to the root, /-separated, in NFC
	OnDisk string // the same path as spelled on disk
	Mode   tree.Mode
	Secret bool // a built-in rule excludes such files because of the secrets that they hold
	Kept   bool // .toolignore includes it by a rule that starts with !
	Stamp

	// Credential is what the text has the shape of, and where, such as: a GitHub token on line 3. It is
	// "" for nothing, and until Hash has read the file.
	Credential string
}

// Stamp shows that a file changed without reading it.
type Stamp struct {
	Size    int64  // bytes
	ModTime int64  // ns since 1970
	Changed int64  // time of the last change of content, mode or name, ns since 1970; 0 when unknown
	Inode   uint64 // 0 when unknown
}

// Skip is a path that was not selected.
type Skip struct {
	Path string `json:"path"` // relative to the root; that of a directory ends in a slash
	Why  string `json:"why"`  // the rule that excludes it, or its kind
}

// Choose selects the base files of an app by the root's .toolignore and the built-in
// rules. It never selects .tool or a generated file.
func Choose(ctx context.Context, o Options) (*Selection, error) {
	s, err := locate(o)
	if errors.Is(err, errNoRoot) {
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
	s.remedy = "exclude it in .toolignore"
	own, err := s.readToolignore()
	if err != nil {
		return nil, err
	}
	if err := s.walk(ctx, filter{own: own, generated: generatedBelow(o, s.root), list: o.ListSkipped}); err != nil {
		return nil, err
	}
	if len(s.Files) == 0 && !o.AllowEmpty {
		return nil, noBaseFiles("no file below the app root %s is selected", shown(o.Workspace, o.Root))
	}
	return s, nil
}

// notBundled lists files of a local project that belong to one destination or one machine.
const notBundled = `/client.json
/client.*.json
/manifest.json
/pulled.json
.*.tmp
`

// Bundle selects the files of a stack version: all in the directory of a local project, except those
// that the built-in rules exclude and those of notBundled.
func Bundle(ctx context.Context, o Options) (*Selection, error) {
	s, err := locate(o)
	if errors.Is(err, errNoRoot) {
		return nil, failure.New(failure.CodeNoLocalProject, "there is no directory %s", shown(o.Workspace, o.Root))
	}
	if err != nil {
		return nil, err
	}
	s.remedy = "move it out of " + s.name("")
	own := ignore.Compile([]byte(notBundled), builtInSource)
	if err := s.walk(ctx, filter{own: own}); err != nil {
		return nil, err
	}
	return s, nil
}

var errNoRoot = errors.New("no such directory")

// locate resolves the root. The error is errNoRoot if it does not exist.
func locate(o Options) (*Selection, error) {
	inside, err := resolve(o.Workspace)
	if err != nil {
		return nil, failure.New(failure.CodeNoWorkspace, "find the workspace: %w", err)
	}
	resolved, err := resolve(o.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoRoot
	}
	name := shown(o.Workspace, o.Root)
	if err != nil {
		return nil, failure.New(failure.CodeInvalidFile, "find the directory %s: %w", name, err)
	}
	rel, err := filepath.Rel(inside, resolved)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, failure.New(failure.CodeOutsideWorkspace, "%s leads to %s, outside the workspace", name, resolved)
	}
	if is, err := os.Stat(resolved); err == nil && !is.IsDir() {
		return nil, failure.New(failure.CodeInvalidFile, "%s is not a directory", name)
	}
	return &Selection{
		workspace: inside, root: filepath.ToSlash(rel), cacheDir: o.CacheDir, limits: cmp.Or(o.Limits, UsualLimits),
	}, nil
}

func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// shown returns root relative to the workspace if it is in there.
func shown(workspace, root string) string {
	from, _ := filepath.Abs(workspace)
	to, _ := filepath.Abs(root)
	rel, err := filepath.Rel(from, to)
	if err != nil || !filepath.IsLocal(rel) {
		return root
	}
	return filepath.ToSlash(rel)
}

// generatedBelow returns the generated files below root as paths in the tree. A root
// behind a symbolic link has two names, and manifest.json may use either.
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

// open opens the root. It follows no symbolic link below the workspace, even if one
// replaced a directory since the root was resolved.
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
