// Command tool creates, pushes, pulls and publishes projects on a hub.
package main

import (
	"os"
	"runtime/debug"

	"example.com/projecthub/cmd/tool/internal/cli"
	"example.com/projecthub/cmd/tool/internal/term"
)

// A command ends before its garbage is worth collecting, but for large transfers.
const (
	gcPercent   = 400
	memoryLimit = 96 << 20 // bytes
)

func main() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	os.Exit(cli.Main(os.Args[1:], os.LookupEnv, term.Standard()))
}
