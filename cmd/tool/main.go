// Command tool creates, pushes, pulls and publishes projects on a hub.
package main

import (
	"os"

	"example.com/projecthub/cmd/tool/internal/cli"
	"example.com/projecthub/cmd/tool/internal/term"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.LookupEnv, term.Standard())) }
