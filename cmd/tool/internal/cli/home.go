package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/flow"
	"example.com/projecthub/cmd/tool/internal/flow/status"
	"example.com/projecthub/hubclient/wire"
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

// home shows how the local projects stand, and runs what the person chooses, until
// they leave. A failure of what was run is reported and ends nothing.
func (a *app) home(ctx context.Context) (err error) {
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
		case errors.Is(err, tui.ErrInterrupted):
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
		err = a.act(ctx, action, name, h.project(i))
		if errors.Is(err, prompts.ErrBack) {
			continue
		}
		if flow.IsInterrupted(err) || ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.reportFailure(err)
		}
		if on, err := a.pauseAtHome(ctx); err != nil || !on {
			return err
		}
		a.id, a.loaded = nil, nil // a login may have changed them
	}
}

// stageHome is the stage of what ends the home view itself.
const stageHome = "home"

// act runs one action.
func (a *app) act(ctx context.Context, action prompts.Action, name, project string) (err error) {
	command := map[prompts.Action]string{
		pushAction: "push", filesAction: "push", pullAction: "pull", publishAction: "publish",
		createAction: "project create", openAction: "project view", loginAction: "login",
	}
	defer func(command string, token, origin optional) { // what was answered is for this action alone
		err = failure.At(a.stage(), err)
		a.command, a.token, a.origin, a.acting = command, token, origin, false
	}(a.command, a.token, a.origin)
	a.command, a.acting = command[action], true
	switch action {
	case pushAction:
		return a.push(ctx, name, pushFlags{ask: true})
	case filesAction:
		return a.push(ctx, name, pushFlags{files: true, ask: true})
	case pullAction:
		return a.pull(ctx, name, pullFlags{})
	case publishAction:
		return a.publish(ctx, name, false, false)
	case createAction:
		return a.createGuided(ctx, createFlags{
			from: name, stackVersion: wire.Latest, visibility: string(wire.Private), given: func(string) bool { return false },
		})
	case openAction:
		if project == "" {
			return failure.Doing(failure.New(failure.CodeNoDestination, "%s is on no hub yet", name), name, "open the page of %s", name)
		}
		return a.viewProject(ctx, project, true)
	}
	return failure.Doing(a.login(ctx, false), "", "log in")
}

// pauseAtHome lets the person read what an action printed, and reports whether
// they go on.
func (a *app) pauseAtHome(ctx context.Context) (on bool, err error) {
	err = a.prompter().AskBelow(ctx, prompts.Step{
		Question: func() prompts.Question {
			return prompts.Question{Title: "And now?", Preset: "on", Choices: []prompts.Choice{{Value: "on", Text: "Back to the overview"}, {Value: "leave", Text: "Leave"}}}
		},
		Take: func(answer string) { on = answer == "on" },
	})
	if errors.Is(err, tui.ErrInterrupted) {
		err = context.Canceled
	}
	return on, err
}

// overview finds out what the home view shows.
type overview struct {
	*app
	names  []string // of the local projects
	status *status.Result
}

// ask shows the view, or asks line by line.
func (h *overview) ask(ctx context.Context, chosen int) (prompts.Action, int, error) {
	doing := "Asking the hub"
	if id, err := h.resolve(); err == nil {
		doing = "Asking " + id.Origin
	}
	if !h.terminal().Plain {
		return h.prompter().Home(ctx, doing, h.load, homeActions, chosen)
	}
	return h.askPlain(ctx, doing)
}

// homeTimeout is how long the view waits for a hub that does not answer.
const homeTimeout = 3 * time.Second

// load asks the hub. What keeps it from answering is part of the view.
func (h *overview) load(ctx context.Context) prompts.Home {
	defer func(t time.Duration) { h.timeout = t }(h.timeout)
	h.timeout, h.drawing = min(h.timeout, homeTimeout), !h.terminal().Plain
	defer func() { h.drawing = false }()
	view := prompts.Home{Title: "tool"}
	locals, err := h.locals(ctx, "")
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
		view.Notices = []string{"There is no local project here: c makes one."}
	}
	id, err := h.resolve()
	if err == nil {
		view.Title = "tool, at " + id.Origin
		h.status, err = status.Run(ctx, status.Options{Locals: locals, Identity: id, Connect: h.connectAnyway, Revisions: h.revisions(), Typed: h.typed})
	}
	if err != nil {
		e := failure.Of(err)
		view.Notices = append(view.Notices, strings.Join(slices.Concat([]string{e.Error()}, h.typedLines(e.Recipe)), "; "))
		return view
	}
	if who := h.status.Identity; who != nil {
		view.Title += ", as " + who.Name
	} else {
		view.Notices = append(view.Notices, "Nobody is logged in: i logs in.")
	}
	for i, p := range h.status.Projects {
		view.Items[i].State, view.Items[i].Details = shortState(p, h.status.Identity != nil), h.detailsOf(p, h.status.Identity != nil)
	}
	return view
}

// shortState says in a few words how a local project stands.
func shortState(p status.Project, loggedIn bool) string {
	switch {
	case p.Problem != "":
		return "has a problem"
	case p.Project.IsZero():
		return "on no hub yet"
	case !p.Exists && !loggedIn:
		return unknown
	case !p.Exists:
		return "not on the hub"
	case p.Config == status.None:
		return "no config on the hub"
	}
	return stateText(p.Config)
}

// detailsOf returns what status prints of a local project, below its name.
func (a *app) detailsOf(p status.Project, loggedIn bool) []string {
	var b bytes.Buffer
	projectText(&printer{w: &b, typed: a.typed}, p, loggedIn)
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

// askPlain says how things stand, then asks what to do, and to what.
func (h *overview) askPlain(ctx context.Context, doing string) (action prompts.Action, item int, err error) {
	var view prompts.Home
	item = -1
	err = h.converse(ctx,
		prompts.Step{
			Doing: doing,
			Load:  func(ctx context.Context) error { view = h.load(ctx); return nil },
			Question: func() prompts.Question {
				s := prompts.Question{Title: view.Title, Facts: view.Notices, Preset: "q"}
				for _, item := range view.Items {
					s.Facts = append(append(s.Facts, item.Name+": "+item.State), item.Details...)
				}
				for _, a := range homeActions {
					if a.Alone || len(view.Items) > 0 {
						s.Choices = append(s.Choices, prompts.Choice{Value: a.Key, Text: a.Does})
					}
				}
				s.Choices = append(s.Choices, prompts.Choice{Value: "q", Text: "leave"})
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
			Take: func(answer string) { fmt.Sscan(answer, &item) },
		})
	if item < 0 && len(view.Items) > 0 {
		item = 0
	}
	return action, item, err
}
