// Package identity resolves the token and the hub of a command, and where
// each of the two came from; it keeps the login file.
//
// It asks nothing and prints nothing.
package identity

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"example.com/projecthub/cmd/internal/cmdline"
	"example.com/projecthub/cmd/tool/internal/failure"
	"example.com/projecthub/hubclient"
	"example.com/projecthub/hubclient/pat"
	"example.com/projecthub/hubclient/wire"
)

// Environment variables of an identity.
const (
	TokenVariable  = "TOOL_HUB_TOKEN"
	OriginVariable = "TOOL_API_ORIGIN"
)

// DefaultOrigin is the hub's address when none is given. It can be set at build time.
var DefaultOrigin = "http://127.0.0.1:4680"

// Source says where a value came from.
type Source string

// The sources of a token or an address.
const (
	FromFlag        Source = "flag"
	FromEnvironment Source = "environment"      // a variable
	FromEnvFile     Source = "environment-file" // the file of the environment that --env names
	FromLogin       Source = "login"
	FromWorkspace   Source = "workspace" // an address for which no token is stored
	FromDefault     Source = "default"
)

// Phrase names the source to people, to whom an environment is what --env names.
func (s Source) Phrase() string {
	switch s {
	case FromEnvironment:
		return "variable"
	case FromEnvFile:
		return "environment"
	}
	return string(s)
}

// Options are what an identity is made of.
type Options struct {
	Token     *string // of --token; nil: not given
	Origin    *string // of --origin
	EnvFile   string  // origin of the environment that --env names; "": it names none
	Workspace string  // origin of the workspace's hub; "": not known
	LookupEnv func(string) (string, bool)
	Logins    *Logins // the login file
}

// TokenGiven reports whether a flag or a variable gives the token, and the login file is not used.
func (o Options) TokenGiven() bool {
	token, _ := o.LookupEnv(TokenVariable)
	return o.Token != nil || CleanToken(token) != ""
}

// Identity is the token that the client sends, and the hub that it calls.
type Identity struct {
	Token        string // "": not logged in
	TokenSource  Source // "": not logged in
	User         string // of a stored token; "": not known
	Origin       string // of the hub
	OriginSource Source
	Workspace    string // origin of the workspace's hub; "": not known

	emptyVariable bool // TOOL_HUB_TOKEN is set, but empty
}

// UsesOtherHub reports whether a flag or a variable selects another hub than the workspace's.
func (id *Identity) UsesOtherHub() bool {
	return id.Workspace != "" && id.Origin != id.Workspace && id.OriginSource != FromEnvFile
}

// Resolve returns the identity. The first of these that is given is used:
//   - the token of the flag, the variable, or the login file;
//   - the origin of the flag, the environment's file, the variable, the login file, or the default.
//
// Without an origin, the entry of the login file is that of the workspace's hub, or else that
// of the current hub. A stored token is sent only to the origin that it was stored for. A
// given token is not sent to an origin that only a file of the workspace names, nor to the
// default where the workspace has another hub. The failure is token_malformed, not_a_hub for
// a malformed origin, or no_token.
func Resolve(o Options) (*Identity, error) {
	id := &Identity{Workspace: o.Workspace}
	if err := id.findToken(o); err != nil {
		return nil, err
	}
	if err := id.findOrigin(o); err != nil {
		return nil, err
	}
	if id.Token == "" {
		id.useLogin(o)
	}
	return id, nil
}

// findToken sets the token that a flag or the variable gives.
func (id *Identity) findToken(o Options) error {
	token, set := o.LookupEnv(TokenVariable)
	id.Token, id.TokenSource = CleanToken(token), FromEnvironment
	id.emptyVariable = set && id.Token == ""
	if o.Token != nil {
		id.Token, id.TokenSource = CleanToken(*o.Token), FromFlag
		if id.Token == "" {
			return id.malformed("is empty")
		}
	}
	if id.Token != "" && !pat.Valid(id.Token) {
		return id.malformed("is mistyped or incomplete")
	}
	return nil
}

// CleanToken drops what copying and files put around a token.
func CleanToken(s string) string { return strings.Trim(s, " \t\r\n\ufeff") }

func (id *Identity) malformed(why string) error {
	return failure.New(hubclient.CodeTokenMalformed, "the token of %s %s", id.TokenPlace(), why).
		WithHint("a token starts with hubpat_ and has %d characters", pat.Length)
}

// TokenPlace names where the token came from, for messages.
func (id *Identity) TokenPlace() string {
	switch id.TokenSource {
	case FromFlag:
		return "--token"
	case FromEnvironment:
		return TokenVariable
	}
	return "the login file"
}

// findOrigin sets the origin that a flag, a file or the variable gives, or the default. Each
// replaces the ones above it.
func (id *Identity) findOrigin(o Options) error {
	given, source, place := DefaultOrigin, FromDefault, "the default origin"
	variable, _ := o.LookupEnv(OriginVariable)
	variable = strings.TrimSpace(variable)
	if variable != "" {
		given, source, place = variable, FromEnvironment, OriginVariable
	}
	if id.Token != "" && o.Origin == nil {
		trusted, err := hubclient.ParseOrigin(given)
		isOther := func(hub string) bool { return hub != "" && (err != nil || trusted != hub) }
		switch {
		case isOther(o.EnvFile): // anyone who can write to a repository would get the tokens of its pipelines
			return id.notSent(o.EnvFile + ", which only the environment's file names")
		case o.EnvFile == "" && source == FromDefault && isOther(o.Workspace):
			return id.notSent(given + ", the default: the hub of this workspace is " + o.Workspace)
		}
	}
	if o.EnvFile != "" {
		given, source, place = o.EnvFile, FromEnvFile, "the environment's origin"
	}
	if o.Origin != nil {
		given, source, place = *o.Origin, FromFlag, "--origin"
	}
	origin, err := hubclient.ParseOrigin(given)
	if err != nil {
		return failure.New(hubclient.CodeNotAHub, "%s is %w", place, err)
	}
	id.Origin, id.OriginSource = origin, source
	return nil
}

func (id *Identity) notSent(hub string) error {
	return failure.New(failure.CodeNoToken, "the token of %s is not sent to %s", id.TokenPlace(), hub).
		WithHint("name the hub that the token is for with --origin or %s", OriginVariable)
}

// useLogin takes the token from the login file: that of the origin that was given, or else that
// of the workspace's hub or of the current hub, whose origin it takes, too. Without an entry for
// the workspace's hub no other hub is called.
func (id *Identity) useLogin(o Options) {
	origin := id.Origin
	if id.OriginSource == FromDefault {
		origin = cmp.Or(o.Workspace, o.Logins.Current, origin)
	}
	login, ok := o.Logins.Find(origin)
	if !ok || login.Token == "" {
		id.TokenSource = ""
		if id.OriginSource == FromDefault && o.Workspace != "" {
			id.Origin, id.OriginSource = o.Workspace, FromWorkspace
		}
		return
	}
	id.Token, id.TokenSource, id.User = login.Token, FromLogin, login.User
	if id.OriginSource == FromDefault {
		id.Origin, id.OriginSource = origin, FromLogin
	}
}

func (id *Identity) loginLine() cmdline.Line {
	return cmdline.Tool("login").Flag("--origin", id.Origin)
}

// NeedToken returns a no_token failure when there is no token.
func (id *Identity) NeedToken() error {
	if id.Token != "" {
		return nil
	}
	f := failure.New(failure.CodeNoToken, "there is no token for %s", id.Origin).Try(id.loginLine())
	owner := map[Source]string{FromWorkspace: "workspace", FromEnvFile: "environment"}[id.OriginSource]
	if owner != "" {
		return f.WithCode(failure.CodeNotLoggedIn).WithReason("not logged in to %s, the hub of this %s", id.Origin, owner).
			WithHint("log in, or give the token and the hub's address with --token and --origin")
	}
	if id.emptyVariable {
		return f.WithHint("%s is set, but empty", TokenVariable)
	}
	return f.WithHint("give one with --token or %s, or log in", TokenVariable)
}

// Hub is a client with the identity that it was made of, which explains its failures.
type Hub struct {
	*hubclient.Client
	Identity *Identity
}

// Connect returns a client for the identity's hub. opts' Origin and Token are
// filled in. Nothing is sent yet.
func (id *Identity) Connect(opts hubclient.Options) (*Hub, error) {
	if id.Token != "" && !pat.Valid(id.Token) {
		return nil, id.malformed("is damaged") // a stored one: Resolve checks the others
	}
	opts.Origin, opts.Token = id.Origin, id.Token
	client, err := hubclient.New(opts)
	if err != nil {
		return nil, id.explain(err)
	}
	return &Hub{Client: client, Identity: id}, nil
}

// Fault turns the error of a call into a failure that says what to do.
func (h *Hub) Fault(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return h.Identity.explain(err)
}

// explain adds to a failure what the identity knows of its cause. Explaining one twice
// changes nothing.
func (id *Identity) explain(err error) failure.Failure {
	f := failure.Of(err)
	if f.Token != "" { // set by explainRefusal
		return f
	}
	unauthorized := f.Status == http.StatusUnauthorized
	if unauthorized && id.Token == "" {
		return failure.Of(id.NeedToken()).At(f.Stage)
	}
	if id.Token != "" && (unauthorized || f.Status == http.StatusForbidden) {
		return id.explainRefusal(f)
	}
	if f.Hint != "" {
		return f
	}
	switch f.Code {
	case hubclient.CodeUnreachable:
		f.Hint = id.checkOrigin()
	case hubclient.CodeTimeout:
		f.Hint = "try again, or wait longer with --timeout"
	}
	return f
}

// explainRefusal adds which token the hub refused, and after a 401 where to get another one. After a
// 403 another token of the same user would be refused, too. If the user's role is too low, it adds
// nothing, because no token changes that.
func (id *Identity) explainRefusal(f failure.Failure) failure.Failure {
	f.Token = id.TokenPlace()
	if f.Code == wire.CodeNotPermitted {
		return f
	}
	f = f.WithReason("%w (the token %s… of %s)", f.Reason, pat.Shown(id.Token), f.Token)
	if f.Status == http.StatusForbidden {
		return f
	}
	if id.TokenSource == FromLogin { // a token that is given would be used before a new login
		f.Recipe = []cmdline.Line{id.loginLine()}
	} else if f.Hint == "" {
		f.Hint = "create another on the hub's page /tokens, or remove it and run tool login"
	}
	return f
}

// checkOrigin says where the address of a hub that cannot be reached is written.
func (id *Identity) checkOrigin() string {
	switch id.OriginSource {
	case FromDefault:
		return "no hub's address was given: name it with --origin or " + OriginVariable
	case FromEnvFile:
		return "check that the hub is running, and the origin in the environment's file (client.ENV.json)"
	}
	given := id.OriginSource == FromFlag || id.OriginSource == FromEnvironment
	if id.Origin == id.Workspace && !given {
		return "check that the hub is running, and the origin in .tool/hub.json"
	}
	return "check that the hub is running, and the address given by --origin, " + OriginVariable + " or the login"
}
