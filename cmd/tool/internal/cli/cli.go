// Package cli is the command line of tool: the root command, help, completion and the
// home view. It assembles the commands, and is the only package that sees several.
package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/term"
)

// Main runs one command line and returns its exit code.
func Main(args []string, lookupEnv func(string) (string, bool), streams term.Streams) int {
	if slices.Equal(args, []string{"--version"}) { // the one question that needs no command tree
		fmt.Fprintln(streams.Out, "tool", cmdline.Version(app.Version))
		return 0
	}
	a := app.New(lookupEnv, streams)
	return a.Execute(root(a), args)
}

// Tree returns the command tree, for man pages and completion scripts.
func Tree() *cobra.Command { return root(app.New(os.LookupEnv, term.Streams{})) }
