// Package check finds what is wrong with local projects, for a hook before a commit. It writes
// nothing, and asks the hub about settings alone.
package check

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
)

// checked is the result of a check that found no error.
type checked struct {
	Workspace string            `json:"workspace"`
	Projects  []string          `json:"projects"`
	Findings  []failure.Finding `json:"findings"` // warnings
	app.Noted `json:",inline"`
}

func (*checked) Kind() string { return "checked" }

func (r *checked) Text(w *app.Printer) {
	summary := "no problem found"
	if n := len(r.Findings); n > 0 {
		summary = app.Count(n, "warning", "warnings")
	}
	w.Line("Checked %s: %s", count(r.Projects), summary)
	for _, v := range r.Findings {
		w.Line("  %s", v)
	}
}

func count(projects []string) string {
	return app.Count(len(projects), "local project", "local projects")
}

// Command returns the command check.
func Command(a *app.App) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:   "check [<project>...]",
		Short: "Check the files of local projects",
		Long: `Check all files of local projects, such as in a hook before a commit:
client.json, environments, stack.json, manifest.json, hub.json, the API
description, base files, and marks of git conflicts. Without <project> all are
checked. Writes nothing.

Each problem is printed with its file, and its line and column where they are
known. If the stack has a schema of its settings, published or not, the hub
checks the settings against it; a note says so when it cannot be asked. Nothing
else needs the hub. Of an API description, check finds what keeps the hub from
reading it; a linter such as Redocly or Spectral says more.`,
		Example: `  tool check
  tool check web shop --json`,
		Args:              app.Locals,
		ValidArgsFunction: a.CompleteLocals,
		RunE:              a.Run(func(ctx context.Context, args []string) error { return run(ctx, a, args) }),
	})
}

func run(ctx context.Context, a *app.App, names []string) error {
	ws, err := a.Workspace()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if names, err = ws.Projects(); err != nil {
			return failure.At(app.StageRead, err)
		}
	}
	c := &check{app: a}
	c.hub(ws)
	for _, name := range names {
		local, err := ws.Project(name)
		if err != nil {
			return failure.At(app.StageRead, err)
		}
		c.project(ctx, local)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	errors := 0
	for _, v := range c.found {
		if v.Severity == failure.SeverityError {
			errors++
		}
	}
	if errors > 0 {
		f := failure.New(failure.CodeCheckFailed, "%s in %s", app.Count(errors, "error", "errors"), count(names))
		f.Findings = c.found
		if c.unasked != "" {
			a.Warn(c.unasked)
		}
		return f
	}
	r := &checked{Workspace: ws.Dir, Projects: names, Findings: c.found}
	if c.unasked != "" {
		r.Note("%s", c.unasked)
	}
	return a.Show(r)
}
