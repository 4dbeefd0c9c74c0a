//go:build !linux

package basefiles

import "os"

func exchange(in *os.Root, temporary, name string) error { return exchangeByName(in, temporary, name) }
