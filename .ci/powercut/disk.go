package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// disk is a tree of files, each with what programs see and with what would be left after a
// power cut. What a program wrote to a file is left once the file was synced. An entry that
// it created, renamed or removed in a directory is left, or gone, once the directory was.
// Modes and owners are always left.
type disk struct {
	mu      sync.Mutex
	root    *file
	files   uint64    // how many there were
	entries []*rename // changes of directories that were not synced, in their order

	failing  bool // syncs fail
	readOnly bool
}

// file is a file or a directory.
type file struct {
	number         uint64
	mode, uid, gid uint32
	changed        uint64 // when, in seconds since 1970

	data, synced []byte
	changes      []change // what was written and not synced, in its order

	names, syncedNames map[string]*file // of a directory; nil for a file
}

// change writes data at an offset; without data it changes the size to the offset.
type change struct {
	offset int64
	data   []byte
}

// rename is any change of entries: without from it creates, without to it removes.
type rename struct {
	from, to         *file // directories
	fromName, toName string
	file             *file
}

func newDisk() *disk {
	d := &disk{}
	d.root = d.newFile(0o755, true)
	return d
}

func (d *disk) newFile(mode uint32, directory bool) *file {
	d.files++
	f := &file{number: d.files, mode: mode}
	if directory {
		f.names, f.syncedNames = map[string]*file{}, map[string]*file{}
	}
	return f
}

func (f *file) directory() bool { return f.names != nil }

// apply returns data after the change.
func (c change) apply(data []byte) []byte {
	end := c.offset + int64(len(c.data))
	if n := int64(len(data)); n < end {
		data = append(data, make([]byte, end-n)...)
	} else if c.data == nil {
		data = data[:end]
	}
	copy(data[c.offset:], c.data)
	return data
}

func (f *file) change(c change) {
	f.data = c.apply(f.data)
	f.changes = append(f.changes, c)
}

func (d *disk) rename(r *rename) {
	r.apply(func(f *file) map[string]*file { return f.names })
	d.entries = append(d.entries, r)
}

func (r *rename) apply(names func(*file) map[string]*file) {
	if r.to != nil {
		names(r.to)[r.toName] = r.file
	}
	if r.from != nil && names(r.from)[r.fromName] == r.file {
		delete(names(r.from), r.fromName)
	}
}

func syncedNames(f *file) map[string]*file { return f.syncedNames }

// sync makes what was changed in a file or directory last. When syncs fail, it is as on
// Linux: what was written to the file stays visible, and no later sync writes it again.
func (d *disk) sync(f *file) bool {
	if d.failing {
		f.changes = nil
		return false
	}
	for _, c := range f.changes {
		f.synced = c.apply(f.synced)
	}
	f.changes = nil
	d.entries = slices.DeleteFunc(d.entries, func(r *rename) bool {
		if r.from != f && r.to != f {
			return false
		}
		r.apply(syncedNames)
		return true
	})
	return true
}

// block is what a disk writes at once, in bytes.
const block = 4096

// cut makes what is seen what is left. Of what was not synced, each block of a file and each
// change of a directory lasts with a probability, as a disk may have written it meanwhile.
func (d *disk) cut(random *rand.Rand, probability float64) (lost, kept int) {
	lasts := func() bool {
		if random.Float64() < probability {
			kept++
			return true
		}
		lost++
		return false
	}
	seen := map[*file]bool{}
	var settle func(f *file)
	settle = func(f *file) {
		if seen[f] {
			return
		}
		seen[f] = true
		for _, c := range f.changes {
			for _, part := range c.blocks() {
				if lasts() {
					f.synced = part.apply(f.synced)
				}
			}
		}
		f.changes, f.data = nil, slices.Clone(f.synced)
		for _, child := range f.syncedNames {
			settle(child)
		}
		f.names = maps.Clone(f.syncedNames)
	}
	for _, r := range d.entries {
		if lasts() {
			r.apply(syncedNames)
		}
	}
	d.entries, d.failing, d.readOnly = nil, false, false
	settle(d.root)
	return lost, kept
}

// blocks divides a change into those of blocks.
func (c change) blocks() []change {
	if c.data == nil {
		return []change{c}
	}
	var all []change
	for len(c.data) > 0 {
		n := min(int64(len(c.data)), block-c.offset%block)
		all = append(all, change{c.offset, c.data[:n]})
		c = change{c.offset + n, c.data[n:]}
	}
	return all
}
