package app

import (
	"cmp"
	"context"
	"errors"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
)

// Stages of a failure.
const (
	StageRead        = "read"
	StageStack       = "stack"
	StageDestination = "destination"
	StageAPI         = "api"
	StageCreate      = "create"
	StageSeed        = "seed"
	StagePush        = "push"
	StagePull        = "pull"
	StageWrite       = "write"
	StagePublish     = "publish"
	StageEdit        = "edit"
	StageRemove      = "rm"
	StageDiff        = "diff"
)

// Aborted is the result of a command whose question was answered by no.
type Aborted struct {
	ProjectName string  `json:"projectName"`
	Project     ref.Ref `json:"project,omitzero"`
	Origin      string  `json:"origin,omitzero"`
	Done        string  `json:"-"` // what was changed before, "": nothing
}

// Aborted prints that the person said no.
func (a *App) Aborted(r *Aborted) error {
	return a.Print("aborted", r, func(p *Printer) { p.Line("Aborted: %s", cmp.Or(r.Done, "nothing was changed")) })
}

// Explain returns err as a failure, with the hub's origin and what the identity knows of
// its cause. hub is nil if no hub was known yet.
func Explain(hub *identity.Hub, err error) failure.Failure {
	if hub == nil {
		return failure.Of(err)
	}
	f := failure.Of(hub.Fault(err))
	f.Origin = hub.Origin()
	return f
}

// IsInterrupted reports that the person or the system ended the command.
func IsInterrupted(err error) bool { return errors.Is(err, context.Canceled) }

// IsNotFound reports that the hub has no such thing.
func IsNotFound(err error) bool { return hubclient.HasCode(err, wire.CodeNotFound) }

// IsDeleted reports that the hub has no such project because it was deleted, and can restore it.
func IsDeleted(err error) bool {
	e, ok := errors.AsType[*hubclient.Error](err)
	return ok && !e.RestorableUntil.IsZero()
}

// OrRestore returns the command that restores a project if err says that it was deleted,
// otherwise line.
func OrRestore(err error, project ref.Ref, line cmdline.Line) cmdline.Line {
	if IsDeleted(err) {
		return cmdline.Tool("project", "restore").With(project.String())
	}
	return line
}
