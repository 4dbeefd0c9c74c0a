// Package guide holds the guides that tool help prints, and reference.md, the help of every command in
// one file. It knows no command.
package guide

import (
	"embed"
	"strings"
)

// Guide is a text that belongs to no command.
type Guide struct{ Name, Short string }

// All are the guides, in the order in which help lists them.
var All = []Guide{
	{"start", "From an empty directory to a project with a preview"},
	{"team", "Edit a project together: merge, history, undo"},
	{"pipelines", "Push from a pipeline, and preview pull requests"},
	{"environments", "Several hubs or projects for the same settings"},
	{"base-files", "Which files are pushed, and how they are pulled"},
	{"previews", "See the app before and after a push"},
	{"stacks", "Write and publish a stack"},
	{"secrets", "Tokens, and what is never sent unasked"},
	{"json", "Read results in a script"},
	{"environment", "Environment variables"},
	{"exit-codes", "Exit codes and stages"},
	{"results", "JSON results"},
}

//go:embed start.md team.md pipelines.md environments.md base-files.md previews.md stacks.md secrets.md json.md *.txt
var files embed.FS

// Text returns the guide's text.
func (g Guide) Text() string {
	for _, extension := range []string{".md", ".txt"} {
		if text, err := files.ReadFile(g.Name + extension); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	panic("there is no guide " + g.Name)
}
