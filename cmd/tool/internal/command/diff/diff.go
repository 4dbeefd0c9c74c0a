// Package diff compares the settings of local projects with configs on the hub.
package diff

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/wire"
)

// options say what is compared, and how the difference is shown.
type options struct {
	to app.Optional // revision to compare with; not given: the present config

	exitCode, nameOnly, full bool

	format string
}

// Command returns the command diff.
func Command(a *app.App) *cobra.Command {
	t := &app.Target{App: a, Compares: true}
	var o options
	var several app.Several
	c := &cobra.Command{
		Use:   "diff [<project>...]",
		Short: "Compare local settings with the hub's config",
		Long: `Compare the settings of a local project with its config on the hub, key by key:
+ only here, ~ different here, - only on the hub. This is what a push would
change. Changes nothing.

--to compares with an earlier config: tool log lists them, and a revision can be
abbreviated, or given by its number, such as r12, or as latest~1, the one before
the newest.`,
		Example: `  tool diff web
  tool diff web --to 461f583aadb4
  tool diff web --exit-code --name-only`,
		RunE: a.Run(func(ctx context.Context, args []string) error {
			switch {
			case o.nameOnly && o.full:
				return cmdline.Usagef("--name-only and --full exclude each other")
			case o.format != "text" && o.format != "markdown":
				return cmdline.Usagef("--format is text or markdown, not %q", o.format)
			case o.format == "markdown" && a.JSON:
				return cmdline.Usagef("--format markdown and --json exclude each other")
			}
			if o.to.Given() {
				if err := app.CheckRevision("--to", o.to.String()); err != nil {
					return err
				}
			}
			return several.Run(ctx, a, args, func(name string) error { return run(ctx, t, name, o) })
		}),
	}
	fl := c.Flags()
	fl.SortFlags = false
	several.Flags(a, c, "project", "to", "name-only")
	t.Flag(c, "compare with `@ACCOUNT/SLUG` instead of client.json's project")
	fl.Var(&o.to, "to", "compare with this `REVISION` of the config instead of the current one")
	fl.BoolVar(&o.exitCode, "exit-code", false, "exit with 3 if there is a difference")
	fl.BoolVar(&o.nameOnly, "name-only", false, "print only the keys, one on a line")
	fl.BoolVar(&o.full, "full", false, "print all keys and whole values, however many and long")
	fl.StringVar(&o.format, "format", "text", "print `text|markdown`; markdown is for a comment on a pull request")
	c.RegisterFlagCompletionFunc("format", app.OneOf("text", "markdown"))
	return a.HubFlags(a.EnvFlag(c))
}

// result is how the settings of a local project differ from a config.
type result struct {
	app.About `json:",inline"`
	Same      bool             `json:"same"`
	Changes   flat.Difference  `json:"changes"` // from the config to the settings
	wire.Edit `json:",inline"` // of the config
	HasConfig bool             `json:"hasConfig"`
	Notes     []string         `json:"notes"`

	options options
}

func (*result) Kind() string { return "diff" }

// Paged has a long text shown in a pager.
func (*result) Paged() {}

func (r *result) Text(w *app.Printer) {
	o := r.options
	if o.nameOnly {
		for _, c := range app.Changes(r.Changes) {
			w.Whole("%s", c.Key)
		}
		return
	}
	if o.format == "markdown" {
		r.markdown(w)
		return
	}
	config := r.Project.String()
	if o.to.Given() {
		config += " at " + app.ShortRevision(r.Revision)
	}
	if r.Same {
		w.Head("%s is the same as %s", r.ProjectName, config)
	} else {
		w.Head("%s differs from %s", r.ProjectName, config)
	}
	w.Field("config", "%s", app.Edit(r.Edit))
	w.Field("settings", "%s", app.DifferenceSummary(r.Changes))
	lines := app.DifferenceLines
	if o.full {
		lines = app.FullDifferenceLines
	}
	w.Differences(lines(r.Changes))
	w.Notes(r.Notes)
}

// markdown writes a result as a comment on a pull request.
func (r *result) markdown(w *app.Printer) {
	w.Whole("### %s and the config of %s: %s",
		app.Markdown(r.ProjectName), app.Markdown(r.Project.String()), app.DifferenceSummary(r.Changes))
	w.Whole("")
	if r.Env == "" {
		w.Whole("Hub: %s", app.Markdown(r.Origin))
	} else {
		w.Whole("Hub: %s, environment: %s", app.Markdown(r.Origin), app.Markdown(r.Env))
	}
	if r.Changes.Empty() {
		return
	}
	w.Whole("")
	w.Whole("| | key | on the hub | here |")
	w.Whole("|---|---|---|---|")
	width, maxRows := app.MaxValue, app.MaxShown
	if r.options.full {
		width, maxRows = math.MaxInt, math.MaxInt
	}
	words := map[string]string{"+": "added", "~": "changed", "-": "removed"}
	changes := r.Changes.ByRecord()
	for i, c := range app.Changes(changes) {
		if i == maxRows {
			w.Whole("| | … and %d more | | |", len(changes)-maxRows)
			break
		}
		from, to := app.ChangeValues(c, width)
		w.Whole("| %s | %s | %s | %s |", words[c.Sign()], app.Markdown(c.Key), app.Markdown(from), app.Markdown(to))
	}
	for _, note := range r.Notes {
		w.Whole("")
		w.Whole("Note: %s", app.Markdown(note))
	}
}

// Run shows how the settings of a local project differ from the hub's config.
func Run(ctx context.Context, a *app.App, name string) error {
	return run(ctx, &app.Target{App: a, Compares: true}, name, options{})
}

// run compares one local project.
func run(ctx context.Context, t *app.Target, name string, o options) error {
	r, err := compare(ctx, t, name, o)
	if err != nil && t.Local == nil {
		return t.Fail(err, strings.TrimSpace("compare "+name))
	}
	if err != nil {
		return t.Fail(err, "compare "+t.Local.Name+" with the hub")
	}
	if err := t.App.Show(r); err != nil || r.Same || !o.exitCode {
		return err
	}
	return app.ErrDiffers
}

func compare(ctx context.Context, t *app.Target, name string, o options) (*result, error) {
	if err := t.Find(ctx, name); err != nil {
		return nil, err
	}
	there, err := hubConfig(ctx, t, o)
	if err != nil {
		return nil, err
	}
	config, err := t.ParseConfig(there.Config)
	if err != nil {
		return nil, err
	}
	changes := flat.Diff(config, t.Settings)
	r := &result{
		About:     t.About(),
		Same:      changes.Empty(),
		Changes:   changes,
		Edit:      there.Edit,
		HasConfig: there.HasConfig,
		options:   o,
	}
	if !o.to.Given() && !r.Same {
		r.Notes = findings(ctx, t)
	}
	return r, nil
}

// hubConfig returns the config to compare with.
func hubConfig(ctx context.Context, t *app.Target, o options) (*wire.Config, error) {
	if !o.to.Given() {
		return t.Hub.Config(ctx, t.Project, "")
	}
	entry, err := t.Hub.FindConfigEntry(ctx, t.Project, o.to.String())
	if err != nil {
		return nil, err
	}
	return t.Hub.ConfigRevision(ctx, t.Project, entry.Revision)
}

// findings returns notes about settings that the schema of the stack does not allow, for a caller who
// may push them. They are optional: an error of the hub is ignored.
func findings(ctx context.Context, t *app.Target) []string {
	_, body, err := app.ReadConfig(t.Client)
	if err != nil {
		return nil
	}
	checked, err := t.Hub.CheckConfig(ctx, t.Project, body, "")
	if refused, ok := errors.AsType[*hubclient.Error](err); ok && refused.Code == wire.CodeSettingsInvalid {
		return app.FindingNotes(refused.Errors)
	}
	if err != nil {
		return nil
	}
	return app.FindingNotes(checked.Findings)
}
