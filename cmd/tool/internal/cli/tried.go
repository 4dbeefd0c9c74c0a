package cli

import (
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
)

// tried maps names of other programs' commands, which people try here, to what does the same.
var tried = map[string]cmdline.Line{
	"whoami":   cmdline.Tool("status"),
	"open":     cmdline.Tool("project", "view").Flag("--web"),
	"edit":     cmdline.Tool("project", "view").Flag("--web"),
	"rollback": cmdline.Tool("log"), // restore needs one of the revisions that it lists
	"env":      cmdline.Tool("status"),
	"rename":   cmdline.Tool("project", "rename"),
}

// hints say more about some of them.
var hints = map[string]string{
	"edit":     "edit the settings in .tool/<project>/client.json, or on the project's page",
	"rollback": "restore a revision of the log with tool restore, or undo your last push with tool push --undo",
	"env":      "use an environment with --env NAME: tool help environments",
}

// noCommand rejects an argument where a command of tool was expected, and says what to type instead.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if line, ok := tried[args[0]]; ok {
			e := cmdline.Usagef("tool has no command %q", args[0]).Try(line.With(args[1:]...))
			e.Hint = hints[args[0]]
			return e
		}
	}
	return cmdline.NoCommand(c, args)
}
