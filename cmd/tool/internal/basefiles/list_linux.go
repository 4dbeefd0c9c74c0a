//go:build !portable

package basefiles

import (
	"bytes"
	"encoding/binary"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

var listBuffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// list reads the entries with getdents, whose entries include the kind. Selecting the
// files of an app takes 10 to 20 % longer with os.File.ReadDir.
func (d *dir) list(visit func(name []byte, kind kind)) error {
	buf := listBuffers.Get().(*[16 << 10]byte)
	defer listBuffers.Put(buf)
	for {
		var n int
		err := retry(func() (err error) {
			n, err = unix.Getdents(d.fd, buf[:])
			return err
		})
		if err != nil || n == 0 {
			return err
		}
		for b := buf[:n]; len(b) > 0; {
			var entry unix.Dirent
			size := binary.NativeEndian.Uint16(b[unsafe.Offsetof(entry.Reclen):])
			name, _, _ := bytes.Cut(b[unsafe.Offsetof(entry.Name):size], []byte{0})
			kind := kindOfFormat(uint32(b[unsafe.Offsetof(entry.Type)]) << 12) // 0 where the file system does not say
			b = b[size:]
			if string(name) != "." && string(name) != ".." {
				visit(name, kind)
			}
		}
	}
}
