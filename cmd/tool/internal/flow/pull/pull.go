// Package pull brings a hub project's config back into the settings of client.json,
// and its base files into the app.
package pull

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Options are everything that a pull needs to know.
type Options struct {
	Local       *workspace.Project
	Destination *string // of --project; nil: client.json's
	Connect     flow.Connect
	Revisions   *state.Sync
	Kept        *state.History
	Warn        func(string)
	Typed       flow.Typed

	// Confirm is asked before settings that differ are replaced; nil replaces those
	// without local edits, and fails by would_lose_edits for others. Force replaces.
	Confirm func(context.Context, Replace) (bool, error)

	BaseFiles  bool   // bring back the base files too
	FilesOnly  bool   // and leave client.json as it is
	Output     string // where to; "": the app root
	OutputName string // Output as a person calls it
	Report     flow.Report

	// ConfirmFiles is asked before local files that differ are overwritten; nil is
	// files_differ. Force overwrites them.
	ConfirmFiles func(context.Context, Overwrite) (bool, error)
	Force        bool
}

// Replace is what a person is asked about.
type Replace struct {
	ProjectName string
	File        string
	Project     ref.Ref
	Origin      string
	Current     wire.Edit
	Config      flat.Difference // from the local settings to the hub's config
}

// Result is a pull that went through.
type Result struct {
	ProjectName     string          `json:"projectName"`
	Project         ref.Ref         `json:"project"`
	Origin          string          `json:"origin,omitzero"` // "" after an undo, which asks no hub
	EnrichmentCount int             `json:"enrichmentCount"`
	SettingsChanged bool            `json:"settingsChanged"`
	Changes         flat.Difference `json:"changes"`
	Revision        string          `json:"revision,omitzero"` // "": no config was pulled
	UpdatedBy       string          `json:"updatedBy,omitzero"`
	UpdatedAt       time.Time       `json:"updatedAt,omitzero"`
	UpdatedVia      wire.Via        `json:"updatedVia,omitzero"`
	BaseFilesPulled int             `json:"baseFilesPulled"`
	*FilesResult    `json:",inline"`
	Notes           []string `json:"notes"`
}

// pull is one pull on its way.
type pull struct {
	Options
	client      *workspace.Client
	local       flat.Config // empty when there are no settings
	destination ref.Ref
	hub         *identity.Hub
	config      flat.Config
	current     *wire.Config
	base        *workspace.Pulled // what was last pulled; nil: nothing, as far as is known
	files       *files            // nil: none are pulled
	done        failure.Effects
}

// Run pulls. It returns nil without an error when the person said no.
func Run(ctx context.Context, o Options) (*Result, *flow.Aborted, error) {
	p := &pull{Options: o}
	err := p.read()
	if err == nil {
		err = p.fetch(ctx)
	}
	if err != nil {
		return nil, nil, p.fail(err)
	}
	if p.files != nil {
		defer p.files.Close()
	}
	changes := p.changes()
	if yes, err := p.confirmSettings(ctx, changes); err != nil {
		return nil, nil, p.fail(err)
	} else if !yes {
		return nil, p.aborted(), nil
	}
	if yes, err := p.confirmFiles(ctx); err != nil {
		return nil, nil, p.fail(err)
	} else if !yes {
		return nil, p.aborted(), nil
	}
	r, err := p.write(changes)
	if err != nil {
		return nil, nil, p.fail(failure.At(flow.StageWrite, err))
	}
	if err := p.writeFiles(ctx, r); err != nil {
		e := failure.Of(p.fail(err))
		if !p.FilesOnly {
			e.Hint = strings.TrimSuffix("the settings are pulled, the base files in part at most; "+e.Hint, "; ")
		}
		return nil, nil, e
	}
	return r, nil, nil
}

// changes are what the pull does to the settings.
func (p *pull) changes() flat.Difference {
	if p.FilesOnly {
		return flat.Diff(p.local, p.local)
	}
	return flat.Diff(p.local, p.config)
}

// confirmSettings reports whether the settings may be replaced.
func (p *pull) confirmSettings(ctx context.Context, changes flat.Difference) (bool, error) {
	switch {
	case changes.Empty() || p.Force:
		return true, nil
	case p.Confirm != nil:
		return p.Confirm(ctx, Replace{
			ProjectName: p.Local.Name, File: p.Local.ClientPath(), Project: p.destination, Origin: p.hub.Origin(),
			Current: p.current.Edit, Config: changes,
		})
	case flow.HasLocalEdits(p.local, p.base, p.destination, p.Revisions.Last(p.hub.Origin(), p.destination)):
		e := failure.New(failure.CodeWouldLoseEdits, "%s has edits that were neither pushed nor pulled, and the pull would drop them", p.Local.ClientPath())
		e.Current, e.Config = &p.current.Edit, &changes
		return false, e.WithHint("add the hub's changes to %s and push with --if-revision %s, or replace the settings with --force", p.Local.ClientPath(), p.current.Revision).
			Try(p.pushLine().Flag("--dry-run"))
	}
	return true, nil
}

func (p *pull) aborted() *flow.Aborted {
	return &flow.Aborted{ProjectName: p.Local.Name, Project: p.destination, Origin: p.hub.Origin()}
}

// read reads the local side.
func (p *pull) read() (err error) {
	if p.client, err = flow.ReadClient(p.Local, p.Warn); err != nil {
		return failure.At(flow.StageRead, err)
	}
	if p.local, err = p.client.Config(); err != nil && failure.Of(err).Code != failure.CodeNoSettings {
		return failure.At(flow.StageRead, err)
	}
	if p.destination, err = flow.Destination(p.Local, p.client, p.Options.Destination); err != nil {
		e := failure.Of(err)
		if e.Code == failure.CodeNoDestination {
			e = e.WithHint("name it with --project, as @account/slug").Try(cmdline.Tool("project", "list"))
		}
		return failure.At(flow.StageDestination, e)
	}
	if p.base, err = flow.Base(p.Local, p.Warn); err != nil {
		return failure.At(flow.StageRead, err)
	}
	return nil
}

// fetch reads the hub's side.
func (p *pull) fetch(ctx context.Context) (err error) {
	if p.hub, err = p.Connect(); err != nil {
		return err
	}
	if !p.FilesOnly {
		if err := p.fetchConfig(ctx); err != nil {
			return err
		}
	}
	root, err := p.appRoot()
	if err == nil && p.BaseFiles {
		p.files, err = p.fetchFiles(ctx, root)
	}
	return err
}

func (p *pull) fetchConfig(ctx context.Context) (err error) {
	if p.current, err = p.hub.Config(ctx, p.destination, ""); err != nil {
		return err
	}
	if !p.current.HasConfig {
		e := failure.New(failure.CodeNoConfig, "%s holds no config on %s", p.destination, p.hub.Origin()).Try(p.pushLine())
		if p.BaseFiles {
			e.Recipe = []cmdline.Line{p.line("pull").Flag("--base-files-only")}
		}
		return e
	}
	p.config, err = flat.Parse(p.current.Config)
	if err != nil {
		return failure.New(hubclient.CodeNotAHub, "the config of %s on %s cannot be read: %w", p.destination, p.hub.Origin(), err)
	}
	return nil
}

// appRoot returns the app root by the config that is pulled, which anybody may have
// written who may write to the project; or by client.json, if that stays as it is.
func (p *pull) appRoot() (string, error) {
	if p.FilesOnly {
		return p.client.AppRoot()
	}
	text, ok := p.config.Get("basePath")
	if !ok {
		return ".", nil
	}
	basePath, err := jsontext.AppendUnquote(nil, text)
	if err != nil { // no string: the next push says so, with its place
		return ".", nil
	}
	root, err := p.Local.Workspace.AppRootOf(string(basePath))
	if err != nil {
		e := failure.Of(err)
		e.Reason = fmt.Errorf("the config of %s cannot be pulled: basePath: %w", p.destination, e.Reason)
		return "", e
	}
	return root, nil
}

// pushLine is the command that gives the project a config.
func (p *pull) pushLine() cmdline.Line { return p.line("push") }

// line is a command about the local project and the same hub project.
func (p *pull) line(command string) cmdline.Line {
	l := cmdline.Tool(command).With(p.Local.Name)
	if p.Options.Destination != nil {
		l = l.Flag("--project", p.destination.String())
	}
	return l
}

// write writes the config into client.json and records what was pulled.
func (p *pull) write(changes flat.Difference) (*Result, error) {
	if p.FilesOnly {
		return &Result{
			ProjectName: p.Local.Name, Project: p.destination, Origin: p.hub.Origin(),
			EnrichmentCount: p.local.EnrichmentCount(), Changes: changes, Notes: []string{},
		}, nil
	}
	saved, notes := p.saveSettings(changes)
	changed, err := p.client.Replace(p.config)
	if err != nil {
		if saved != nil {
			_ = saved.Drop() // or it stays pending, and undo passes over it
		}
		return nil, err
	}
	if saved != nil {
		saved.Confirm()
	}
	p.done.SettingsChanged = changed
	if err := p.Local.RecordPulled(workspace.Pulled{Project: p.destination, Revision: p.current.Revision}); err != nil {
		e := failure.Of(err)
		if changed {
			e.Hint = strings.TrimSuffix(fmt.Sprintf("the settings in %s are pulled; %s", p.Local.ClientPath(), e.Hint), "; ")
			e = e.Try(p.undoLine())
		}
		return nil, e
	}
	p.Revisions.Save(p.hub.Origin(), p.destination, p.current.Revision)
	r := &Result{
		ProjectName: p.Local.Name, Project: p.destination, Origin: p.hub.Origin(),
		EnrichmentCount: p.config.EnrichmentCount(), SettingsChanged: changed, Changes: changes,
		Revision: p.current.Revision, UpdatedBy: p.current.UpdatedBy, UpdatedAt: p.current.UpdatedAt, UpdatedVia: p.current.UpdatedVia,
		Notes: notes,
	}
	if !p.client.Project.Present() {
		r.Notes = append(r.Notes, fmt.Sprintf("%s names no project; a push records it: %s",
			p.Local.ClientPath(), p.Typed.Text(cmdline.Tool("push").With(p.Local.Name).Flag("--project", p.destination.String()))))
	}
	return r, nil
}

func (p *pull) fail(err error) error {
	if p.hub != nil {
		err = p.hub.Fault(err)
	}
	e := failure.Of(failure.At(flow.StagePull, err))
	e.Project, e.Effects = p.destination, p.done
	if p.hub != nil {
		e.Origin = p.hub.Origin()
		if e.Code == wire.CodeNotFound {
			e.Reason = fmt.Errorf("there is no project %s on %s", p.destination, p.hub.Origin())
			e.Recipe = []cmdline.Line{cmdline.Tool("project", "list").With(p.destination.Account())}
		}
	}
	return e
}
