package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/projecthub/cmd/tool/internal/command/project"

	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/command/create"
	"example.com/projecthub/cmd/tool/internal/command/login"
	"example.com/projecthub/cmd/tool/internal/command/publish"
	"example.com/projecthub/cmd/tool/internal/command/pull"
	"example.com/projecthub/cmd/tool/internal/command/push"
	"example.com/projecthub/cmd/tool/internal/command/status"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/prompts"
	"example.com/projecthub/tui"
)

// What can be done from the home view. Each is a command of its own.
var (
	pushAction    = prompts.Action{Key: "p", Does: "push"}
	filesAction   = prompts.Action{Key: "f", Does: "push with files"}
	pullAction    = prompts.Action{Key: "l", Does: "pull"}
	publishAction = prompts.Action{Key: "u", Does: "publish"}
	createAction  = prompts.Action{Key: "c", Does: "create", Alone: true}
	openAction    = prompts.Action{Key: "o", Does: "page"}
	loginAction   = prompts.Action{Key: "i", Does: "log in", Alone: true}

	homeActions = []prompts.Action{pushAction, filesAction, pullAction, publishAction, createAction, openAction, loginAction}
)

// home shows the status of the local projects, and runs what the person chooses, until
// they leave. A failure of what was run is reported and ends nothing.
func home(ctx context.Context, a *app.App) (err error) {
	acted := false
	defer func() {
		if err == nil || failure.Of(err).Stage != "" {
			return
		}
		e := failure.Of(failure.At(stageHome, err))
		if acted {
			e.Hint = "what was reported above is done"
		}
		err = failure.Doing(e, "", "show the overview")
	}()
	chosen := 0
	for {
		h := &overview{app: a}
		action, i, err := h.ask(ctx, chosen)
		switch {
		case errors.Is(err, context.Canceled):
			return context.Canceled
		case err != nil:
			return err
		case action == (prompts.Action{}):
			return nil
		}
		name := ""
		if i >= 0 {
			chosen, name = i, h.names[i]
		}
		acted = true
		err = a.Settle(act(ctx, a, action, name, h.project(i)))
		if errors.Is(err, prompts.ErrBack) {
			continue
		}
		if app.IsInterrupted(err) || ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.ReportFailure(err)
		}
		if on, err := pause(ctx, a); err != nil || !on {
			return err
		}
		a.Forget() // a login may have changed them
	}
}

// stageHome is the stage of what ends the home view itself.
const stageHome = "home"

// act runs one action.
func act(ctx context.Context, a *app.App, action prompts.Action, name, hubProject string) (err error) {
	command := map[prompts.Action]string{
		pushAction: "push", filesAction: "push", pullAction: "pull", publishAction: "publish",
		createAction: "project create", openAction: "project view", loginAction: "login",
	}
	defer func(command string, token, origin app.Optional) { // what was answered is for this action alone
		err = failure.At(a.Stage(), err)
		a.Command, a.Token, a.Origin = command, token, origin
		a.UI.AllowBack(false)
	}(a.Command, a.Token, a.Origin)
	a.Command = command[action]
	a.UI.AllowBack(true)
	switch action {
	case pushAction:
		return push.Run(ctx, a, name, push.Options{Ask: true})
	case filesAction:
		return push.Run(ctx, a, name, push.Options{Files: true, Ask: true})
	case pullAction:
		return pull.Run(ctx, a, name, pull.Options{})
	case publishAction:
		return publish.Run(ctx, a, name, publish.Options{})
	case createAction:
		return create.Guided(ctx, a, publishLocal, name)
	case openAction:
		if hubProject == "" {
			return failure.Doing(failure.New(failure.CodeNoDestination, "%s is on no hub yet", name), name, "open the page of %s", name)
		}
		return project.View(ctx, a, hubProject, true)
	}
	return failure.Doing(login.Run(ctx, a, login.Options{}), "", "log in")
}

// pause lets the person read what an action printed, and reports whether
// they go on.
func pause(ctx context.Context, a *app.App) (on bool, err error) {
	err = a.UI.AskBelow(ctx, prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{Title: "And now?", Preset: "on", Choices: []prompts.Choice{{Value: "on", Text: "Back to the overview"}, {Value: "leave", Text: "Quit"}}}
		},
		Take: func(answer string) { on = answer == "on" },
	})
	return on, err
}

// overview finds out what the home view shows.
type overview struct {
	app    *app.App
	names  []string // of the local projects
	status *status.Result
}

// ask shows the view, or asks line by line.
func (h *overview) ask(ctx context.Context, chosen int) (prompts.Action, int, error) {
	doing := "Asking the hub"
	if id, err := h.app.Identity(); err == nil {
		doing = "Asking " + id.Origin
	}
	if !h.app.UI.Plain() {
		return h.app.UI.Home(ctx, doing, h.load, homeActions, chosen)
	}
	return h.askPlain(ctx, doing)
}

// homeTimeout is how long the view waits for a hub that does not answer.
const homeTimeout = 3 * time.Second

// load asks the hub. What keeps it from answering is part of the view.
func (h *overview) load(ctx context.Context) prompts.Home {
	a := h.app
	defer func(t time.Duration) { a.Timeout = t }(a.Timeout)
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
		e := failure.Of(err)
		view.Notices = append(view.Notices, strings.Join(slices.Concat([]string{e.Error()}, a.CommandTexts(e.Recipe)), "; "))
	}
	switch {
	case h.status == nil:
		return view
	case h.status.Identity != nil:
		view.Status = a.MarkHub(id.Origin + " as " + h.status.Identity.Name)
	case err == nil:
		view.Notices = append(view.Notices, "You are not logged in. Press i to log in.")
	}
	for i, p := range h.status.Projects {
		unknown := h.status.Unknown()
		view.Items[i].State, view.Items[i].Details, view.Items[i].Mark = shortState(p, unknown), h.detailsOf(p, unknown), markOf(p)
	}
	return view
}

// shortState says in a few words how a local project compares with the hub.
func shortState(p status.Project, unknown string) string {
	switch {
	case p.Problem != "":
		return "has a problem"
	case p.Project.IsZero():
		return "on no hub yet"
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
	return map[status.State]tui.State{status.Same: tui.Same, status.LocalAhead: tui.Ahead, status.HubAhead: tui.Behind, status.Both: tui.Diverged}[p.Config]
}

// detailsOf returns what status prints of a local project, below its name.
func (h *overview) detailsOf(p status.Project, unknown string) []string {
	var b bytes.Buffer
	status.ProjectText(h.app.PrinterTo(&b), p, unknown)
	_, rest, _ := strings.Cut(strings.TrimRight(b.String(), "\n"), "\n")
	return strings.Split(rest, "\n")
}

// project returns the hub project of an item, "" when it has none.
func (h *overview) project(i int) string {
	if i < 0 || h.status == nil || h.status.Projects[i].Project.IsZero() {
		return ""
	}
	return h.status.Projects[i].Project.String()
}

// askPlain shows the status, then asks what to do and with which project.
func (h *overview) askPlain(ctx context.Context, doing string) (action prompts.Action, item int, err error) {
	var view prompts.Home
	item = -1
	err = h.app.UI.Ask(ctx,
		prompts.Step{
			Doing: doing,
			Load:  func(ctx context.Context) error { view = h.load(ctx); return nil },
			Question: func() prompts.Question {
				s := prompts.Question{Title: "Local projects", Facts: view.Notices, Preset: "q"}
				for _, item := range view.Items {
					s.Facts = append(append(s.Facts, item.Name+": "+item.State), item.Details...)
				}
				for _, a := range homeActions {
					if a.Alone || len(view.Items) > 0 {
						s.Choices = append(s.Choices, prompts.Choice{Value: a.Key, Text: a.Does})
					}
				}
				s.Choices = append(s.Choices, prompts.Choice{Value: "q", Text: "quit"})
				return s
			},
			Take: func(key string) {
				action = prompts.Action{}
				if i := slices.IndexFunc(homeActions, func(a prompts.Action) bool { return a.Key == key }); i >= 0 {
					action = homeActions[i]
				}
			},
		},
		prompts.Step{
			Skip: func() bool { return action == (prompts.Action{}) || action == loginAction || len(view.Items) < 2 },
			Question: func() prompts.Question {
				s := prompts.Question{Title: "Which local project?", Preset: "0"}
				for i, v := range view.Items {
					s.Choices = append(s.Choices, prompts.Choice{Value: fmt.Sprint(i), Text: v.Name})
				}
				return s
			},
			Take: func(answer string) {
				if i, err := strconv.Atoi(answer); err == nil {
					item = i
				}
			},
		})
	if item < 0 && len(view.Items) > 0 {
		item = 0
	}
	return action, item, err
}
