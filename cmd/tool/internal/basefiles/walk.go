package basefiles

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"example.com/projecthub/cmd/tool/internal/basefiles/ignore"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// filter decides which files are selected.
type filter struct {
	own       *ignore.Rules   // decide before the built-in rules
	generated map[string]bool // never selected
	list      bool            // record skipped paths
	above     string          // the root in the workspace, with a slash at its end; "" for the workspace
}

// excludes returns why path is excluded, "" if it is not. Then secret reports whether a
// built-in rule would exclude it because of the secrets that such files hold.
func (c *filter) excludes(path string, dir bool) (why string, secret bool) {
	switch name := tree.Reserved(path[strings.LastIndexByte(path, '/')+1:]); {
	case name == ".tool":
		return "the stack, which is published on its own", false
	case name != "":
		return name + " (built-in)", false
	case c.generated[path]:
		return "generated (manifest.json)", false
	}
	own := c.own.Match(path, dir)
	if own != nil && !own.Keeps {
		return reason(own), false
	}
	secrets, others := builtIn()
	rule := secrets.Match(strings.ToLower(c.above+path), dir)
	if own != nil {
		return "", rule != nil && !rule.Keeps
	}
	if rule == nil {
		rule = others.Match(path, dir)
	}
	if rule == nil || rule.Keeps {
		return "", false
	}
	return reason(rule), false
}

// walker reads directories on all cores, each from its open parent.
type walker struct {
	filter
	selection *Selection // names files in errors
	ctx       context.Context
	work      chan *folder   // for idle readers
	readers   chan struct{}  // taken by each reader
	open      sync.WaitGroup // folders that are not read yet

	found     atomic.Int64 // files selected so far
	lookalike atomic.Bool  // two names in a directory may be the same on another file system
}

// folder collects what one directory adds to a selection.
type folder struct {
	location      // ends in a slash; empty for the root
	dir           *dir
	files         []*File
	below         []*folder
	skipped       []Skip
	links, others int
	secret        bool // all files in it hold secrets
	err           error
}

// location is a path in the tree, and its spelling on disk.
type location struct{ path, onDisk string }

// add appends a name to p, which is empty or ends in a slash, or a slash to a name.
func (p location) add(name []byte) location {
	onDisk := p.onDisk + string(name)
	if p.path == p.onDisk && norm.NFC.IsNormal(name) {
		return location{onDisk, onDisk} // share one string
	}
	return location{p.path + string(norm.NFC.Bytes(name)), onDisk}
}

// walk adds the files that c selects to s.
func (s *Selection) walk(ctx context.Context, c filter) error {
	s.lookUp()
	if s.root != "." {
		c.above = s.root + "/"
	}
	// More readers than cores, because some wait for the disk.
	readers := make(chan struct{}, runtime.GOMAXPROCS(0)+6)
	w := &walker{filter: c, selection: s, ctx: ctx, work: make(chan *folder), readers: readers}
	defer close(w.work)
	d, err := s.open()
	if err != nil {
		return s.unreadable("", err)
	}
	root := &folder{dir: d, secret: HoldsSecrets(c.above + "any file")}
	w.start(root)
	w.open.Wait()
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

// start hands f to an idle reader or a new one. If there are enough readers, it reads
// the directory itself.
func (w *walker) start(f *folder) {
	w.open.Add(1)
	select {
	case w.work <- f:
		return
	default:
	}
	select {
	case w.readers <- struct{}{}:
		go func() {
			w.read(f)
			for f := range w.work {
				w.read(f)
			}
		}()
	default:
		w.read(f)
	}
}

// read reads the directory of f and closes it.
func (w *walker) read(f *folder) {
	defer w.open.Done()
	defer f.dir.close()
	if w.ctx.Err() != nil || above(w.found.Load(), int64(w.selection.limits.BaseFiles)) {
		return
	}
	err := f.dir.list(func(name []byte, kind kind) {
		f.fail(w.visit(f, f.add(name), kind))
	})
	if err != nil {
		f.fail(w.selection.unreadable(f.onDisk, err))
		return
	}
	if f.mayLookAlike() {
		w.lookalike.Store(true)
	}
	slices.SortFunc(f.files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(f.below, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	for _, below := range f.below {
		f.fail(w.enter(f, below))
	}
}

// fail keeps the first error. A file that was deleted since it was listed is none.
func (f *folder) fail(err error) {
	if f.err == nil && !errors.Is(err, fs.ErrNotExist) {
		f.err = err
	}
}

func (w *walker) visit(f *folder, p location, kind kind) error {
	is := info{kind: kind}
	if kind == unknown {
		var err error
		if is, err = w.stat(f, p); err != nil {
			return err
		}
	}
	why, secret := w.excludes(p.path, is.kind == directory)
	if why != "" {
		w.skip(f, p, is.kind, why)
		return nil
	}
	secret = secret || f.secret
	switch is.kind {
	case directory:
		f.below = append(f.below, &folder{location: p.add([]byte{'/'}), secret: secret})
		return nil
	case regular:
		return w.choose(f, p, is, secret)
	case link:
		f.links++
	default:
		f.others++
	}
	w.skip(f, p, is.kind, is.kind.String())
	return nil
}

func (w *walker) stat(f *folder, p location) (info, error) {
	is, err := f.dir.stat(p.onDisk[len(f.onDisk):])
	if err != nil {
		return info{}, w.selection.unreadable(p.onDisk, err)
	}
	return is, nil
}

func (w *walker) skip(f *folder, p location, kind kind, why string) {
	if !w.list {
		return
	}
	path := strings.ToValidUTF8(p.path, string(utf8.RuneError))
	if kind == directory {
		path += "/"
	}
	f.skipped = append(f.skipped, Skip{path, why})
}

func (w *walker) enter(f, below *folder) (err error) {
	if len(below.path) > tree.MaxPath { // limits how many directories are open
		return w.selection.invalidPath(below.onDisk, tree.CheckPath(below.path))
	}
	if below.dir, err = f.dir.openDir(strings.TrimSuffix(below.onDisk[len(f.onDisk):], "/")); err != nil {
		return w.selection.unreadable(below.onDisk, err)
	}
	w.start(below)
	return nil
}

func (w *walker) choose(f *folder, p location, is info, secret bool) error {
	if is.mode == "" { // the listing knew only the kind
		var err error
		if is, err = w.stat(f, p); err != nil {
			return err
		}
		if is.kind != regular {
			return w.selection.unreadable(p.onDisk, errReplaced)
		}
	}
	if err := tree.CheckPath(p.path); err != nil {
		return w.selection.invalidPath(p.onDisk, err)
	}
	if above(is.Size, w.selection.limits.BaseFileBytes) {
		return w.selection.tooLarge(p.onDisk, is.Size)
	}
	f.files = append(f.files, &File{p.path, p.onDisk, is.mode, secret, is.Stamp})
	w.found.Add(1)
	return nil
}

// mayLookAlike is a fast check whether two names in f may be the same on another file
// system. It never misses a pair.
func (f *folder) mayLookAlike() bool {
	lower := map[string]bool{}
	for name := range f.names {
		if !isASCII(name) {
			return true
		}
		lower[strings.ToLower(name)] = true
	}
	return len(lower) < len(f.files)+len(f.below)
}

// names yields the last element of each selected path in f.
func (f *folder) names(yield func(name string) bool) {
	for _, file := range f.files {
		if !yield(file.Path[len(f.path):]) {
			return
		}
	}
	for _, below := range f.below {
		if !yield(below.path[len(f.path) : len(below.path)-1]) {
			return
		}
	}
}

// gather adds f and the folders below it to s, in path order.
func (s *Selection) gather(f *folder) error {
	if f.err != nil {
		return f.err
	}
	s.dirs = append(s.dirs, f.onDisk)
	s.Links += f.links
	s.Others += f.others
	s.Skipped = append(s.Skipped, f.skipped...)
	files := f.files
	for _, below := range f.below {
		n := 0
		for n < len(files) && files[n].Path < below.path {
			n++
		}
		s.Files = append(s.Files, files[:n]...)
		files = files[n:]
		if err := s.gather(below); err != nil {
			return err
		}
	}
	s.Files = append(s.Files, files...)
	return nil
}

// check validates all files together.
func (s *Selection) check(lookalike bool) error {
	for _, f := range s.Files {
		s.Bytes += f.Size
	}
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
