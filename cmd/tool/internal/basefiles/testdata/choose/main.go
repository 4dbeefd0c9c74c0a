// Command choose prints what is selected in the directory it runs in, so that the
// benchmarks compare a whole process with git's. With an argument, a cache
// directory, it hashes the files too and prints nothing.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"example.com/projecthub/cmd/tool/internal/basefiles"
)

func main() {
	debug.SetGCPercent(800) // as tool does
	o := basefiles.Options{Workspace: ".", Root: "."}
	if len(os.Args) > 1 {
		o.CacheDir = os.Args[1]
	}
	s, err := basefiles.Choose(context.Background(), o)
	if err == nil && o.CacheDir != "" {
		_, err = s.Hash(context.Background(), nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if o.CacheDir != "" {
		return
	}
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	defer w.Flush()
	for _, f := range s.Files {
		w.WriteString(f.Path)
		w.WriteByte('\n')
	}
}
