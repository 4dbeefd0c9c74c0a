package main

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// mount makes a disk appear in a directory.
func mount(d *disk, dir string) (*fuse.Server, error) {
	forever := time.Hour // only this program changes anything
	return fs.Mount(dir, &node{disk: d, file: d.root}, &fs.Options{
		EntryTimeout: &forever, AttrTimeout: &forever,
		MountOptions: fuse.MountOptions{Name: "powercut", FsName: "powercut", DirectMount: true, AllowOther: true,
			DisableXAttrs: true, MaxWrite: 1 << 20},
		RootStableAttr: &fs.StableAttr{Ino: d.root.number, Mode: syscall.S_IFDIR},
	})
}

// node is a file as the kernel knows it.
type node struct {
	fs.Inode
	disk *disk
	file *file
}

func (n *node) child(ctx context.Context, f *file, out *fuse.EntryOut) *fs.Inode {
	f.attributes(&out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, file: f}, fs.StableAttr{Ino: f.number, Mode: out.Mode & syscall.S_IFMT})
}

func (f *file) attributes(a *fuse.Attr) {
	a.Ino, a.Size, a.Mode, a.Nlink = f.number, uint64(len(f.data)), f.mode|syscall.S_IFREG, 1
	if f.directory() {
		a.Mode = f.mode | syscall.S_IFDIR
	}
	a.Uid, a.Gid, a.Blksize, a.Blocks = f.uid, f.gid, block, (a.Size+511)/512
	a.Mtime = f.changed // a file that is replaced is told from the one before by its number
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	f := n.file.names[name]
	if f == nil {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, f, out), 0
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	var all []fuse.DirEntry
	for name, f := range n.file.names {
		var a fuse.Attr
		f.attributes(&a)
		all = append(all, fuse.DirEntry{Name: name, Ino: f.number, Mode: a.Mode})
	}
	return fs.NewListDirStream(all), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.file.attributes(&out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if n.disk.readOnly {
		return syscall.EROFS
	}
	if mode, ok := in.GetMode(); ok {
		n.file.mode = mode &^ syscall.S_IFMT
	}
	if uid, ok := in.GetUID(); ok {
		n.file.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.file.gid = gid
	}
	if size, ok := in.GetSize(); ok {
		n.file.change(change{offset: int64(size)})
	}
	if at, ok := in.GetMTime(); ok {
		n.file.changed = uint64(at.Unix())
	}
	n.file.attributes(&out.Attr)
	return 0
}

// add creates an entry.
func (n *node) add(ctx context.Context, name string, mode uint32, directory bool, out *fuse.EntryOut) (*fs.Inode,
	syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	switch {
	case n.disk.readOnly:
		return nil, syscall.EROFS
	case n.file.names[name] != nil:
		return nil, syscall.EEXIST
	}
	f := n.disk.newFile(mode&0o7777, directory)
	f.changed = uint64(time.Now().Unix())
	if caller, ok := fuse.FromContext(ctx); ok {
		f.uid, f.gid = caller.Uid, caller.Gid
	}
	n.disk.rename(&rename{to: n.file, toName: name, file: f})
	return n.child(ctx, f, out), 0
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle,
	uint32, syscall.Errno) {
	inode, errno := n.add(ctx, name, mode, false, out)
	return inode, nil, fuse.FOPEN_KEEP_CACHE, errno
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, mode, true, out)
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	f := n.file.names[name]
	switch {
	case n.disk.readOnly:
		return syscall.EROFS
	case f == nil:
		return syscall.ENOENT
	case len(f.names) > 0:
		return syscall.ENOTEMPTY
	}
	n.disk.rename(&rename{from: n.file, fromName: name, file: f})
	return 0
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno { return n.Unlink(ctx, name) }

func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string,
	flags uint32) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	to := parent.EmbeddedInode().Operations().(*node).file
	f, over := n.file.names[name], to.names[newName]
	switch {
	case n.disk.readOnly:
		return syscall.EROFS
	case flags&^1 != 0: // RENAME_NOREPLACE is all there is
		return syscall.EINVAL
	case f == nil:
		return syscall.ENOENT
	case over != nil && flags&1 != 0:
		return syscall.EEXIST
	case over == f:
		return 0
	case over != nil && len(over.names) > 0:
		return syscall.ENOTEMPTY
	}
	n.disk.rename(&rename{from: n.file, fromName: name, to: to, toName: newName, file: f})
	return 0
}

func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if n.disk.readOnly && flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		return nil, 0, syscall.EROFS
	}
	if flags&syscall.O_TRUNC != 0 {
		n.file.change(change{})
	}
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if offset >= int64(len(n.file.data)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(dest[:copy(dest, n.file.data[offset:])]), 0
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if n.disk.readOnly {
		return 0, syscall.EROFS
	}
	n.file.change(change{offset, slices.Clone(data)})
	n.file.changed = uint64(time.Now().Unix())
	return uint32(len(data)), 0
}

// Fsync syncs a file or a directory.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if !n.disk.sync(n.file) {
		return syscall.EIO
	}
	return 0
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 16 << 30 / block
	out.Bsize, out.Frsize, out.NameLen, out.Blocks, out.Bfree, out.Bavail = block, block, 255, blocks, blocks, blocks
	return 0
}
