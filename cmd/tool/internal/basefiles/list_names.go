//go:build portable || !linux

package basefiles

import "os"

// listNames implements list where directory entries do not include the kind.
func listNames(f *os.File, visit func(name []byte, kind kind)) error {
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		visit([]byte(name), unknown)
	}
	return err
}
