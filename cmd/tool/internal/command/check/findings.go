package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/basefiles"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// findings are what is wrong with a workspace.
type findings struct {
	all   []failure.Finding
	local string // the local project that is checked, "": the workspace
}

// fail adds an error, at the position that it names, else in file.
func (f *findings) fail(err error, file string) { f.add(failure.SeverityError, err, file) }

// warn adds a warning.
func (f *findings) warn(err error, file string) { f.add(failure.SeverityWarning, err, file) }

func (f *findings) add(severity failure.Severity, err error, file string) {
	if err == nil || app.IsInterrupted(err) {
		return
	}
	finding := failure.Finding{Severity: severity, Project: f.local, File: file, Detail: err.Error()}
	if at, ok := errors.AsType[*workspace.Blamed](err); ok {
		finding.File, finding.Line, finding.Column, finding.Detail = at.At.File, at.At.Line, at.At.Column, at.Err.Error()
	}
	if rest, names := strings.CutPrefix(finding.Detail, finding.File); names && strings.IndexAny(rest, ": ") == 0 {
		finding.Detail = strings.TrimLeft(rest, ": ")
	}
	if !slices.Contains(f.all, finding) { // several parts read the same file
		f.all = append(f.all, finding)
	}
}

func (f *findings) hub(ws *workspace.Workspace) {
	_, err := ws.Hub()
	f.fail(err, workspace.HubFile)
}

// project checks one local project. What a part of it needs that another has reported is
// not reported twice.
func (f *findings) project(ctx context.Context, a *app.App, local *workspace.Project) {
	f.local = local.Name
	schema := f.stack(ctx, a, local)
	_, err := local.Generated()
	f.fail(err, local.ClientPath())
	if _, err := local.Bases(); err != nil {
		f.warn(err, local.ClientPath()) // the next pull or push rewrites it
	}
	client := f.client(local, schema)
	if client == nil {
		return
	}
	names, err := local.Environments()
	f.fail(err, local.ClientPath())
	for _, name := range names {
		f.client(local.In(name), schema)
	}
	f.description(client)
	f.files(ctx, a, local, client)
}

// client checks the client.json of a local project, or what is different in an environment,
// and returns it, nil if it cannot be read.
func (f *findings) client(local *workspace.Project, schema []byte) *workspace.Client {
	client, err := local.Client()
	if err != nil {
		f.fail(err, local.ClientPath())
		return nil
	}
	for _, w := range client.Warnings {
		f.warn(w, local.ClientPath())
	}
	f.refs(client)
	f.settings(client, local, schema)
	return client
}

// refs checks what client.json names on the hub.
func (f *findings) refs(client *workspace.Client) {
	for name, field := range map[string]workspace.Field{"project": client.Project, "api": client.API} {
		if !field.Present() {
			continue
		}
		if _, err := ref.Parse(field.Text); err != nil {
			f.fail(&workspace.Blamed{At: field.At, Err: errors.New(name + ": " + err.Error())}, field.At.File)
		}
	}
}

// settings checks that the settings make a config, have no token in them, and are what the
// schema allows, nil for none.
func (f *findings) settings(client *workspace.Client, local *workspace.Project, schema []byte) {
	config, _, err := app.ReadConfig(client)
	if err != nil {
		f.fail(err, local.ClientPath())
		return
	}
	if err := config.Check(usualConfig); err != nil {
		f.warn(fmt.Errorf("%w, unless the hub's administrator allows more", err), local.ClientPath())
	}
	if schema == nil {
		return
	}
	settings, err := client.Settings()
	if err != nil {
		return // reported
	}
	for _, v := range violations(schema, settings) {
		at := client.SettingAt(v.pointer)
		f.fail(&workspace.Blamed{At: at, Err: errors.New("settings: " + v.detail)}, local.ClientPath())
	}
}

// stack checks the stack, and returns the schema of its settings, nil for none.
func (f *findings) stack(ctx context.Context, a *app.App, local *workspace.Project) []byte {
	file := ".tool/" + local.Name + "/stack.json"
	stack, err := local.Stack()
	if err != nil {
		f.fail(err, file)
		return nil
	}
	_, err = stack.Version()
	f.fail(err, file)
	bundle, err := a.Bundle(ctx, local, noLimits)
	if err != nil {
		f.fail(err, file)
		return nil
	}
	var schema []byte
	snapshot, err := bundle.Hash(ctx, nil)
	if err == nil {
		f.sizes(snapshot.Tree, file)
		schema, err = app.CheckManifest(local, bundle, snapshot.Tree)
	}
	f.fail(err, file)
	return schema
}

// usualConfig are the limits of a hub that was not configured otherwise.
var usualConfig = flat.Limits{Bytes: 1 << 20, Keys: 10_000, Depth: 32}

// files checks the base files: their names, tokens in them, and their sizes.
func (f *findings) files(ctx context.Context, a *app.App, local *workspace.Project, client *workspace.Client) {
	files, err := a.ChooseFiles(ctx, local, client, app.FileOptions{AllowEmpty: true, Limits: noLimits})
	if err != nil {
		f.fail(err, local.ClientPath())
		return
	}
	f.sizes(files.Tree, local.ClientPath())
	for _, file := range files.Files {
		if file.Secret {
			f.warn(errHoldsSecrets, files.InWorkspace(file))
		}
	}
}

// noLimits are none: what only some hubs take is a warning.
var noLimits = wire.Limits{BaseFiles: math.MaxInt}

// sizes warns of files that are above the usual limits.
func (f *findings) sizes(files tree.Tree, file string) {
	if err := basefiles.CheckLimits(files, basefiles.UsualLimits); err != nil {
		f.warn(fmt.Errorf("%w, unless the hub's administrator allows more", err), file)
	}
}
