// Package project lists, shows and deletes projects of the hub.
package project

import (
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
)

// Command returns the command project. Its first subcommand, create, is another package's.
func Command(a *app.App, create *cobra.Command) *cobra.Command {
	return cmdline.Group("project", "Create, list, view and delete hub projects",
		create, listCommand(a), viewCommand(a), removeCommand(a))
}
