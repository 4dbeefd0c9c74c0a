// Package check finds what is wrong with local projects, for a hook before a commit. It writes
// nothing, and asks the hub about settings alone.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/tool/internal/apisource"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/secret"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
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
	_, err = ws.Hub()
	c.fail(err, workspace.HubFile)
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
	if c.errors > 0 {
		if c.unasked != "" {
			a.Warn(c.unasked)
		}
		f := failure.New(failure.CodeCheckFailed, "%s in %s", app.Count(c.errors, "error", "errors"), count(names))
		f.Findings = c.found
		return f
	}
	r := &checked{Workspace: ws.Dir, Projects: names, Findings: c.found}
	if c.unasked != "" {
		r.Note("%s", c.unasked)
	}
	return a.Show(r)
}

// check is one check of a workspace.
type check struct {
	app     *app.App
	local   string            // the local project that is checked, "": the workspace
	found   []failure.Finding // what is wrong
	errors  int               // in found; the others are warnings
	unasked string            // why the hub did not check settings, "" if it did or need not
}

// fail adds an error, at the position that it names, else in file.
func (c *check) fail(err error, file string) { c.add(failure.SeverityError, err, file) }

// warn adds a warning.
func (c *check) warn(err error, file string) { c.add(failure.SeverityWarning, err, file) }

func (c *check) add(severity failure.Severity, err error, file string) {
	if err == nil || app.IsInterrupted(err) {
		return
	}
	finding := failure.Finding{Severity: severity, Project: c.local, File: file, Detail: err.Error()}
	if e, ok := errors.AsType[*workspace.Blamed](err); ok {
		finding.File, finding.Line, finding.Column, finding.Detail = e.At.File, e.At.Line, e.At.Column, e.Err.Error()
	}
	if rest, names := strings.CutPrefix(finding.Detail, finding.File); names && strings.IndexAny(rest, ": ") == 0 {
		finding.Detail = strings.TrimLeft(rest, ": ")
	}
	if slices.Contains(c.found, finding) { // several parts read the same file
		return
	}
	c.found = append(c.found, finding)
	if severity == failure.SeverityError {
		c.errors++
	}
}

// aboveUsual warns of what only a hub with higher limits than usual accepts.
func (c *check) aboveUsual(err error, file string) {
	if err != nil {
		c.warn(fmt.Errorf("%w, unless the hub's administrator allows more", err), file)
	}
}

// project checks one local project. What a part of it needs that another has reported is
// not reported twice.
func (c *check) project(ctx context.Context, local *workspace.Project) {
	c.local = local.Name
	schema := c.stack(ctx, local)
	_, err := local.Generated()
	c.fail(err, local.ClientPath())
	if _, err := local.Bases(); err != nil {
		c.warn(fmt.Errorf("%w; a pull or push rewrites it", err), local.ClientPath())
	}
	client := c.client(ctx, local, schema)
	if client == nil {
		return
	}
	names, err := local.Environments()
	c.fail(err, local.ClientPath())
	for _, name := range names {
		c.client(ctx, local.In(name), schema)
	}
	c.description(client)
	c.files(ctx, local, client)
}

// client checks the client.json of a local project, or what is different in an environment,
// and returns it, nil if it cannot be read.
func (c *check) client(ctx context.Context, local *workspace.Project, schema []byte) *workspace.Client {
	client, err := local.Client()
	if err != nil {
		c.fail(err, local.ClientPath())
		return nil
	}
	for _, w := range client.Warnings {
		c.warn(w, local.ClientPath())
	}
	for name, field := range map[string]workspace.Field{"project": client.Project, "api": client.API} {
		if _, err := ref.Parse(field.Text); err != nil && field.Present() {
			c.fail(&workspace.Blamed{At: field.At, Err: fmt.Errorf("%s: %w", name, err)}, field.At.File)
		}
	}
	config, body, err := app.ReadConfig(client) // without an access token
	if err != nil {
		c.fail(err, local.ClientPath())
		return client
	}
	c.aboveUsual(config.Check(usualConfig), local.ClientPath())
	for _, f := range secret.InSettings(config, config.Canonical()) {
		c.warn(errors.New(app.FindingText(f)), local.ClientPath())
	}
	if schema != nil {
		c.settings(ctx, local, client, wire.CheckSettings{Schema: schema, Settings: body.Settings})
	}
	return client
}

// hubTime is how long a hub may take to check settings: a hook that waits longer is no help.
const hubTime = 10 * time.Second

// settings has the hub check settings against the schema of the stack. The library for it would
// nearly double the time in which this program starts.
func (c *check) settings(
	ctx context.Context, local *workspace.Project, client *workspace.Client, body wire.CheckSettings,
) {
	if c.unasked != "" { // the hub would not answer this time either
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hubTime)
	defer cancel()
	origin, err := local.Origin()
	if err != nil { // these settings are sent to no other hub
		c.fail(err, local.ClientPath())
		return
	}
	hub, err := c.app.ConnectTo(ctx, false)
	if origin != "" {
		hub, err = c.app.HubOfEnvironment(origin)
	}
	var violations []wire.FieldError
	if err == nil {
		violations, err = hub.CheckSettings(ctx, body)
	}
	const unchecked = "the settings were not checked against the stack's schema: "
	switch {
	case hubclient.HasCode(err, wire.CodeInvalidBody):
		c.fail(fmt.Errorf("settings.schema: %w", err), stackPath(local))
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		c.unasked = fmt.Sprintf("%sthe hub did not answer within %v", unchecked, hubTime)
	case err != nil && !app.IsInterrupted(err):
		c.unasked = unchecked + app.Explain(hub, err).Error()
	}
	for _, v := range violations {
		at := client.SettingAt(v.Pointer)
		c.fail(&workspace.Blamed{At: at, Err: errors.New(app.FindingText(v))}, local.ClientPath())
	}
}

// usualConfig are the limits of a hub that was not configured otherwise.
var usualConfig = flat.Limits{Bytes: 1 << 20, Keys: 10_000, Depth: 32}

// noLimits lets all base files be read, because a check only warns of more than is usual.
var noLimits = wire.Limits{BaseFiles: math.MaxInt}

func stackPath(local *workspace.Project) string { return ".tool/" + local.Name + "/stack.json" }

// stack checks the stack, and returns the schema of its settings, nil for none.
func (c *check) stack(ctx context.Context, local *workspace.Project) (schema []byte) {
	stack, err := local.Stack()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the project has another's stack
	}
	if err != nil {
		c.fail(err, stackPath(local))
		return nil
	}
	_, err = stack.Version()
	c.fail(err, stackPath(local))
	bundle, err := c.app.Bundle(ctx, local, noLimits)
	var files tree.Tree
	if err == nil {
		snapshot, hashed := bundle.Hash(ctx, nil)
		files, err = snapshot.Tree, hashed
	}
	if err == nil {
		c.aboveUsual(basefiles.CheckLimits(files, basefiles.UsualLimits), stackPath(local))
		schema, err = app.CheckManifest(local, bundle, files)
	}
	c.fail(err, stackPath(local))
	return schema
}

// looksLike warns of a credential.
func looksLike(what string) error {
	return fmt.Errorf("it has what looks like %s: a pipeline sends it only with --allow-secrets", what)
}

var errHoldsSecrets = errors.New("such files hold secrets: a pipeline sends it only with --allow-secrets")

// files checks the base files: their names, tokens in them, and their sizes.
func (c *check) files(ctx context.Context, local *workspace.Project, client *workspace.Client) {
	o := basefiles.Options{AllowEmpty: true, Limits: noLimits}
	files, err := c.app.ChooseFiles(ctx, local, client, o, nil)
	if err != nil {
		c.fail(err, local.ClientPath())
		return
	}
	c.aboveUsual(basefiles.CheckLimits(files.Tree, basefiles.UsualLimits), local.ClientPath())
	for _, file := range files.Files {
		if file.Secret {
			c.warn(errHoldsSecrets, files.InWorkspace(file))
		}
		if file.Credential != "" {
			c.warn(looksLike(file.Credential), files.InWorkspace(file))
		}
	}
}

// description checks that the API description exists, that it can be parsed, and that the
// files to which it refers can be read. One at a URL is the hub's to fetch.
func (c *check) description(client *workspace.Client) {
	if !client.Source.Present() {
		return
	}
	schema, err := client.Schema()
	if err != nil || schema.URL != "" {
		c.fail(err, client.Source.At.File)
		return
	}
	text, err := schema.Read()
	if err != nil {
		c.fail(err, client.Source.At.File)
		return
	}
	if line := workspace.ConflictMarker(text); line > 0 {
		c.problem(apisource.Problem{File: schema.File, Line: line, Column: 1, Detail: workspace.Conflict})
		return
	}
	if problem := apisource.Check(schema.File, text); problem != nil {
		c.problem(*problem)
		return
	}
	s, err := apisource.Bundle(schema.ReadFile, schema.File)
	if err != nil {
		c.fail(err, schema.File)
		return
	}
	for _, name := range s.Files {
		if basefiles.HoldsSecrets(name) {
			c.warn(errHoldsSecrets, name)
		}
	}
	if found, ok := secret.Find(s.Document); ok {
		c.warn(looksLike(found.What), schema.File)
	}
	for _, p := range s.Problems {
		c.problem(p)
	}
	if len(s.Files) == 1 || len(s.Problems) > 0 {
		return
	}
	if problem := apisource.Check(schema.File, s.Document); problem != nil {
		problem.Line, problem.Column = 1, 1 // it may be in any of the files
		c.problem(*problem)
	}
}

func (c *check) problem(p apisource.Problem) {
	at := workspace.Position{File: p.File, Line: p.Line, Column: p.Column}
	c.fail(&workspace.Blamed{At: at, Err: errors.New(p.Detail)}, p.File)
}
