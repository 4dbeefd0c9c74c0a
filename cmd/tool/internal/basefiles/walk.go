package basefiles

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

type filter struct {
	own       *ignore.Rules   // decide before the built-in rules
	generated map[string]bool // never selected
	list      bool            // record skipped paths
	above     string          // the root in the workspace, with a slash at its end; "" for the workspace
}

// verdictOn returns what the rules say about path. secret and kept are set for one that they do not exclude.
func (c *filter) verdictOn(path string, dir bool) (v verdict) {
	reserved := tree.Reserved(path[strings.LastIndexByte(path, '/')+1:])
	switch {
	case reserved == ".tool":
		return verdict{why: "the stack, which is published on its own"}
	case reserved != "":
		return verdict{why: reserved + " (built-in)"}
	case c.generated[path]:
		return verdict{why: "generated (manifest.json)"}
	}
	own := c.own.Match(path, dir)
	if own != nil && !own.Keeps {
		return verdict{why: reason(own)}
	}
	secrets, others := builtIn()
	rule := secrets.Match(strings.ToLower(c.above+path), dir)
	if own != nil {
		return verdict{secret: rule != nil && !rule.Keeps, kept: true}
	}
	if rule == nil {
		rule = others.Match(path, dir)
	}
	if rule == nil || rule.Keeps {
		return verdict{}
	}
	return verdict{why: reason(rule)}
}

type verdict struct {
	why          string // the rule that excludes it, "" for none
	secret, kept bool   // see File
}

// walker reads directories on all cores, each from its open parent.
type walker struct {
	filter
	*Selection // names files in errors
	ctx        context.Context
	readers    errgroup.Group

	found     atomic.Int64 // files selected so far
	lookalike atomic.Bool  // two names in a directory may be the same on another file system
}

// folder collects what one directory adds to a selection.
type folder struct {
	File          // its paths end in a slash, and are empty for the root; all files of a secret one are secret
	dir           *dir
	entries       []entry
	skipped       []Skip
	links, others int
	err           error
}

type entry struct {
	*File
	folder *folder // nil for a file
}

// walk adds the files that c selects to s.
func (s *Selection) walk(ctx context.Context, c filter) error {
	s.lookUp()
	if s.root != "." {
		c.above = s.root + "/"
	}
	w := &walker{filter: c, Selection: s, ctx: ctx}
	w.readers.SetLimit(runtime.GOMAXPROCS(0) + 6) // more than cores, because some wait for the disk
	d, err := s.open()
	if err != nil {
		return s.unreadable("", err)
	}
	root := &folder{File: File{Secret: HoldsSecrets(c.above + "any file")}, dir: d}
	w.read(root)
	_ = w.readers.Wait() // folders keep their errors
	if err := ctx.Err(); err != nil {
		return err
	}
	if above(w.found.Load(), int64(s.limits.BaseFiles)) {
		return s.tooMany(root)
	}
	s.Files = make([]*File, 0, w.found.Load())
	if err := s.gather(root); err != nil {
		return err
	}
	slices.SortFunc(s.Skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	return s.check(w.lookalike.Load())
}

// read reads the directory of f and closes it. Readers that are free take those in it.
func (w *walker) read(f *folder) {
	defer f.dir.close()
	if w.ctx.Err() != nil || above(w.found.Load(), int64(w.limits.BaseFiles)) {
		return
	}
	err := f.dir.list(func(name []byte, kind kind) { f.fail(w.visit(f, name, kind)) })
	if err != nil {
		f.fail(w.unreadable(f.OnDisk, err))
		return
	}
	if f.mayLookAlike() {
		w.lookalike.Store(true)
	}
	slices.SortFunc(f.entries, func(a, b entry) int { return strings.Compare(a.Path, b.Path) })
	for _, e := range f.entries {
		if e.folder != nil {
			f.fail(w.enter(f, e.folder))
		}
	}
}

func (w *walker) enter(f, below *folder) (err error) {
	if len(below.Path) > tree.MaxPath { // limits how many directories are open
		return w.invalidPath(below.OnDisk, tree.CheckPath(below.Path))
	}
	if below.dir, err = f.dir.openDir(strings.TrimSuffix(below.OnDisk[len(f.OnDisk):], "/")); err != nil {
		return w.unreadable(below.OnDisk, err)
	}
	if !w.readers.TryGo(func() error { w.read(below); return nil }) {
		w.read(below)
	}
	return nil
}

// fail keeps the first error. A file that was deleted since it was listed is none.
func (f *folder) fail(err error) {
	if f.err == nil && !errors.Is(err, fs.ErrNotExist) {
		f.err = err
	}
}

// visit adds what has a name in the directory of f, unless it is excluded.
func (w *walker) visit(f *folder, name []byte, kind kind) (err error) {
	file := &File{OnDisk: f.OnDisk + string(name)}
	file.Path = file.OnDisk // they share one string
	if f.Path != f.OnDisk || !norm.NFC.IsNormal(name) {
		file.Path = f.Path + string(norm.NFC.Bytes(name))
	}
	is := info{kind: kind}
	if kind == unknown {
		if is, err = f.dir.stat(string(name)); err != nil {
			return w.unreadable(file.OnDisk, err)
		}
	}
	v := w.verdictOn(file.Path, is.kind == directory)
	file.Secret, file.Kept = v.secret || f.Secret, v.kept || f.Kept
	switch {
	case v.why != "":
	case is.kind == directory:
		below := &folder{File: *file}
		below.Path, below.OnDisk = file.Path+"/", file.OnDisk+"/"
		f.entries = append(f.entries, entry{File: &below.File, folder: below})
		return nil
	case is.kind == regular:
		return w.choose(f, file, is)
	case is.kind == link:
		f.links++
	default:
		f.others++
	}
	if w.list {
		path := strings.ToValidUTF8(file.Path, string(utf8.RuneError))
		if is.kind == directory {
			path += "/"
		}
		f.skipped = append(f.skipped, Skip{Path: path, Why: cmp.Or(v.why, is.kind.String())})
	}
	return nil
}

func (w *walker) choose(f *folder, file *File, is info) (err error) {
	if is.mode == "" { // the listing knew only the kind
		if is, err = f.dir.stat(file.OnDisk[len(f.OnDisk):]); err == nil && is.kind != regular {
			err = errReplaced
		}
		if err != nil {
			return w.unreadable(file.OnDisk, err)
		}
	}
	if err := tree.CheckPath(file.Path); err != nil {
		return w.invalidPath(file.OnDisk, err)
	}
	if above(is.Size, w.limits.BaseFileBytes) {
		return w.tooLarge(file.OnDisk, is.Size)
	}
	file.Mode, file.Stamp = is.mode, is.Stamp
	f.entries = append(f.entries, entry{File: file})
	w.found.Add(1)
	return nil
}

// mayLookAlike is a fast check whether two names in f may be the same on another file
// system. It never misses a pair.
func (f *folder) mayLookAlike() bool {
	lower := map[string]bool{}
	for _, e := range f.entries {
		name := strings.TrimSuffix(e.Path[len(f.Path):], "/")
		if !isASCII(name) {
			return true
		}
		lower[strings.ToLower(name)] = true
	}
	return len(lower) < len(f.entries)
}

// gather adds f and the folders below it to s, in path order.
func (s *Selection) gather(f *folder) error {
	if f.err != nil {
		return f.err
	}
	s.dirs = append(s.dirs, f.OnDisk)
	s.Links += f.links
	s.Others += f.others
	s.Skipped = append(s.Skipped, f.skipped...)
	for _, e := range f.entries {
		if e.folder == nil {
			s.Files = append(s.Files, e.File)
			s.Bytes += e.Size
		} else if err := s.gather(e.folder); err != nil {
			return err
		}
	}
	return nil
}

func (s *Selection) check(lookalike bool) error {
	if above(s.Bytes, s.limits.BaseFilesBytes) {
		largest := slices.MaxFunc(s.Files, func(a, b *File) int { return cmp.Compare(a.Size, b.Size) })
		return failure.New(wire.CodeTooLarge, "the %d selected files are %s together, and a file set may be at most %s",
			len(s.Files), mib(s.Bytes), mib(s.limits.BaseFilesBytes)).
			WithHint("%s; the largest is %s, %s", s.remedy, s.name(largest.OnDisk), mib(largest.Size))
	}
	if !lookalike {
		return nil
	}
	// Directories whose names are equal in NFC were gathered separately.
	slices.SortFunc(s.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	paths := make([]string, len(s.Files))
	for i, f := range s.Files {
		if i > 0 && f.Path == s.Files[i-1].Path {
			why := errors.New("another file's name differs from it only in Unicode normalization")
			return s.invalidPath(f.OnDisk, why)
		}
		paths[i] = f.Path
	}
	err := tree.CheckTogether(paths)
	if broken, ok := errors.AsType[*tree.PathError](err); ok {
		return s.invalidPath(broken.Path, err)
	}
	return err
}

func isASCII(name string) bool {
	return strings.IndexFunc(name, func(c rune) bool { return c >= utf8.RuneSelf }) < 0
}
