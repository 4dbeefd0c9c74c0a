package app

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/cmd/tool/internal/identity"
	"example.com/projecthub/hubclient"
)

// Identity resolves the identity, once. The login file is read only where it is used: a
// damaged one does not stop a pipeline that has its token. Where nothing can be stored,
// as in a container without a home, there is no login.
func (a *App) Identity() (*identity.Identity, error) {
	if a.id != nil {
		return a.id, nil
	}
	o := identity.Options{Token: a.Token.Value, Origin: a.Origin.Value, EnvFile: a.envOrigin, LookupEnv: a.LookupEnv, Logins: &identity.Logins{}}
	var err error
	if o.Workspace, err = a.WorkspaceHub(); err != nil {
		return nil, err
	}
	if _, err := a.configDir(); err == nil && !o.TokenGiven() {
		if o.Logins, err = a.Logins(); err != nil {
			return nil, err
		}
	}
	a.id, err = identity.Resolve(o)
	return a.id, err
}

// Connect returns the hub, for a command that needs a token.
func (a *App) Connect() (*identity.Hub, error) {
	id, err := a.Identity()
	if err != nil {
		return nil, err
	}
	if err := id.NeedToken(); err != nil {
		return nil, err
	}
	a.warnOfOtherHub(id)
	return a.Reach(id)
}

// ConnectAnyway returns the hub for a command that does without a token too.
func (a *App) ConnectAnyway() (*identity.Hub, error) {
	id, err := a.Identity()
	if err != nil {
		return nil, err
	}
	a.warnOfOtherHub(id)
	return a.Reach(id)
}

// HubOfEnvironment returns the hub of an environment that is not in use. Only a token that
// is stored for it is sent there.
func (a *App) HubOfEnvironment(origin string) (*identity.Hub, error) {
	o := identity.Options{EnvFile: origin, Logins: &identity.Logins{}, LookupEnv: func(string) (string, bool) { return "", false }}
	var err error
	if _, noDir := a.configDir(); noDir == nil {
		if o.Logins, err = a.Logins(); err != nil {
			return nil, err
		}
	}
	id, err := identity.Resolve(o)
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
		UserAgent: "tool/" + cmdline.Version(Version), Timeout: a.Timeout, Roots: roots, AllowHTTP: a.Getenv("TOOL_ALLOW_HTTP") == "1",
		Before:       func() func() { return a.waitFor(id.Origin) },
		TokenExpires: func(end time.Time) { a.expiring.note(id, end) },
	}
	if a.Verbose {
		opts.Trace = a.trace
	}
	if !a.JSON {
		opts.Waiting = a.waiting
	}
	return id.Connect(opts)
}

// waitFor shows that the hub is waited for, until answered is called.
func (a *App) waitFor(hub string) (answered func()) {
	if a.JSON {
		return func() {}
	}
	return a.UI.WaitFor(hub, a.watched())
}

// waiting says why nothing happens: below what is going on, if that is on the terminal.
func (a *App) waiting(err *hubclient.Error, until time.Time) {
	text := fmt.Sprintf("%v; trying again until %s", err, until.Format(time.TimeOnly))
	if !a.UI.Note(text) && !a.UI.Drawing() {
		a.Warn(text)
	}
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

// trace shows one call to the hub, never a header or a body.
func (a *App) trace(t hubclient.Attempt) {
	status := "no answer"
	if t.Status != 0 {
		status = fmt.Sprint(t.Status)
	}
	a.Diagnose("%s %s %s %v %s", t.Method, t.Path, status, t.Took.Round(time.Millisecond), t.RequestID)
}

// Logins reads the login file, once.
func (a *App) Logins() (*identity.Logins, error) {
	if a.loaded != nil {
		return a.loaded, nil
	}
	dir, err := a.configDir()
	if err != nil {
		return nil, err
	}
	if a.loaded, err = identity.LoadLogins(dir); err != nil {
		return nil, err
	}
	if warning := a.loaded.Warning(); warning != "" {
		a.Warn(warning)
	}
	return a.loaded, nil
}

// LoggedIn returns the login that is in use, the zero Login for none. What is wrong with
// the login file is told where a login is needed.
func (a *App) LoggedIn() identity.Login {
	logins, err := a.Logins()
	if err != nil {
		return identity.Login{}
	}
	origin := logins.Current
	if hub, err := a.WorkspaceHub(); err == nil && hub != "" {
		origin = hub
	}
	login, _ := logins.Find(origin)
	return login
}

// KnownHub returns the origin of the workspace's hub, else that of the login in use; "" for
// none.
func (a *App) KnownHub() string {
	if hub, err := a.WorkspaceHub(); err == nil && hub != "" {
		return hub
	}
	return a.LoggedIn().Origin
}
