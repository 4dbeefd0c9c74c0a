// Package guide holds the guides that hub help prints.
package guide

import (
	"embed"
	"strings"
)

// Guide is a text for the hub's administrator, about one task.
type Guide struct{ Name, Short string }

// All are the guides, in the order in which README.md lists them.
var All = []Guide{
	{"install", "Run a hub under systemd or in containers"},
	{"certificates", "Serve TLS with Let's Encrypt or your own certificate"},
	{"proxy", "Run hubs behind nginx or Caddy"},
	{"postgres", "Use PostgreSQL: rights, failover, poolers"},
	{"access", "Decide who can sign in and do what"},
	{"bots", "Create bots and limit their requests"},
	{"backups", "Back up, restore, move and repair the data"},
	{"monitoring", "Read health, log, metrics and audit log"},
	{"limits", "Bound memory, connections and history"},
	{"upgrade", "Change to another release, and back"},
}

//go:embed *.md
var files embed.FS

// Text returns the guide's text.
func (g Guide) Text() string {
	text, err := files.ReadFile(g.Name + ".md")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(text))
}
