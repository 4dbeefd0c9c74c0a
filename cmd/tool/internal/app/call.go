package app

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/maruel/natural"
	"github.com/spf13/cobra"

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
	StageWrite       = "write"
	StagePublish     = "publish"
	StageEdit        = "edit"
	StageRemove      = "rm"
)

// Action describes what a command does on a hub, for its failures.
type Action struct {
	Doing  string // such as: list the members of acme
	Stage  string // "": the command's
	Writes bool   // a person is asked before another hub than the workspace's is used
	Anyone bool   // works without a token, too

	Local   string  // name of the local project, "" for none
	Project ref.Ref // on the hub; zero: none

	Next cmdline.Line // the next command after not_found and last_admin; zero: none
}

// Call connects to the hub, does the action, and prints its result, unless that is nil.
func (a *App) Call(ctx context.Context, act Action, do func(hub *identity.Hub) (Result, error)) error {
	var hub *identity.Hub
	var err error
	if act.Anyone {
		hub, err = a.ConnectAnyway()
	} else {
		hub, err = a.ConnectTo(ctx, act.Writes)
	}
	if err != nil {
		return act.fail(nil, err)
	}
	r, err := do(hub)
	if err != nil {
		return act.fail(hub, err)
	}
	if r == nil {
		return nil
	}
	if r, ok := r.(interface{ answeredBy(origin string) }); ok {
		r.answeredBy(hub.Origin())
	}
	return failure.Doing(a.Show(r), act.Local, "%s", act.Doing)
}

// fail says what failed, unless err does, and adds the next command.
func (act *Action) fail(hub *identity.Hub, err error) error {
	f := Explain(hub, err).At(act.Stage)
	f.Local, f.Project = act.Local, act.Project
	f.Action = cmp.Or(f.Action, act.Doing)
	nextHelps := f.Code == wire.CodeNotFound || f.Code == wire.CodeLastAdmin
	if nextHelps && f.Recipe == nil && act.Next.Program != "" {
		f = f.WithRecipe(OrRestore(err, act.Project, act.Next))
	}
	return f
}

// ErrDeclined ends a command after the user answered no. [App.Settle] reports it as aborted.
var ErrDeclined = errors.New("the question was answered by no")

// ConfirmRef asks the user to type r before it is deleted, unless force is set or nothing may be asked.
func (a *App) ConfirmRef(ctx context.Context, force bool, title, fact string, r ref.Ref) error {
	if force || a.Strict() {
		return nil
	}
	return Agreed(a.UI.TypeRef(ctx, title, fact, r))
}

// Agreed turns the answer to a question into an error: ErrDeclined for no.
func Agreed(yes bool, err error) error {
	if err == nil && !yes {
		return ErrDeclined
	}
	return err
}

// aborted is the result of a command whose question was answered by no.
type aborted struct {
	ProjectName string  `json:"projectName"`
	Project     ref.Ref `json:"project,omitzero"`
	Origin      string  `json:"origin,omitzero"`
	Done        string  `json:"-"` // what was changed before, "": nothing
}

func (*aborted) Kind() string      { return "aborted" }
func (r *aborted) Effect() string  { return cmp.Or(r.Done, "nothing was changed") }
func (r *aborted) Text(w *Printer) { w.Line("Aborted: %s", r.Effect()) }

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

// IsRefused reports whether the hub answered with a 4xx status other than 429.
func IsRefused(err error) bool {
	e, ok := errors.AsType[*hubclient.Error](err)
	if !ok || e.Status == http.StatusTooManyRequests {
		return false
	}
	return http.StatusBadRequest <= e.Status && e.Status < http.StatusInternalServerError
}

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

// List is a command that lists what an account has on the hub.
type List struct {
	Name  string // of the parent command, such as api
	Short string
	// Find returns what is listed, in the listing.
	Find func(ctx context.Context, hub *identity.Hub, l Listing) (Result, error)

	Heading string // what is listed, in words, such as APIs
}

// Listing is the part of a result that lists what an account has.
type Listing struct {
	OnHub   `json:",inline"`
	Account string `json:"account,omitzero"` // "": all of the caller's

	Heading string     `json:"-"`
	Rows    [][]string `json:"-"`
}

// Row adds a line to the text.
func (l *Listing) Row(cells ...string) { l.Rows = append(l.Rows, cells) }

// Text writes the rows in natural order: web-2 before web-10.
func (l *Listing) Text(w *Printer) {
	if len(l.Rows) == 0 {
		w.Line("No %s that you can see on %s", strings.TrimSuffix(l.Heading+" of "+l.Account, " of "), l.Origin)
	}
	slices.SortStableFunc(l.Rows, func(a, b []string) int { return natural.Compare(a[0], b[0]) })
	w.Columns(l.Rows, nil)
}

// ParseAccount returns the name of an account that is typed with or without the @. what is the kind of account,
// such as: an org.
func ParseAccount(typed, what string) (string, error) {
	name := strings.TrimPrefix(typed, "@")
	if !ref.ValidName(name) {
		return "", cmdline.Usagef("%q is not %s: an account is %s", typed, what, ref.Rule)
	}
	return name, nil
}

// ListCommand returns the command list.
func (a *App) ListCommand(l *List) *cobra.Command {
	return a.HubFlags(&cobra.Command{
		Use:     "list [<account>]",
		Aliases: []string{"ls"},
		Short:   l.Short,
		Example: "  tool " + l.Name + " list\n  tool " + l.Name + " list acme",
		Args:    cmdline.AtMost("<account>"),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			account := strings.Join(args, "")
			if account != "" { // as an unset variable of a script leaves it
				var err error
				if account, err = ParseAccount(account, "an account"); err != nil {
					return err
				}
			}
			return a.Call(ctx, Action{Doing: "list " + l.Heading}, func(hub *identity.Hub) (Result, error) {
				return l.Find(ctx, hub, Listing{Account: account, Heading: l.Heading})
			})
		}),
	})
}
