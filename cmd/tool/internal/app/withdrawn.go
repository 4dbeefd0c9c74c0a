package app

import (
	"fmt"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/hubclient/wire"
)

// WithdrawnNotes says that the stack version of a project was withdrawn, if it was.
func (a *App) WithdrawnNotes(w *wire.ConfigWritten) []string {
	if w.UseStackVersion == "" {
		return nil
	}
	version := strings.TrimSpace("the stack version " + w.StackVersion) // which an older hub does not say
	return []string{fmt.Sprintf("%s of %s was withdrawn; to use %s: %s", version, w.Project, w.UseStackVersion,
		a.CommandText(cmdline.Tool("project", "edit").With(w.Project.String()).Flag("--stack-version", w.UseStackVersion)))}
}
