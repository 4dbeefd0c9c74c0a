// Command release makes what .goreleaser.yaml adds to the program: its man pages and
// completion scripts, and the list of the modules in it. The same source makes the same bytes.
//
//	go run ./cmd/tool/release documents 1.2.3 2026-01-02T10:00:00Z DIRECTORY
//	go run ./cmd/tool/release materials 1.2.3 2026-01-02T10:00:00Z PROGRAM FILE
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"example.com/projecthub/cmd/tool/internal/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return errors.New("usage: release documents|materials VERSION TIME PATH [FILE]")
	}
	version, paths := args[1], args[3:]
	when, err := time.Parse(time.RFC3339, args[2])
	switch {
	case err != nil:
		return err
	case args[0] == "documents" && len(paths) == 1:
		return documents(version, when, paths[0])
	case args[0] == "materials" && len(paths) == 2:
		materials, err := billOfMaterials(paths[0], version, when.UTC())
		if err != nil {
			return err
		}
		return os.WriteFile(paths[1], materials, 0o644)
	}
	return fmt.Errorf("%q is neither documents with a directory nor materials with two files", args[0])
}

// documents writes a man page of each command, and a completion script for each shell.
func documents(version string, when time.Time, dir string) error {
	man, completions := filepath.Join(dir, "man", "man1"), filepath.Join(dir, "completions")
	root := cli.Tree()
	err := errors.Join(
		os.RemoveAll(dir), os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755),
		root.GenBashCompletionFileV2(filepath.Join(completions, "tool.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_tool")),
		root.GenFishCompletionFile(filepath.Join(completions, "tool.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "tool.ps1")),
	)
	escape(root)
	header := &doc.GenManHeader{Section: "1", Source: "tool " + version, Manual: "tool", Date: &when}
	return errors.Join(err, doc.GenManTree(root, header, man))
}

// escape keeps <name> and [flag] from being read as markup: a page is made by way
// of Markdown.
func escape(c *cobra.Command) {
	plain := strings.NewReplacer("<", `\<`, "[", `\[`)
	c.Use, c.Short, c.Long = plain.Replace(c.Use), plain.Replace(c.Short), plain.Replace(c.Long)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = plain.Replace(f.Usage) })
	for _, sub := range c.Commands() {
		escape(sub)
	}
}
