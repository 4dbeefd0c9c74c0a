// Package project copies, lists, shows, changes, deletes and restores projects of the hub.
package project

import (
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
)

// Command returns the command project. Its first subcommand, create, is another package's.
func Command(a *app.App, create *cobra.Command) *cobra.Command {
	return cmdline.Group("project", "Create, copy, list, view, edit, delete and restore hub projects",
		create, copyCommand(a), listCommand(a), viewCommand(a), editCommand(a), removeCommand(a), restoreCommand(a))
}
