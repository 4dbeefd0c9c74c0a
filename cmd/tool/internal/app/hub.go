package app

import (
	"context"
	"errors"
	"fmt"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/prompts"
)

// WorkspaceHub returns the origin of the hub that the workspace belongs to, "" for none
// and outside a workspace.
func (a *App) WorkspaceHub() (string, error) {
	if a.hub != nil {
		return *a.hub, nil
	}
	origin := ""
	if ws, err := a.Workspace(); err == nil {
		if origin, err = ws.Hub(); err != nil {
			return "", failure.At(StageRead, err)
		}
	}
	a.hub = &origin
	return origin, nil
}

// MarkHub marks a line that names the hub in use, if that is not the workspace's.
func (a *App) MarkHub(line string) string {
	if id, err := a.Identity(); err == nil && id.UsesOtherHub() {
		return "! other hub: " + line
	}
	return line
}

// warnOfOtherHub warns, once, that the hub in use is not the workspace's. The home view
// shows it instead.
func (a *App) warnOfOtherHub(id *identity.Identity) {
	if !id.UsesOtherHub() || id.Origin == a.warned || id.Origin == a.agreed || a.Command == "" {
		return
	}
	a.warned = id.Origin
	a.Warn(fmt.Sprintf("%s (%s) is not the hub of this workspace, which is %s", id.Origin, id.OriginSource.Phrase(), id.Workspace))
}

// ConnectTo is [App.ConnectToWrite] if writes is true, else [App.Connect].
func (a *App) ConnectTo(ctx context.Context, writes bool) (*identity.Hub, error) {
	if writes {
		return a.ConnectToWrite(ctx)
	}
	return a.Connect()
}

// ConnectToWrite returns the hub, for a command that writes. A person is asked first if it
// is not the workspace's.
func (a *App) ConnectToWrite(ctx context.Context) (*identity.Hub, error) {
	if err := a.ConfirmHub(ctx); err != nil {
		return nil, err
	}
	return a.Connect()
}

// ConfirmHub asks a person whether to use a hub that is not the workspace's. What is wrong
// with the identity is told by Connect.
func (a *App) ConfirmHub(ctx context.Context) error {
	id, err := a.Identity()
	if err != nil || id.NeedToken() != nil || !id.UsesOtherHub() || a.Strict() || id.Origin == a.agreed {
		return nil
	}
	err = Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: "Use another hub than the workspace's?",
		Facts: []string{
			fmt.Sprintf("Hub        %s (%s)", id.Origin, id.OriginSource.Phrase()),
			fmt.Sprintf("Workspace  %s (%s)", id.Workspace, workspace.HubFile),
		},
		Yes: "Use it", No: "Change nothing",
	}))
	if err == nil {
		a.agreed = id.Origin
	}
	return err
}

// Settle prints that nothing was changed, if err says that a person declined it, and
// returns any other error.
func (a *App) Settle(err error) error {
	if !errors.Is(err, ErrDeclined) {
		return err
	}
	f := failure.Of(err)
	return a.Show(&Aborted{ProjectName: f.Local, Project: f.Project, Origin: f.Origin, Done: f.Hint})
}

// RecordHub records the hub of a command that went through as the workspace's, if that has
// none, and returns notes about it. That of an environment is the environment's alone.
func (a *App) RecordHub(local *workspace.Project, origin string) []string {
	if hub, err := a.WorkspaceHub(); err != nil || hub != "" || a.envOrigin != "" {
		return nil
	}
	written, err := local.Workspace.FillHub(origin)
	a.hub = nil
	switch {
	case err != nil: // a pipeline may run from files that it cannot write
		return []string{"the hub could not be recorded: " + err.Error()}
	case written:
		return []string{fmt.Sprintf("the hub was recorded in %s as this workspace's", workspace.HubFile)}
	}
	return nil
}
