package app

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/flat"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/tree"
	"example.com/projecthub/hubclient/wire"
)

// Target is the project that a command is about, on both sides. [Target.Find] finds it; until
// then, and after a failure, what is not known is zero.
type Target struct {
	App       *App
	Given     Optional // the flag --project
	Compares  bool     // the settings of a local project are needed
	Writes    bool     // the hub is written to
	BaseFiles bool     // the base files are meant, not the config

	Local    *workspace.Project // nil: only --project was given
	Client   *workspace.Client  // nil: the client.json of the local project was not needed
	Settings flat.Config        // of the local project, if Compares
	Project  ref.Ref            // on the hub
	Hub      *identity.Hub
	Done     failure.Effects // what the command has changed

	name string // of the local project, as it was typed
}

// Flag adds the flag --project to a command.
func (t *Target) Flag(c *cobra.Command, usage string) {
	c.Flags().Var(&t.Given, "project", usage)
	c.RegisterFlagCompletionFunc("project", t.App.HubProjects())
}

// Find finds the hub project of the local project called name, or the one that name or --project
// names, which needs no workspace but for an environment or a comparison.
func (t *Target) Find(ctx context.Context, name string) (err error) {
	if r, err := ref.ParseTyped(name); err == nil && !t.Compares && !t.Given.Given() {
		name, t.Given.Value = "", new(r.String())
	}
	t.name, t.Local, t.Project, t.Hub = name, nil, ref.Ref{}, nil
	if name != "" || t.Compares || !t.Given.Given() || t.App.InEnvironment() {
		if t.Local, err = t.App.Local(ctx, name, t.App.Itself); err != nil {
			return err
		}
	}
	if t.Compares || !t.Given.Given() {
		if t.Client, err = t.App.ReadClient(t.Local); err != nil {
			return failure.At(StageRead, err)
		}
	}
	if t.Compares {
		if t.Settings, err = t.Client.Config(); err != nil {
			return failure.At(StageRead, err)
		}
	}
	if t.Project, err = t.App.Destination(t.Local, t.Client, t.Given.Value); err != nil {
		return failure.At(StageDestination, err)
	}
	t.Hub, err = t.App.ConnectTo(ctx, t.Writes)
	return err
}

// About returns the part of a result that names the project.
func (t *Target) About() About {
	about := About{Project: t.Project, Origin: t.Hub.Origin()}
	if t.Local != nil {
		about.ProjectName, about.Env = t.Local.Name, t.Local.Env
	}
	return about
}

// Line is a command about the same project, with more operands.
func (t *Target) Line(command string, operands ...string) cmdline.Line {
	l := cmdline.Tool(command)
	if t.Local != nil {
		l = l.With(t.Local.Name)
	}
	l = l.With(operands...)
	if t.Given.Given() {
		l = l.Flag("--project", t.Project.String())
	}
	if t.BaseFiles {
		l = l.Flag("--base-files")
	}
	return l
}

// BaseRevision returns the revision that client.json, with the config local, was last synchronized with, "" for
// none. Of the two sides of a merge of git it is the newer one in the hub's history: the merged settings come
// from both. It is "" where git kept a value of the older side that the newer one no longer has, because it is
// not certain which of the two is the edit: someone may have reverted it on the hub.
func (t *Target) BaseRevision(ctx context.Context, bases workspace.Bases, local flat.Config) (string, error) {
	var sides, history []string
	for _, base := range bases.Sides(t.Hub.Origin(), t.Project) {
		sides = append(sides, base.Revision)
	}
	if sides = slices.Compact(sides); len(sides) < 2 {
		return strings.Join(sides, ""), nil
	}
	err := t.Hub.EachConfigEntry(ctx, t.Project, func(e wire.ConfigEntry) bool {
		history = append(history, e.Revision)
		return true
	})
	if err != nil && !IsRefused(err) {
		return "", err
	}
	newer := Newer(sides, history)
	if newer == "" {
		return "", nil
	}
	was, err := t.ConfigAt(ctx, sides[1-slices.Index(sides, newer)]) // the older side
	if was == nil || err != nil {
		return "", err
	}
	is, err := t.ConfigAt(ctx, newer)
	if is == nil || err != nil {
		return "", err
	}
	if merged, _ := flat.Merge(was, local, *is, nil); !flat.Diff(local, merged).Empty() {
		return "", nil
	}
	return newer, nil
}

// ConfigAt returns a config of the hub's history. It is nil if the hub does not keep it, or answers with
// another one: compared with that, local changes could pass for none and be lost.
func (t *Target) ConfigAt(ctx context.Context, revision string) (*flat.Config, error) {
	if revision == (flat.Config{}).Revision() {
		return &flat.Config{}, nil
	}
	kept, err := t.Hub.ConfigRevision(ctx, t.Project, revision)
	if IsRefused(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	config, err := flat.Parse(kept.Config)
	if err != nil || config.Revision() != revision {
		return nil, nil
	}
	return &config, nil
}

// Newer returns the newer of two revisions in a history, newest first. It is "" if that is not certain:
// neither is kept, or one was restored after the other.
func Newer(sides, history []string) string {
	isOther := func(revision string) bool { return !slices.Contains(sides, revision) }
	if found := slices.Compact(slices.DeleteFunc(history, isOther)); len(found) == 1 || len(found) == 2 {
		return found[0]
	}
	return ""
}

// ParseConfig reads a config of the hub.
func (t *Target) ParseConfig(text jsontext.Value) (flat.Config, error) {
	config, err := flat.Parse(text)
	if err != nil {
		err = failure.New(hubclient.CodeNotAHub, "the config of %s on %s cannot be read: %w", t.Project, t.Hub.Origin(), err)
	}
	return config, err
}

// Fail says what failed, such as: list the history of @acme/web. It adds the next command.
func (t *Target) Fail(err error, doing string) error {
	f := Explain(t.Hub, err).About(t.Project, t.Done)
	f.Action, f.Local = doing, t.name
	if t.Local != nil {
		f.Local = t.Local.Name
	}
	if t.Hub == nil { // the hub was not asked
		return f
	}
	switch {
	case f.Code == wire.CodeNotFound:
		f = f.WithReason("there is no project %s on %s", t.Project, f.Origin).
			WithRecipe(OrRestore(err, t.Project, cmdline.Tool("project", "list").With(t.Project.Account())))
	case f.Code == wire.CodeRevisionNotKept && f.Recipe == nil:
		f = f.WithHint("list the kept revisions, or with --base-files those of the base files, which share the numbers").
			WithRecipe(t.Line("log"))
	}
	return f
}

// RecordSync remembers on this machine what a local project has in common with a project on the hub at origin, after
// a push or a pull of either part of base. files are those with the digest base.Tree.
func (a *App) RecordSync(origin string, base workspace.Pulled, files tree.Tree) {
	sync := a.SyncState()
	if base.Revision != "" {
		sync.Save(origin, base.Project, base.Revision)
	}
	set := tree.Snapshot{Tree: files, Digest: base.Tree}
	if base.Tree != "" && sync.LastFiles(origin, base.Project, set).Digest != base.Tree {
		sync.SaveFiles(origin, base.Project, set)
	}
}
