//go:build portable || !linux

package basefiles

import "os"

// listNames is list for where a directory's entries tell no kinds.
func listNames(f *os.File, visit func(name []byte, kind kind)) error {
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		visit([]byte(name), unknown)
	}
	return err
}
