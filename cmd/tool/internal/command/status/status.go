// Package status shows the login, the hub, and how local projects compare with the hub.
package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/app"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient/ref"
	"example.com/projecthub/hubclient/wire"
	"example.com/projecthub/tui"
)

// Result is a status.
type Result struct {
	Identity     *Identity       `json:"identity"` // null: no token
	Origin       string          `json:"origin"`
	OriginSource identity.Source `json:"originSource"`
	Logins       []Login         `json:"logins"` // that are stored for other hubs
	Projects     []Project       `json:"projects"`
	Notes        []string        `json:"notes"`

	failed bool // the hub could not be queried, and Projects are what is known without it
}

// Identity is the user or bot of the token.
type Identity struct {
	Name        string          `json:"name"`  // user or bot
	Token       string          `json:"token"` // its first characters
	TokenSource identity.Source `json:"tokenSource"`
	TokenName   string          `json:"tokenName"`
	Scopes      []wire.Scope    `json:"scopes"`
	ExpiresAt   *time.Time      `json:"expiresAt"` // null: never

	Restriction wire.Restriction `json:"restriction,omitzero"` // of the token
}

// Login is a token that is stored for another hub.
type Login struct {
	Origin    string     `json:"origin"`
	User      string     `json:"user"`
	ExpiresAt *time.Time `json:"expiresAt"` // null: never
}

// Project is how a local project compares with the hub.
type Project struct {
	ProjectName       string  `json:"projectName"`
	Env               string  `json:"environment,omitzero"`
	Origin            string  `json:"origin,omitzero"`  // of the environment's hub; "": that of the status
	Project           ref.Ref `json:"project,omitzero"` // its destination
	DestinationSource string  `json:"destinationSource,omitzero"`
	RenamedTo         ref.Ref `json:"renamedTo,omitzero"` // the present name of its destination, if it was renamed
	Exists            bool    `json:"exists"`             // on the hub, as far as the caller sees
	Deleted           bool    `json:"deleted,omitzero"`   // it was, and the caller can restore it
	Authorized        bool    `json:"authorized"`
	Config            State   `json:"config"`
	Stack             ref.Ref `json:"stack,omitzero"`
	StackVersion      string  `json:"stackVersion,omitzero"`   // in stack.json
	StackPublished    string  `json:"stackPublished,omitzero"` // newest on the hub
	StackWithdrawn    bool    `json:"stackWithdrawn,omitzero"` // StackPublished was
	StackLatest       string  `json:"stackLatest,omitzero"`    // if so: the version that latest is
	StackHidden       bool    `json:"stackHidden,omitzero"`    // whether it is published is not known

	UsedVersion     string `json:"usedStackVersion,omitzero"` // of the hub project, if it was withdrawn
	UseStackVersion string `json:"useStackVersion,omitzero"`  // instead of that one
	Problem         string `json:"problem,omitzero"`          // what is wrong with its files

	Environments []Project `json:"environments,omitzero"` // how each compares with its hub

	newSlug  string // of a project to create on the hub of an environment
	hub      *hub   // the hub that it is compared with; nil: not known
	settings string // revision of the local settings, "" if they are malformed
	common   string // the revision that the settings and the config once had in common, "" if it is not known
	failed   error  // why the hub of an environment does not show the project
	local    string // without the hub: how the settings compare with the last push or pull
}

// same reports whether the settings of all projects, and of their environments, are the hub's configs.
// A project without a destination is not compared.
func same(projects []Project) bool {
	return !slices.ContainsFunc(projects, func(p Project) bool {
		return p.Config != Same && (!p.Project.IsZero() || p.Problem != "") || !same(p.Environments)
	})
}

// problem adds what is wrong, unless err is nil.
func (p *Project) problem(err error) {
	if err != nil {
		p.Problem = strings.TrimPrefix(p.Problem+"; "+err.Error(), "; ")
	}
}

// State is how local settings compare with the hub's config.
type State string

// The states of local settings compared with the hub's config.
const (
	Same       State = "same"
	Differs    State = "differs" // which side changed is not known
	LocalAhead State = "local-ahead"
	HubAhead   State = "hub-ahead"
	Both       State = "both"
	None       State = "none" // one of the two sides is missing
)

// Command returns the command status.
func Command(a *app.App) *cobra.Command {
	exitCode := false
	c := &cobra.Command{
		Use:   "status [<project>]",
		Short: "Show login, hub and sync status",
		Long: `Show the identity, the hub, the hubs for which other logins are stored, and for
each local project its destination, whether you may push to it, how the settings
compare with the hub's config, and the versions of the stack.

The config is same, differs, local-ahead (changed here), hub-ahead (changed on
the hub), both, or none (nothing to compare). If the hub cannot be queried, what
is known without it is printed on stderr, and the exit code is 1.

With --exit-code it is 3 if the settings of a project or an environment that has
a destination are not the same as the hub's config, or cannot be compared.`,
		Example:           "  tool status\n  tool status web --exit-code",
		Args:              app.MaybeLocal,
		ValidArgsFunction: app.FirstOnly(a.LocalNames),
		RunE: a.Run(func(ctx context.Context, args []string) error {
			name := strings.Join(args, "")
			return failure.Doing(run(ctx, a, name, exitCode), name, "show the status")
		}),
	}
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 3 if a project is not the same as on the hub")
	return a.HubFlags(a.EnvFlag(c))
}

func run(ctx context.Context, a *app.App, name string, exitCode bool) error {
	locals, err := a.Locals(ctx, name)
	if err != nil {
		return err
	}
	r, err := Look(ctx, a, locals)
	if err != nil {
		if r != nil && !a.JSON { // stdout has results alone
			r.Text(a.PrinterTo(a.Streams.Err))
		}
		return err
	}
	if err := a.Show(r); err != nil || !exitCode || same(r.Projects) {
		return err
	}
	return app.ErrDiffers
}

// Kind returns the type of the JSON document.
func (*Result) Kind() string { return "status" }

// Text prints the login, the hub, and each project.
func (r *Result) Text(w *app.Printer) {
	w.Heading("Hub %s (%s)", r.Origin, r.OriginSource.Phrase())
	if id := r.Identity; id != nil {
		w.Field("as", "%s", id.Name)
		w.Field("token", "%s, %s… (%s), %s", id.TokenName, id.Token, id.TokenSource.Phrase(), app.Expiry(id.ExpiresAt))
		w.Field("scopes", "%s", app.Scopes(id.Scopes, id.Restriction))
	}
	for _, login := range r.Logins {
		w.Field("other login", "%s as %s, %s", login.Origin, login.User, app.Expiry(login.ExpiresAt))
	}
	w.Notes(r.Notes)
	for _, v := range r.Projects {
		w.Line("")
		ProjectText(w, v, r.Unknown())
	}
}

// Unknown says why it is not known what the hub has, "" if it is known.
func (r *Result) Unknown() string {
	switch {
	case r.failed:
		return "unknown: the hub could not be queried"
	case r.Identity == nil:
		return untilLogin
	}
	return ""
}

const untilLogin = "unknown until you log in"

// ProjectText prints how a local project compares with the hub.
func ProjectText(w *app.Printer, v Project, unknown string) {
	w.Heading("%s", v.ProjectName)
	w.Environment(v.Env)
	unseen := unseenText(w, v, unknown)
	destination := fmt.Sprintf("%s (%s)", v.Project, v.DestinationSource)
	if !v.RenamedTo.IsZero() {
		destination = fmt.Sprintf("%s, renamed to %s (%s)", v.Project, v.RenamedTo, v.DestinationSource)
	}
	switch {
	case v.Project.IsZero() && v.Problem != "":
		w.Field("destination", "unknown")
	case v.Project.IsZero():
		create := cmdline.Tool("project", "create").With(workspace.SlugOf(v.ProjectName)).Flag("--from", v.ProjectName)
		w.Field("destination", "none: %s", w.Command(create))
	case unseen != "":
		w.Field("destination", "%s, %s", destination, unseen)
	case v.Authorized:
		w.Field("destination", "%s, you may push", destination)
	case unknown != "":
		w.Field("destination", "%s, log in to push", destination)
	default:
		w.Field("destination", "%s, you may not push", destination)
	}
	w.FieldIn(configRole(v), "config", "%s", ConfigText(v, unknown))
	switch {
	case !v.Stack.IsZero():
		w.Field("stack", "%s, here %s, %s", v.Stack, cmp.Or(v.StackVersion, "no version"), publishedStateText(v, unknown))
	case v.StackVersion != "":
		w.Field("stack", "not named yet, here %s: %s", v.StackVersion, w.Command(cmdline.Tool("publish").With(v.ProjectName)))
	}
	if v.UseStackVersion != "" {
		w.Field("withdrawn", "%s, the stack version of %s; to use %s: %s", v.UsedVersion, v.Project, v.UseStackVersion,
			w.Command(cmdline.Tool("project", "edit").With(v.Project.String()).Flag("--stack-version", v.UseStackVersion)))
	}
	if v.Problem != "" {
		w.FieldIn(tui.Warned, "problem", "%s", v.Problem)
	}
	for _, e := range v.Environments {
		w.FieldIn(configRole(e), e.Env, "%s", environmentText(w, e))
	}
}

// unseenText says why the hub does not show the project of v, "" if it does.
func unseenText(w *app.Printer, v Project, unknown string) string {
	switch {
	case v.Exists:
		return ""
	case v.Deleted:
		restore := cmdline.Tool("project", "restore").With(v.Project.String())
		if v.Origin != "" {
			restore = restore.Flag("--origin", v.Origin)
		}
		return "deleted; to restore it: " + w.Command(restore)
	case unknown != "":
		return unknown
	}
	return "not on the hub or not for you"
}

// ConfigText says in a few words how a local project's settings compare with the hub's
// config.
func ConfigText(v Project, unknown string) string {
	switch {
	case v.local != "":
		return v.local
	case !v.Project.IsZero() && !v.Exists && unknown != "":
		return unknown
	case v.Config == LocalAhead:
		return "changed here"
	case v.Config == HubAhead:
		return "changed on the hub"
	case v.Config == Both:
		return "changed here and on the hub"
	}
	return string(v.Config)
}

// configRole returns the role of what ConfigText says.
func configRole(v Project) tui.Role {
	switch v.Config {
	case Same:
		return tui.Added
	case LocalAhead, HubAhead, Both, Differs:
		return tui.Changed
	}
	return tui.Plain
}

func publishedStateText(v Project, unknown string) string {
	switch {
	case v.StackHidden && unknown != "":
		return unknown
	case v.StackHidden:
		return "not published or not for you"
	case v.StackPublished == "":
		return "not published"
	case v.StackWithdrawn:
		return "published " + v.StackPublished + ", withdrawn; latest is " + v.StackLatest
	}
	return "published " + v.StackPublished
}

// environmentText says in one line how an environment compares with its hub.
func environmentText(w *app.Printer, p Project) string {
	text, unknown := "no project yet", ""
	if !p.Project.IsZero() {
		text = p.Project.String()
	}
	if p.Origin != "" {
		text += " on " + p.Origin
	}
	if p.loggedOut() {
		unknown = untilLogin
	}
	switch {
	case p.Problem != "" && p.Project.IsZero():
		return "problem: " + p.Problem
	case p.Problem != "":
		return text + ", problem: " + p.Problem
	case p.Project.IsZero():
		create := cmdline.Tool("project", "create").With(p.newSlug).Flag("--from", p.ProjectName).Flag("--env", p.Env)
		return text + ": " + w.Command(create)
	}
	return text + ", " + cmp.Or(unseenText(w, p, unknown), ConfigText(p, ""))
}
