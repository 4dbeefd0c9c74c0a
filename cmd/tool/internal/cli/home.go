package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/command/create"
	"example.com/projecthub/cmd/tool/internal/command/diff"
	"example.com/projecthub/cmd/tool/internal/command/history"
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

// homeActions are what can be done from the home view. Most are commands of their own.
var homeActions = []prompts.Action{
	{Key: "p", Does: "push"},
	{Key: "l", Does: "pull"},
	{Key: "d", Does: "difference"},
	{Key: "h", Does: "history"},
	{Key: "e", Does: "environment"},
	{Key: "f", Does: "push with files", More: true},
	{Key: "u", Does: "publish", More: true},
	{Key: "o", Does: "open the page", More: true},
	{Key: "c", Does: "create", More: true, Alone: true},
	{Key: "i", Does: "log in", More: true, Alone: true},
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
	view := prompts.Overview{Actions: homeActions}
	for {
		h := &overview{app: a}
		view.Doing = "Asking the hub"
		if id, err := a.Identity(); err == nil {
			view.Doing = "Asking " + id.Origin
		}
		view.Load = h.load
		action, item, err := a.UI.Home(ctx, view)
		if err != nil || action == (prompts.Action{}) {
			return err
		}
		local, onHub := "", ""
		if item >= 0 { // else the action is about no local project
			view.Chosen = item
			local, onHub = h.names[item], h.onHub(item)
		}
		acted = true
		err = act(ctx, a, action.Key, local, onHub)
		declined := errors.Is(err, app.ErrDeclined)
		err = a.Settle(err)
		view.Said = prompts.Said{State: tui.Done, Text: a.Said()}
		if declined {
			view.Said.State = tui.None
		}
		if id, err := a.Identity(); err == nil && action.Key == "o" {
			view.Said.Text = "The page of " + local + " is " + id.Origin + "/" + onHub
		}
		switch {
		case errors.Is(err, prompts.ErrBack):
			continue
		case app.IsInterrupted(err) || ctx.Err() != nil:
			return err
		case err != nil:
			a.ReportFailure(err)
			f := failure.Of(err)
			what := append([]string{f.Action + ": " + f.Error()}, a.CommandTexts(f.Recipe)...)
			view.Said = prompts.Said{State: tui.Failed, Text: strings.Join(what, "; ")}
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
	case "d":
		a.Command = "diff"
		return read(ctx, a, "Difference of "+local, func() error { return diff.Run(ctx, a, local) })
	case "h":
		a.Command = "log"
		return read(ctx, a, "History of "+local, func() error { return history.Run(ctx, a, local) })
	case "e":
		a.NextEnvironment()
		return nil
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

// read shows what a command prints, until the person leaves it.
func read(ctx context.Context, a *app.App, title string, command func() error) error {
	var text strings.Builder
	streams := a.Streams
	a.Streams.Out, a.Streams.Screen = &text, nil
	err := command()
	a.Streams = streams
	a.Said() // it is shown whole
	if err != nil {
		return err
	}
	return a.UI.Read(ctx, title, strings.Split(strings.TrimRight(text.String(), "\n"), "\n"))
}

// overview finds out what the home view shows.
type overview struct {
	app    *app.App
	names  []string       // of the local projects
	status *status.Result // nil: the hub was not asked, or did not answer
}

// homeTimeout is how long the view waits for a hub that does not answer.
const homeTimeout = 3 * time.Second

// load asks the hub. Why it cannot be asked is a notice of the view.
func (h *overview) load(ctx context.Context) prompts.Home {
	a := h.app
	defer func(given time.Duration) { a.Timeout = given }(a.Timeout) // the actions may wait longer
	a.Timeout = min(a.Timeout, homeTimeout)
	view := prompts.Home{Status: "tool"}
	locals, err := a.Locals(ctx, "")
	if err != nil {
		view.Notices = []prompts.Said{{State: tui.Failed, Text: err.Error()}}
		return view
	}
	h.names = nil
	for _, l := range locals {
		h.names = append(h.names, l.Name)
		view.Items = append(view.Items, prompts.Item{Name: l.Name})
	}
	id, err := a.Identity()
	if err == nil {
		view.Status = a.StatusLine()
		h.status, err = status.Look(ctx, a, locals)
	}
	if err != nil {
		f := failure.Of(err)
		notice := append([]string{f.Error()}, a.CommandTexts(f.Recipe)...)
		view.Notices = []prompts.Said{{State: tui.Failed, Text: strings.Join(notice, "; ")}}
	}
	if h.status == nil {
		return view
	}
	if h.status.Identity != nil {
		view.Status = a.MarkHub(id.Origin + " as " + h.status.Identity.Name)
	} else if err == nil {
		view.Notices = []prompts.Said{{Text: "You are not logged in. Press i to log in."}}
	}
	unknown := h.status.Unknown()
	for i, p := range h.status.Projects {
		var text strings.Builder
		status.ProjectText(a.PrinterTo(&text), p, unknown)
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		item := &view.Items[i]
		item.State = shortState(p, unknown)
		item.Mark = markOf(p)
		item.Next = next(p, unknown)
		item.Off = off(a, p, unknown)
		item.Details = lines[1:] // without the name
	}
	return view
}

// next says what a local project needs next, "" for nothing.
func next(p status.Project, unknown string) string {
	switch {
	case p.Problem != "":
		return "correct its files"
	case p.Project.IsZero():
		return "create it: press c"
	case !p.Exists && unknown == "":
		return "create it, or ask for access"
	case !p.Exists:
		return ""
	}
	switch p.Config {
	case status.LocalAhead:
		return "push your changes: press p"
	case status.HubAhead:
		return "pull theirs: press l"
	case status.Both:
		return "merge theirs: press l, then p"
	case status.Differs:
		return "see what differs: press d"
	case status.None:
		return "push the first config: press p"
	}
	if !p.StackHidden && semver.Compare("v"+p.StackVersion, "v"+p.StackPublished) > 0 {
		return "publish " + p.StackVersion + ": press u"
	}
	return ""
}

// off says which actions are disabled for a local project, and why.
func off(a *app.App, p status.Project, unknown string) map[string]string {
	off := map[string]string{}
	if len(a.Environments()) == 0 {
		init := cmdline.Tool("init").With(p.ProjectName).Flag("--env", "staging")
		off["e"] = "there is no environment yet; to add one: " + a.CommandText(init)
	}
	switch {
	case p.Project.IsZero():
		for _, key := range []string{"p", "f", "l", "d", "h", "o"} {
			off[key] = p.ProjectName + " has not been created on a hub: press c to create it"
		}
	case p.Exists && p.Config == status.Same && p.Problem == "":
		off["p"] = p.ProjectName + " is the same on the hub: there is nothing to push"
		off["l"] = p.ProjectName + " is the same on the hub: there is nothing to pull"
		off["d"] = p.ProjectName + " is the same on the hub"
	case p.Exists && unknown == "" && !p.Authorized:
		off["p"] = "you may not push to " + p.Project.String()
		off["f"] = off["p"]
	}
	return off
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
