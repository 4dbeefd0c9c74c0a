package login

import (
	"context"
	"fmt"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/prompts"
)

// useHere makes the hub of a login the workspace's, if that was asked for, or a person
// agrees. Otherwise a note says which hub commands here use.
func useHere(ctx context.Context, a *app.App, r *Result, asked bool) error {
	former, err := a.WorkspaceHub()
	if err != nil {
		return err
	}
	if former == r.Origin || former == "" && !asked {
		return nil
	}
	if !asked && !a.Strict() {
		if asked, err = confirm(ctx, a, former, r.Origin); err != nil {
			return err
		}
	}
	if !asked {
		r.Notes = append(r.Notes, fmt.Sprintf("this workspace belongs to %s, which commands here use; to change that: %s",
			former, a.CommandText(cmdline.Tool("login").Flag("--origin", r.Origin).Flag("--workspace"))))
		return nil
	}
	ws, err := a.Workspace()
	if err != nil {
		return err
	}
	if _, err := ws.SetHub(r.Origin); err != nil {
		return err
	}
	note := fmt.Sprintf("%s was recorded in %s as the hub of this workspace", r.Origin, workspace.HubFile)
	if former != "" {
		note += " (was " + former + ")"
	}
	r.Notes = append(r.Notes, note)
	return nil
}

// confirm asks whether the workspace is to belong to another hub.
func confirm(ctx context.Context, a *app.App, former, origin string) (bool, error) {
	return a.UI.Confirm(ctx, prompts.YesNo{
		Title: "Use this hub in this workspace from now on?",
		Facts: []string{"Hub        " + origin, "Workspace  " + former + " (" + workspace.HubFile + ")"},
		Yes:   "Change " + workspace.HubFile, No: "Leave it",
	})
}
