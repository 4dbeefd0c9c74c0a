package app

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/cmd/tool/internal/state"
	"example.com/projecthub/cmd/tool/internal/term"
	"example.com/projecthub/cmd/tool/internal/workspace"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/version"
	"example.com/projecthub/prompts"
)

// Identity resolves the identity, once.
func (a *App) Identity() (*identity.Identity, error) {
	if a.id != nil {
		return a.id, nil
	}
	hub, err := a.WorkspaceHub()
	if err != nil {
		return nil, err
	}
	a.id, err = a.resolve(identity.Options{
		Token: a.Token.Value, Origin: a.Origin.Value, EnvFile: a.env.origin, Workspace: hub, LookupEnv: a.LookupEnv,
	})
	return a.id, err
}

// resolve resolves an identity. The login file is read only where it is used: a damaged one
// does not stop a pipeline that has its token. Where nothing can be stored, as in a container
// without a home, there is no login.
func (a *App) resolve(o identity.Options) (_ *identity.Identity, err error) {
	o.Logins = &identity.Logins{}
	_, noDir := a.configDir()
	if noDir == nil && !o.TokenGiven() {
		if o.Logins, err = a.Logins(); err != nil {
			return nil, err
		}
	}
	return identity.Resolve(o)
}

// Forget drops the identity: a command of the home view may have changed it.
func (a *App) Forget() { a.id, a.logins, a.hub = nil, nil, nil }

// Logins reads the login file, once.
func (a *App) Logins() (*identity.Logins, error) {
	if a.logins != nil {
		return a.logins, nil
	}
	dir, err := a.configDir()
	if err != nil {
		return nil, err
	}
	if a.logins, err = identity.LoadLogins(dir); err != nil {
		return nil, err
	}
	if warning := a.logins.Warning(); warning != "" {
		a.Warn(warning)
	}
	return a.logins, nil
}

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

// LoggedIn returns the login that is in use, the zero Login for none. Errors in the login file or
// hub.json are reported where they are needed.
func (a *App) LoggedIn() (login identity.Login) {
	if logins, err := a.Logins(); err == nil {
		hub, _ := a.WorkspaceHub()
		login, _ = logins.Find(cmp.Or(hub, logins.Current))
	}
	return login
}

// KnownHub returns the origin of the workspace's hub, else that of the login in use; "" for
// none.
func (a *App) KnownHub() string {
	hub, _ := a.WorkspaceHub()
	return cmp.Or(hub, a.LoggedIn().Origin)
}

// StatusLine names the hub and the identity, "" while a login chooses them.
func (a *App) StatusLine() string {
	id, err := a.Identity()
	if err != nil || a.Command == "login" {
		return ""
	}
	line := id.Origin
	switch {
	case id.User != "":
		line += " as " + id.User
	case id.Token == "":
		line += ", not logged in"
	}
	return a.MarkHub(line)
}

// MarkHub puts the environment in use, if any, before a line that names the hub, and marks a hub
// that is not the workspace's.
func (a *App) MarkHub(line string) string {
	if a.InEnvironment() {
		line = a.env.name + ": " + line
	}
	if id, err := a.Identity(); err == nil && id.UsesOtherHub() {
		return "! other hub: " + line
	}
	return line
}

// ConnectTo returns the hub, for a command that needs a token. If it writes, a person is asked
// first whether to use a hub that is not the workspace's.
func (a *App) ConnectTo(ctx context.Context, writes bool) (*identity.Hub, error) {
	id, err := a.Identity()
	if err == nil {
		err = id.NeedToken()
	}
	if err == nil && writes {
		err = a.confirmHub(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return a.ConnectAnyway()
}

// confirmHub asks a person whether to use a hub that is not the workspace's.
func (a *App) confirmHub(ctx context.Context, id *identity.Identity) error {
	if !id.UsesOtherHub() || a.Strict() || id.Origin == a.agreedHub {
		return nil
	}
	err := Agreed(a.UI.Confirm(ctx, prompts.YesNo{
		Title: "Use another hub than the workspace's?",
		Facts: []string{
			fmt.Sprintf("Hub        %s (%s)", id.Origin, id.OriginSource.Phrase()),
			fmt.Sprintf("Workspace  %s (%s)", id.Workspace, workspace.HubFile),
		},
		Yes: "Use it",
	}))
	if err == nil {
		a.agreedHub = id.Origin
	}
	return err
}

// ConnectAnyway returns the hub for a command that works without a token too. It warns, once,
// of a hub that is not the workspace's, which the home view shows instead.
func (a *App) ConnectAnyway() (*identity.Hub, error) {
	id, err := a.Identity()
	if err != nil {
		return nil, err
	}
	knows := id.Origin == a.warnedHub || id.Origin == a.agreedHub
	isHome := a.Command == ""
	if id.UsesOtherHub() && !knows && !isHome {
		a.warnedHub = id.Origin
		a.Warn(fmt.Sprintf("%s (%s) is not the hub of this workspace, which is %s",
			id.Origin, id.OriginSource.Phrase(), id.Workspace))
	}
	return a.Reach(id)
}

// HubOfEnvironment returns the hub of an environment that is not in use. Only a token that
// is stored for it is sent there.
func (a *App) HubOfEnvironment(origin string) (*identity.Hub, error) {
	none := func(string) (string, bool) { return "", false }
	id, err := a.resolve(identity.Options{EnvFile: origin, LookupEnv: none})
	if err != nil {
		return nil, err
	}
	return a.Reach(id)
}

// Reach returns the hub of an identity.
func (a *App) Reach(id *identity.Identity) (*identity.Hub, error) {
	roots, err := a.roots()
	if err != nil {
		return nil, err
	}
	opts := hubclient.Options{
		UserAgent: "tool/" + cmdline.Version(Version), Timeout: a.Timeout, Roots: roots,
		AllowHTTP: a.Getenv("TOOL_ALLOW_HTTP") == "1",
	}
	wantsNotices := a.watched() && a.Getenv("TOOL_NO_UPDATE_NOTICE") != "1"
	opts.Trace = func(t hubclient.Attempt) {
		if ExpiresSoon(&t.TokenExpires) && time.Until(t.TokenExpires) > 0 {
			a.expiring.Store(&expiring{id: id, end: t.TokenExpires})
		}
		if wantsNotices {
			a.noteVersion(id.Origin, t.HubVersion)
		}
		if a.Verbose {
			a.trace(t)
		}
	}
	if !a.JSON {
		opts.Before = func() func() { return a.UI.WaitFor(id.Origin, a.watched()) }
		opts.Waiting = a.waiting
	}
	return id.Connect(opts)
}

// waiting says why nothing happens: below what is going on, if that is on the terminal.
func (a *App) waiting(err *hubclient.Error, until time.Time) {
	text := fmt.Sprintf("%v; trying again until %s", err, until.Format(time.TimeOnly))
	if !a.UI.Note(text) && !a.UI.Drawing() {
		a.Warn(text)
	}
}

// trace shows one call to the hub, never a header or a body.
func (a *App) trace(t hubclient.Attempt) {
	status := "no answer"
	if t.Status != 0 {
		status = fmt.Sprint(t.Status)
	}
	a.Diagnose("%s %s %s %v %s", t.Method, t.Path, status, t.Took.Round(time.Millisecond), t.RequestID)
}

// roots returns the certificates to trust: the system's and those of TOOL_CA_FILE.
func (a *App) roots() (*x509.CertPool, error) {
	file := a.Getenv("TOOL_CA_FILE")
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, failure.New(failure.CodeInvalidFile, "TOOL_CA_FILE: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, failure.New(failure.CodeInvalidFile, "TOOL_CA_FILE: %s holds no certificate in PEM form", file)
	}
	return pool, nil
}

// RecordHub records origin as the workspace's hub if it has none, and returns notes. It does not record the hub of
// an environment.
func (a *App) RecordHub(local *workspace.Project, origin string) []string {
	hub, err := a.WorkspaceHub()
	if err != nil || hub != "" || a.env.origin != "" {
		return nil
	}
	written, err := local.Workspace.RecordHub(origin, true)
	a.hub = nil     // it is read again
	if err != nil { // only a note: a pipeline may run from files that it cannot write
		return []string{"the hub could not be recorded: " + err.Error()}
	}
	if written {
		return []string{fmt.Sprintf("the hub was recorded in %s as this workspace's", workspace.HubFile)}
	}
	return nil
}

// expiring is the identity with a token that was used and expires soon, at end.
type expiring struct {
	id  *identity.Identity
	end time.Time
}

// expiresSoon is how long before its end a token expires soon.
const expiresSoon = 14 * 24 * time.Hour

// ExpiresSoon reports whether a token that expires at end, nil for never, should be replaced.
func ExpiresSoon(end *time.Time) bool { return end != nil && time.Until(*end) < expiresSoon }

// warnOfExpiry warns, once a day, that the token in use expires soon, and says how to get
// another one. A login asks for another one, and prints when that expires.
func (a *App) warnOfExpiry() {
	soon := a.expiring.Swap(nil)
	if soon == nil || a.Command == "login" {
		return
	}
	id := soon.id
	advice := fmt.Sprintf("create another one at %s/tokens, or for a bot with tool bot token", id.Origin)
	if id.TokenSource == identity.FromLogin {
		logins, err := a.Logins()
		if err != nil {
			return
		}
		if login, _ := logins.Find(id.Origin); login.Token != id.Token {
			return // it was forgotten or replaced
		}
		advice = "to get another one: " + a.CommandText(cmdline.Tool("login").Flag("--origin", id.Origin))
	}
	if state.Due(string(a.State()), pat.ID(id.Token), 24*time.Hour) {
		a.Warn(fmt.Sprintf("the token of %s expires on %s; %s", id.TokenPlace(), Time(soon.end), advice))
	}
}

// OpenPage opens a page of a hub in a browser, signed in with the caller's rights. It prints
// the address and, unless a browser was opened for sure, a link for one elsewhere, which works
// once.
func (a *App) OpenPage(ctx context.Context, hub *identity.Hub, address string) error {
	out := a.Printer()
	out.Line("The page is %s", address)
	link, signsIn := address, false // without a link that signs in, the page itself is opened
	if page, err := url.Parse(address); err == nil && hub.Identity.Token != "" {
		if created, err := hub.CreateLink(ctx, page.Path); err == nil {
			link, signsIn = created.URL, true
		}
	}
	opened, err := term.OpenBrowser(a.Getenv, hub.Origin(), link)
	switch {
	case opened:
		out.Line("Opened it in a browser")
		return out.Err()
	case errors.Is(err, term.ErrNoBrowser):
		out.Line("No browser could be started from here")
	case err != nil:
		return Explain(hub, err)
	}
	if signsIn {
		out.Line("This link signs you in, once and within a minute:")
		out.Line("  %s", link)
	}
	return out.Err()
}

// newerHub is a hub of a later release than this program.
type newerHub struct{ origin, version string }

// noteVersion remembers the version of a hub that answered, if it is a later release than this
// program, which must be of a release itself.
func (a *App) noteVersion(origin, hub string) {
	own := cmdline.Version(Version)
	isDevelopment := strings.HasPrefix(own, "0.0.0-") || !version.Valid(own)
	isRelease := version.Valid(hub) && !version.IsPrerelease(hub)
	if !isDevelopment && isRelease && version.Compare(own, hub) < 0 {
		a.newer.Store(&newerHub{origin, hub})
	}
}

// noticeUpdate says, once a day and hub, that the hub is of a later release.
func (a *App) noticeUpdate() {
	newer := a.newer.Swap(nil)
	if newer == nil {
		return
	}
	if state.Due(string(a.State()), state.NameOf("update "+newer.origin), 24*time.Hour) {
		a.Diagnose("note: %s is of release %s, and this is tool %s; "+
			"to update it: go install example.com/projecthub/cmd/tool@v%s",
			newer.origin, newer.version, cmdline.Version(Version), newer.version)
	}
}
