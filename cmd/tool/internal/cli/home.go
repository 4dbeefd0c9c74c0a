package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/command/create"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/project"
	"example.com/projecthub/cmd/tool/internal/command/publish"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/cmd/tool/internal/command/status"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// homeActions are what can be done from the home view. Each is a command of its own.
var homeActions = []prompts.Action{
	{Key: "p", Does: "push"}, {Key: "f", Does: "push with files"}, {Key: "l", Does: "pull"}, {Key: "u", Does: "publish"},
	{Key: "c", Does: "create", Alone: true}, {Key: "o", Does: "page"}, {Key: "i", Does: "log in", Alone: true},
}

// home shows the status of the local projects, and runs what the person chooses, until
// they leave. A failure of what was run is reported and ends nothing.
func home(ctx context.Context, a *app.App) (err error) {
	acted := false
	defer func() {
		if err == nil || failure.Of(err).Stage != "" { // a stage is that of an action
			return
		}
		f := failure.Of(err).At("home")
		if acted {
			f.Hint = "what was reported above is done"
		}
		err = failure.Doing(f, "", "show the overview")
	}()
	for chosen := 0; ; {
		h := &overview{app: a}
		doing := "Asking the hub"
		if id, err := a.Identity(); err == nil {
			doing = "Asking " + id.Origin
		}
		action, item, err := a.UI.Home(ctx, doing, h.load, homeActions, chosen)
		if err != nil || action == (prompts.Action{}) {
			return err
		}
		local, onHub := "", ""
		if item >= 0 { // else the action is about no local project
			chosen = item
			local, onHub = h.names[item], h.onHub(item)
		}
		acted = true
		err = a.Settle(act(ctx, a, action.Key, local, onHub))
		if errors.Is(err, prompts.ErrBack) {
			continue
		}
		if app.IsInterrupted(err) || ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.ReportFailure(err)
		}
		back, err := pause(ctx, a)
		if err != nil || !back {
			return err
		}
		a.Forget() // a login may have changed what is known of the hub
	}
}

// act runs the action of a key, for a local project and the one on the hub, "" for none. An action
// may set the command and the flags as if they were typed; they are those of home again after it.
func act(ctx context.Context, a *app.App, key, local, onHub string) (err error) {
	defer func(command string, token, origin app.Optional) {
		err = failure.At(a.Stage(), err)
		a.Command, a.Token, a.Origin = command, token, origin
		a.UI.AllowBack(false)
	}(a.Command, a.Token, a.Origin)
	a.UI.AllowBack(true)
	switch key {
	case "p", "f":
		a.Command = "push"
		return push.Run(ctx, a, local, push.Options{Files: key == "f", Ask: true})
	case "l":
		a.Command = "pull"
		return pull.Run(ctx, a, local, pull.Options{})
	case "u":
		a.Command = "publish"
		return publish.Run(ctx, a, local, publish.Options{})
	case "c":
		a.Command = "project create"
		return create.Guided(ctx, a, publish.Local, local)
	case "o":
		a.Command = "project view"
		if onHub != "" {
			return project.View(ctx, a, onHub, true)
		}
		none := failure.New(failure.CodeNoDestination, "%s has not been created on a hub", local)
		return failure.Doing(none, local, "open the page of %s", local)
	}
	a.Command = "login"
	return failure.Doing(login.Run(ctx, a, login.Options{}), "", "log in")
}

// pause lets the person read what an action printed, and reports whether they go back to the
// overview.
func pause(ctx context.Context, a *app.App) (back bool, err error) {
	choices := []prompts.Choice{{Value: "back", Text: "Back to the overview"}, {Value: "quit", Text: "Quit"}}
	err = a.UI.AskBelow(ctx, prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{Title: "And now?", Preset: "back", Choices: choices}
		},
		Take: func(answer string) { back = answer == "back" },
	})
	return back, err
}

// overview finds out what the home view shows.
type overview struct {
	app    *app.App
	names  []string       // of the local projects
	status *status.Result // nil: the hub was not asked, or did not answer
}

// homeTimeout is how long the view waits for a hub that does not answer.
const homeTimeout = 3 * time.Second

// load asks the hub. What keeps it from answering is part of the view.
func (h *overview) load(ctx context.Context) prompts.Home {
	a := h.app
	defer func(given time.Duration) { a.Timeout = given }(a.Timeout) // the actions may wait longer
	a.Timeout = min(a.Timeout, homeTimeout)
	view := prompts.Home{Status: "tool"}
	locals, err := a.Locals(ctx, "")
	if err != nil {
		view.Notices = []string{err.Error()}
		return view
	}
	h.names = nil
	for _, l := range locals {
		h.names = append(h.names, l.Name)
		view.Items = append(view.Items, prompts.Item{Name: l.Name})
	}
	if len(locals) == 0 {
		view.Notices = []string{"There is no local project here. Press c to create one."}
	}
	id, err := a.Identity()
	if err == nil {
		view.Status = a.StatusLine()
		h.status, err = status.Look(ctx, a, locals)
	}
	if err != nil {
		f := failure.Of(err)
		notice := append([]string{f.Error()}, a.CommandTexts(f.Recipe)...)
		view.Notices = append(view.Notices, strings.Join(notice, "; "))
	}
	if h.status == nil {
		return view
	}
	if h.status.Identity != nil {
		view.Status = a.MarkHub(id.Origin + " as " + h.status.Identity.Name)
	} else if err == nil {
		view.Notices = append(view.Notices, "You are not logged in. Press i to log in.")
	}
	unknown := h.status.Unknown()
	for i, p := range h.status.Projects {
		var text strings.Builder
		status.ProjectText(a.PrinterTo(&text), p, unknown)
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		item := &view.Items[i]
		item.State = shortState(p, unknown)
		item.Mark = markOf(p)
		item.Details = lines[1:] // without the name
	}
	return view
}

// shortState says in a few words how a local project compares with the hub.
func shortState(p status.Project, unknown string) string {
	switch {
	case p.Problem != "":
		return "has a problem"
	case p.Project.IsZero():
		return "not created on a hub"
	case !p.Exists && unknown == "":
		return "not on the hub"
	case p.Exists && p.Config == status.None:
		return "no config on the hub"
	}
	return status.ConfigText(p, unknown)
}

// markOf returns the state that a local project's glyph shows.
func markOf(p status.Project) tui.State {
	if p.Problem != "" {
		return tui.Failed
	}
	return map[status.State]tui.State{
		status.Same:       tui.Same,
		status.LocalAhead: tui.Ahead,
		status.HubAhead:   tui.Behind,
		status.Both:       tui.Diverged,
	}[p.Config]
}

// onHub returns the hub project of an item, "" when it has none.
func (h *overview) onHub(item int) string {
	if h.status == nil || h.status.Projects[item].Project.IsZero() {
		return ""
	}
	return h.status.Projects[item].Project.String()
}
