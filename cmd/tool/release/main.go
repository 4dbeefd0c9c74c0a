// Command release makes what .goreleaser.yaml adds to the programs: man pages, completion
// scripts and the list of the modules in each; and npm packages of what goreleaser has built.
// The same source makes the same bytes.
//
//	go run ./cmd/tool/release documents 1.2.3 2026-01-02T10:00:00Z DIRECTORY
//	go run ./cmd/tool/release materials 1.2.3 2026-01-02T10:00:00Z PROGRAM FILE
//	go run ./cmd/tool/release npm 1.2.3 @acme/tool dist DIRECTORY
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch {
	case command == "documents" && len(args) == 3:
		return documents(args[0], args[1], args[2])
	case command == "materials" && len(args) == 4:
		materials, err := billOfMaterials(args[2], args[0], args[1])
		if err != nil {
			return err
		}
		return os.WriteFile(args[3], materials, 0o644)
	case command == "npm" && len(args) == 4:
		return packages(args[0], args[1], args[2], args[3])
	}
	return errors.New("usage: release documents VERSION TIME DIRECTORY | materials VERSION TIME PROGRAM FILE | " +
		"npm VERSION NAME DIST DIRECTORY")
}

// documents writes into dir/tool a man page of each command and a completion script for each
// shell, and into dir/hub the completion scripts of hub, which prints them itself.
func documents(version, date, dir string) error {
	when, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return err
	}
	man, completions := filepath.Join(dir, "tool", "man", "man1"), filepath.Join(dir, "tool", "completions")
	ofHub := filepath.Join(dir, "hub", "completions")
	root := cli.Tree()
	err = errors.Join(
		os.RemoveAll(dir), os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755), os.MkdirAll(ofHub, 0o755),
		root.GenBashCompletionFileV2(filepath.Join(completions, "tool.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_tool")),
		root.GenFishCompletionFile(filepath.Join(completions, "tool.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "tool.ps1")),
	)
	scripts := map[string]string{"bash": "hub.bash", "zsh": "_hub", "fish": "hub.fish", "powershell": "hub.ps1"}
	for shell, file := range scripts {
		script, failed := exec.Command("go", "run", "example.com/projecthub/cmd/hub", "completion", shell).Output()
		err = errors.Join(err, failed, os.WriteFile(filepath.Join(ofHub, file), script, 0o644))
	}
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
