package basefiles

import (
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
	"example.com/projecthub/hubclient/tree"
)

// choice is how files are chosen.
type choice struct {
	rules []*ignore.Rules                // the first list with a matching rule decides
	never func(path string) (why string) // what no rule can bring in
	list  bool                           // collect what is skipped
}

// rule returns the rule that leaves path out, or nil.
func (c *choice) rule(path string, dir bool) *ignore.Rule {
	for _, rules := range c.rules {
		if rule := rules.Match(path, dir); rule != nil {
			if rule.Keeps {
				return nil
			}
			return rule
		}
	}
	return nil
}

// walker reads directories on all cores, each from its open parent.
type walker struct {
	choice
	set     *Selection // for its failures
	ctx     context.Context
	work    chan task      // to readers that have nothing to do
	readers chan struct{}  // taken by each reader
	open    sync.WaitGroup // tasks that are not done

	found     atomic.Int64 // files chosen so far
	lookalike atomic.Bool  // two names in one directory may be one elsewhere
}

// folder is what a directory adds to a selection.
type folder struct {
	place         // ends in a slash; empty for the root
	files         []*File
	below         []*folder
	skipped       []Skip
	links, others int
	err           error
}

// place is a path in the set, and the same on disk.
type place struct{ path, onDisk string }

// add makes p, which ends in a slash or is empty, longer.
func (p place) add(name []byte) place {
	onDisk := p.onDisk + string(name)
	if p.path == p.onDisk && norm.NFC.IsNormal(name) {
		return place{onDisk, onDisk} // one string serves as both
	}
	return place{p.path + string(norm.NFC.Bytes(name)), onDisk}
}

func (p place) slash() place {
	if p.path == p.onDisk {
		return place{p.path + "/", p.path + "/"}
	}
	return place{p.path + "/", p.onDisk + "/"}
}

// walk fills s with what c chooses.
func (s *Selection) walk(ctx context.Context, c choice) error {
	s.lookUp()
	// More readers than cores, because some wait for the disk.
	w := &walker{choice: c, set: s, ctx: ctx, work: make(chan task), readers: make(chan struct{}, runtime.GOMAXPROCS(0)+6)}
	defer close(w.work)
	d, err := s.open()
	if err != nil {
		return s.unreadable("", err)
	}
	root := &folder{}
	w.start(task{d, root})
	w.open.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.found.Load() > MaxFiles {
		return s.tooMany(root)
	}
	s.Files = make([]*File, 0, w.found.Load())
	if err := s.gather(root); err != nil {
		return err
	}
	slices.SortFunc(s.Skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	return s.check(w.lookalike.Load())
}

// task is a directory to read.
type task struct {
	dir  *dir
	into *folder
}

// start gives t to a reader that has nothing to do, or to a new one while there
// may be more; where there is none, it reads itself.
func (w *walker) start(t task) {
	w.open.Add(1)
	select {
	case w.work <- t:
		return
	default:
	}
	select {
	case w.readers <- struct{}{}:
		go func() {
			w.do(t)
			for t := range w.work {
				w.do(t)
			}
		}()
	default:
		w.do(t)
	}
}

func (w *walker) do(t task) {
	w.read(t.dir, t.into)
	w.open.Done()
}

// read closes d.
func (w *walker) read(d *dir, f *folder) {
	defer d.close()
	if w.ctx.Err() != nil || w.found.Load() > MaxFiles {
		return
	}
	err := d.list(func(name []byte, kind kind) {
		f.fail(w.visit(d, f, f.add(name), kind))
	})
	if err != nil {
		f.fail(w.set.unreadable(f.onDisk, err))
		return
	}
	if f.mayLookAlike() {
		w.lookalike.Store(true)
	}
	slices.SortFunc(f.files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(f.below, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	for _, below := range f.below {
		f.fail(w.enter(d, f, below))
	}
}

// fail keeps the first failure. That something went away since it was listed is none.
func (f *folder) fail(err error) {
	if f.err == nil && !errors.Is(err, fs.ErrNotExist) {
		f.err = err
	}
}

func (w *walker) visit(d *dir, f *folder, p place, kind kind) error {
	is := info{kind: kind}
	if kind == unknown {
		var err error
		if is, err = w.stat(d, f, p); err != nil {
			return err
		}
	}
	if why := w.never(p.path); why != "" {
		w.skip(f, p, is.kind, why)
		return nil
	}
	if rule := w.rule(p.path, is.kind == directory); rule != nil {
		if w.list {
			w.skip(f, p, is.kind, reason(rule))
		}
		return nil
	}
	switch is.kind {
	case directory:
		f.below = append(f.below, &folder{place: p.slash()})
		return nil
	case regular:
		return w.choose(d, f, p, is)
	case link:
		f.links++
	default:
		f.others++
	}
	w.skip(f, p, is.kind, is.kind.String())
	return nil
}

func (w *walker) stat(d *dir, f *folder, p place) (info, error) {
	is, err := d.stat(p.onDisk[len(f.onDisk):])
	if err != nil {
		return info{}, w.set.unreadable(p.onDisk, err)
	}
	return is, nil
}

func (w *walker) skip(f *folder, p place, kind kind, why string) {
	if !w.list {
		return
	}
	path := strings.ToValidUTF8(p.path, string(utf8.RuneError))
	if kind == directory {
		path += "/"
	}
	f.skipped = append(f.skipped, Skip{path, why})
}

func (w *walker) enter(d *dir, f, below *folder) error {
	if len(below.path) > tree.MaxPath { // so that what is open at a time is bounded
		return w.set.unsendable(below.onDisk, tree.CheckPath(below.path))
	}
	name := strings.TrimSuffix(below.onDisk[len(f.onDisk):], "/")
	opened, err := d.openDir(name)
	if err != nil {
		return w.set.unreadable(below.onDisk, err)
	}
	w.start(task{opened, below})
	return nil
}

func (w *walker) choose(d *dir, f *folder, p place, is info) error {
	if is.mode == "" { // the listing told its kind alone
		var err error
		if is, err = w.stat(d, f, p); err != nil {
			return err
		}
		if is.kind != regular {
			return w.set.unreadable(p.onDisk, errReplaced)
		}
	}
	if err := tree.CheckPath(p.path); err != nil {
		return w.set.unsendable(p.onDisk, err)
	}
	if is.Size > MaxFileSize {
		return w.set.tooLarge(p.onDisk, is.Size)
	}
	f.files = append(f.files, &File{p.path, p.onDisk, is.mode, is.Stamp})
	w.found.Add(1)
	return nil
}

// mayLookAlike reports whether two names in f may be one on another file system.
// It costs little, and is right whenever it says no.
func (f *folder) mayLookAlike() bool {
	mixed := false
	for name := range f.names {
		for i := range len(name) {
			if name[i] >= utf8.RuneSelf {
				return true
			}
			mixed = mixed || name[i] >= 'A' && name[i] <= 'Z'
		}
	}
	if !mixed {
		return false
	}
	lower := map[string]bool{}
	for name := range f.names {
		lower[strings.ToLower(name)] = true
	}
	return len(lower) < len(f.files)+len(f.below)
}

// names yields what is chosen in f, by its last element.
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

// gather adds f and what is below it in the order of the paths.
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

// check holds what can only be known of all files together.
func (s *Selection) check(lookalike bool) error {
	for _, f := range s.Files {
		s.Bytes += f.Size
	}
	if s.Bytes > MaxBytes {
		return s.tooMuch()
	}
	if !lookalike {
		return nil
	}
	// Directories whose names become one in NFC may have been gathered apart.
	slices.SortFunc(s.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	paths := make([]string, len(s.Files))
	for i, f := range s.Files {
		if i > 0 && f.Path == s.Files[i-1].Path {
			return s.unsendable(f.OnDisk, errors.New("another file's name differs from it in nothing but Unicode's form"))
		}
		paths[i] = f.Path
	}
	err := tree.CheckTogether(paths)
	if broken, ok := errors.AsType[*tree.PathError](err); ok {
		return s.unsendable(broken.Path, err)
	}
	return err
}
